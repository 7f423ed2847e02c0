// SPDX-License-Identifier: Apache-2.0
// Owns: the session of a caller who showed a signature: what the caller may do in a store.
// Must never: return a handle that may do more than the signature permits, now or later.
//
//   Result<Session> session = Session::open(store, account, "sv=2020-12-06&tn=Orders&sp=r&...", arrival, now);
//   if (!session.ok()) return session.status();
//   Result<Table> orders = session->table("Orders");
//   Result<Page> page = orders->scan(Scan{});  // only entities inside the signature's interval
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../access_policy.h"
#include "../result.h"
#include "../service_properties.h"
#include "../status.h"
#include "../store.h"
#include "../table.h"
#include "../types.h"
#include "account_keys.h"
#include "account_sas.h"
#include "blob_sas.h"
#include "request.h"

namespace varve::security {

/// What a signature must be for. A queue SAS does not name its queue, nor a blob SAS its container and blob, so the
/// place does (QS-13, BS-10).
struct SignedPlace {
  StorageService service = StorageService::kTables;
  /// The queue that the request's path names. Empty: the path names none.
  std::string queue{};
  /// The container that the request's path names. Empty: the path names none.
  std::string container{};
  /// The blob that the request's path names, decoded. Empty: the path names none.
  std::string blob{};
  /// Compares all.
  bool operator==(const SignedPlace&) const = default;
};

/// Returns the present time. Called at each verb, on any thread; must not wait.
using Clock = std::function<DateTime()>;

/// The content of a signature in a query, after it was verified with the keys of an account. It does not depend on
/// time, address or policies. So a server may keep it for repeated queries as long as the account has these keys.
/// Copies are cheap.
class VerifiedSignature {
 public:
  /// Verifies the signature in the query for the place. Errors: those of Session::open() with a query, except those of time and
  /// arrival.
  static Result<VerifiedSignature> verify(const AccountCredentials& account, std::string_view query,
                                          const SignedPlace& place = {});

 private:
  friend class Session;
  struct Said;
  explicit VerifiedSignature(std::shared_ptr<const Said> said) noexcept : said_(std::move(said)) {}
  std::shared_ptr<const Said> said_;
};

/// The checks happen at two times:
/// - At open(): the signature against the given keys, the client's address, and the protocol.
/// - At open() and at each verb of the session and of its tables: the time, and the stored access policy that the
///   signature names.
///
/// So if a token expires, or its policy is changed or removed, the next verb fails. If a key is replaced, its tokens
/// fail at their next open(). A server that replaces keys must therefore close the open sessions.
///
/// Threads   Any. Copies are cheap.
/// Lifetime  The store must outlive the session. Tables from the session may outlive both; their verbs then return
///           kClosed.
///
/// A session by a key or an account SAS is for all resources of its service. A session by a queue SAS is for its queue,
/// one by a blob SAS for its container or blob.
///
/// Errors of each verb, besides those of the Store verb of the same name; nothing was read or changed:
///   kForbidden (AuthenticationFailed)                            the signature has expired, or its policy does not
///                                                                exist any more
///   kForbidden (AuthorizationFailure)                            a table, queue or blob SAS does not permit this (S-21,
///                                                                S-24, QS-12, BS-12); or an account SAS was used for access
///                                                                policies (S-32)
///   kForbidden (AuthorizationResourceTypeMismatch, AuthorizationPermissionMismatch)
///                                                                an account SAS lacks the resource type or permission
///                                                                (S-32); or a queue or blob SAS lacks the permission
///                                                                (QS-14, BS-13)
///
/// If the signature names a policy, open() and the verbs wait for a read of the store. On a thread that must not wait,
/// use AsyncSession (async_session.h).
class Session {
 public:
  /// Opens a session by the query parameters of an account SAS, or of a table, queue or blob SAS. Ignores other parameters
  /// (S-10, S-13, QS-10).
  /// Errors:
  ///   kForbidden (NoAuthenticationInformation)      the query has no `sig`
  ///   kForbidden (AuthenticationFailed)             the signature is wrong, malformed, expired or not valid yet
  ///   kForbidden (AuthorizationServiceMismatch)     the signature is not for the service
  ///   kForbidden (AuthorizationSourceIPMismatch, AuthorizationProtocolMismatch)
  static Result<Session> open(Store& store, const AccountCredentials& account, std::string_view query,
                              const Arrival& arrival, Clock clock, const SignedPlace& place = {});
  /// Opens a session by the Authorization header of a request. If the request has none, uses its query, as above. A
  /// session by an account key may do everything. Errors: as above, and those of verify_shared_key().
  static Result<Session> open(Store& store, const AccountCredentials& account, const Request& request,
                              const Arrival& arrival, Clock clock, const SignedPlace& place = {});

  /// Opens a session by a signature that was verified before. Errors: those of the first open() that depend on time,
  /// arrival or policies.
  static Result<Session> open(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock);

  /// Opens a session that may do everything, as by an account key. For a caller that the program has authenticated
  /// without a signature, such as the user who owns the store. Errors: kOutOfMemory.
  static Result<Session> of_operator(Store& store, std::string_view account, Clock clock);

  /// Checks that the session permits the operation. It is for operations without a verb below. `resource` names what the
  /// operation is on: a queue, for its messages too; a container, for example `photos`; or a blob with its container, for
  /// example `photos/eu/ann.jpg`.
  Status check(AccountOperation operation, std::string_view resource = {}) const;
  /// Returns the headers that the signature puts in place of those of blobs, or null if it is no blob SAS. Valid as long
  /// as a copy of this session exists. Source: BG-07.
  const BlobHeaderOverrides* header_overrides() const noexcept;

  /// Returns a table of the account, restricted to what the session may do (Table::restricted_to). A table SAS permits
  /// only its own table.
  Result<Table> table(std::string_view table) const;

  /// Creates a table of the account, as Store::create_table(), but returns no handle.
  Status create_table(std::string_view table) const;
  /// Deletes a table of the account, as Store::drop_table().
  Status drop_table(std::string_view table) const;
  /// Returns one page of the account's table names, as Store::list_tables().
  Result<TablePage> list_tables(const ListOptions& options = {}) const;
  /// Returns the access policies of a table, as Store::access_policies(). Only an account key permits it.
  Result<std::vector<AccessPolicy>> access_policies(std::string_view table) const;
  /// Replaces the access policies of a table, as Store::set_access_policies(). Only an account key permits it.
  Status set_access_policies(std::string_view table, std::span<const AccessPolicy> policies) const;

 private:
  friend class AsyncSession;
  struct State;
  /// These do open() without the checks that each verb repeats. They read nothing from the store.
  static Result<Session> shown(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock);
  static Result<Session> shown(Store& store, const AccountCredentials& account, std::string_view query,
                               const Arrival& arrival, Clock clock, const SignedPlace& place);
  static Result<Session> shown(Store& store, const AccountCredentials& account, const Request& request,
                               const Arrival& arrival, Clock clock, const SignedPlace& place);
  static Result<Session> judged(Result<Session> shown);
  explicit Session(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

}  // namespace varve::security
