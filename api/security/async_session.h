// SPDX-License-Identifier: Apache-2.0
// Owns: the session of a caller for who must not wait: what reads the store goes on where that may wait.
// Must never: judge anything; Session does.
#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include "../async.h"
#include "session.h"

namespace varve::security {

/// As Session, with the verbs that a server asks for each request as tasks. Where nothing has to be read, which is what
/// signatures without a policy and tables in use come to, a task has nothing to wait for, and ends on the thread that
/// begins it; else on the store's asynchronous thread (async.h).
///
/// Errors   those of the verb, and those of AsyncStore::run().
class AsyncSession {
 public:
  explicit AsyncSession(Session session) noexcept : session_(std::move(session)) {}

  /// As Session::open().
  static Task<Result<Session>> open(Store& store, const AccountCredentials& account, const Request& request,
                                    const Arrival& arrival, Clock clock, std::stop_token stop = {});
  static Task<Result<Session>> open(Store& store, const VerifiedSignature& signature, const Arrival& arrival,
                                    Clock clock, std::stop_token stop = {});

  Task<Status> check(AccountOperation operation, std::stop_token stop = {}) const;
  Task<Result<Table>> table(std::string table, std::stop_token stop = {}) const;

 private:
  struct Verbs;
  Session session_;
};

}  // namespace varve::security
