// SPDX-License-Identifier: Apache-2.0
// Owns: the session of a caller on a thread that must not wait. Reads of the store run on a thread that may wait.
// Must never: decide anything. Session does.
#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include "../async.h"
#include "session.h"

namespace varve::security {

/// Session with the verbs that a server needs for each request, as tasks. If a verb reads nothing from the store, its
/// task ends on the thread that begins it. That is so for a signature without a policy and a table in use. Otherwise
/// the task ends on the store's asynchronous thread (async.h).
///
/// Errors   those of the verb, and those of AsyncStore::run()
class AsyncSession {
 public:
  /// Offers the verbs of `session`. The store of the session must outlive every task.
  explicit AsyncSession(Session session) noexcept : session_(std::move(session)) {}

  /// @{
  /// Opens a session, as Session::open().
  static Task<Result<Session>> open(Store& store, const AccountCredentials& account, const Request& request,
                                    const Arrival& arrival, Clock clock, std::stop_token stop = {},
                                    const SignedPlace& place = {});
  static Task<Result<Session>> open(Store& store, const VerifiedSignature& signature, const Arrival& arrival,
                                    Clock clock, std::stop_token stop = {});
  /// @}

  /// Checks that the session permits the operation, as Session::check().
  Task<Status> check(AccountOperation operation, std::stop_token stop = {}, std::string resource = {}) const;
  /// Returns the headers of Session::header_overrides().
  const BlobHeaderOverrides* header_overrides() const noexcept { return session_.header_overrides(); }
  /// Returns a table of the account, restricted as by Session::table().
  Task<Result<Table>> table(std::string table, std::stop_token stop = {}) const;

 private:
  struct Verbs;
  Session session_;
};

}  // namespace varve::security
