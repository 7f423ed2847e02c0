// SPDX-License-Identifier: Apache-2.0
// Owns: the session of a caller who has shown a signature: what the caller may do, bound to a store.
// Must never: hand out a handle that can do more than the signature says, now or later.
//
//   Result<Session> session = Session::open(store, account, "sv=2020-12-06&tn=Orders&sp=r&...", arrival, now);
//   if (!session.ok()) return session.status();
//   Result<Table> orders = session->table("Orders");
//   Result<Page> page = orders->scan(Scan{});  // what the signature's interval holds
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../access_policy.h"
#include "../result.h"
#include "../status.h"
#include "../store.h"
#include "../table.h"
#include "../types.h"
#include "account_keys.h"
#include "account_sas.h"
#include "request.h"

namespace varve::security {

/// The present time. Called on any thread, at each verb; must not wait.
using Clock = std::function<DateTime()>;

/// What a signature in a query says, after it was verified with the keys of an account. Nothing of it hangs on time,
/// place or policies: who is shown the same query again may keep this for as long as the account has those keys.
/// Copies are cheap.
class VerifiedSignature {
 public:
  /// Errors: those of Session::open() by a query, but for what it says of time and arrival.
  static Result<VerifiedSignature> verify(const AccountCredentials& account, std::string_view query);

 private:
  friend class Session;
  struct Said;
  explicit VerifiedSignature(std::shared_ptr<const Said> said) noexcept : said_(std::move(said)) {}
  std::shared_ptr<const Said> said_;
};

/// When what is judged: signature, address and protocol at open(), against the keys given there; time, and the stored
/// access policy that the signature names, at open() and again at each verb of the session and of its tables. So a
/// token that expires, and a policy that is changed or removed, end what they gave at once, with the next verb. A key
/// that is replaced ends tokens when they are shown the next time: whoever replaces keys drops the sessions.
///
/// Threads   any. Copies are cheap.
/// Lifetime  the store outlives the session; tables from it may outlive both, and answer kClosed then.
/// Errors    of its verbs, besides those of the same verbs of Store, nothing being read or changed then:
///             kForbidden (AuthenticationFailed)                      expired, or the policy is gone
///             kForbidden (AuthorizationFailure)                      a table SAS does not go there (S-21, S-24); an
///                                                                    account SAS at access policies (S-32)
///             kForbidden (AuthorizationResourceTypeMismatch,
///                         AuthorizationPermissionMismatch)           an account SAS without what it takes (S-32)
///
/// open() and the verbs read the store where the signature names a policy, and wait for that; AsyncSession
/// (async_session.h) is for who must not.
class Session {
 public:
  /// By the query parameters of a table SAS or an account SAS; others are passed over (S-10, S-13).
  /// Errors   kForbidden (NoAuthenticationInformation)           no `sig`
  ///          kForbidden (AuthenticationFailed)                  the signature is wrong, out of its time, or malformed
  ///          kForbidden (AuthorizationServiceMismatch)          it is not for tables
  ///          kForbidden (AuthorizationSourceIPMismatch, AuthorizationProtocolMismatch)
  static Result<Session> open(Store& store, const AccountCredentials& account, std::string_view query,
                              const Arrival& arrival, Clock clock);
  /// By a request: its Authorization header if it has one, else as above by its query. A session by an account key may
  /// do everything. Errors: those of verify_shared_key() too.
  static Result<Session> open(Store& store, const AccountCredentials& account, const Request& request,
                              const Arrival& arrival, Clock clock);

  /// By what was in a query. Errors: those of the first one that hang on time, arrival or policies.
  static Result<Session> open(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock);

  /// Whether the operation may be done: for what the session has no verb.
  Status check(AccountOperation operation) const;

  /// A table of the account, restricted to what the session may do with it (Table::restricted_to). For a table SAS, its
  /// own table only.
  Result<Table> table(std::string_view table) const;

  // As the verbs of Store.
  Status create_table(std::string_view table) const;
  Status drop_table(std::string_view table) const;
  Result<TablePage> list_tables(const ListOptions& options = {}) const;
  Result<std::vector<AccessPolicy>> access_policies(std::string_view table) const;
  Status set_access_policies(std::string_view table, std::span<const AccessPolicy> policies) const;

 private:
  friend class AsyncSession;
  struct State;
  /// As open(), but for what is judged again at each verb. Reads nothing of the store.
  static Result<Session> shown(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock);
  static Result<Session> shown(Store& store, const AccountCredentials& account, std::string_view query,
                               const Arrival& arrival, Clock clock);
  static Result<Session> shown(Store& store, const AccountCredentials& account, const Request& request,
                               const Arrival& arrival, Clock clock);
  static Result<Session> judged(Result<Session> shown);
  explicit Session(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

}  // namespace varve::security
