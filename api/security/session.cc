// Owns: sessions: from a signature to a restricted handle (session.h).
// Must never: cache an answer that time or a policy can change.
#include "varve/security/session.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/security/error.h"
#include "api/security/headers.h"
#include "api/security/query_fields.h"
#include "api/security/session_state.h"
#include "api/security/token_conditions.h"
#include "varve/names.h"
#include "varve/security/blob_sas.h"
#include "varve/security/queue_sas.h"
#include "varve/security/shared_key.h"
#include "varve/security/table_sas.h"

namespace varve::security {
namespace {

/// Returns the table's current policies, or none if the signature names no policy or the table does not exist.
Result<std::vector<AccessPolicy>> policies_now(const Store& store, std::string_view account,
                                               const TableSasTerms& terms) {
  if (terms.policy.empty()) return std::vector<AccessPolicy>();
  Result<std::vector<AccessPolicy>> policies = store.access_policies(account, terms.table);
  if (policies.code() == Code::kNotFound) return std::vector<AccessPolicy>();
  return policies;
}

/// Returns the queue's current policies, as the function above.
Result<std::vector<AccessPolicy>> policies_now(const Store& store, std::string_view account,
                                               const QueueSasTerms& terms) {
  if (terms.policy.empty()) return std::vector<AccessPolicy>();
  const Result<Queue> queue = store.open_queue(account, terms.queue);
  if (queue.code() == Code::kNotFound) return std::vector<AccessPolicy>();
  if (!queue.ok()) return queue.status();
  Result<std::vector<AccessPolicy>> policies = queue->access_policies();
  if (policies.code() == Code::kNotFound) return std::vector<AccessPolicy>();
  return policies;
}

/// Returns the container's current policies, as the functions above.
Result<std::vector<AccessPolicy>> policies_now(const Store& store, std::string_view account,
                                               const BlobSasTerms& terms) {
  if (terms.policy.empty()) return std::vector<AccessPolicy>();
  const Result<Container> container = store.open_container(account, terms.container);
  if (container.code() == Code::kNotFound) return std::vector<AccessPolicy>();
  if (!container.ok()) return container.status();
  Result<std::vector<AccessPolicy>> policies = container->access_policies();
  if (policies.code() == Code::kNotFound) return std::vector<AccessPolicy>();
  return policies;
}

template <typename Terms>
Result<Permissions> permitted_by(const Store& store, std::string_view account, const Terms& terms, DateTime now) {
  const Result<std::vector<AccessPolicy>> policies = policies_now(store, account, terms);
  if (!policies.ok()) return policies.status();
  return permitted_at(terms, *policies, now);
}

/// Returns the permission that a queue SAS must have, or nothing if no queue SAS permits the operation. Source: QS-12.
std::optional<Permission> permission_of(AccountOperation operation) noexcept {
  switch (operation) {
    case AccountOperation::kReadQueueMetadata:
    case AccountOperation::kPeekMessages: return Permission::kQuery;
    case AccountOperation::kPutMessage: return Permission::kAdd;
    case AccountOperation::kUpdateMessage: return Permission::kUpdate;
    case AccountOperation::kGetMessages:
    case AccountOperation::kRemoveMessage: return Permission::kProcess;
    default: return std::nullopt;
  }
}

Status check_queue_operation(const QueueSasTerms& terms, AccountOperation operation, std::string_view queue,
                             Permissions permitted) {
  const std::optional<Permission> needed = permission_of(operation);
  if (!needed) return service_error::authorization_failure("a queue SAS gives access to messages only");
  if (queue != terms.queue) return service_error::authorization_failure("the queue SAS is for another queue");
  if (permitted.contains({*needed})) return Status();
  return service_error::permission_mismatch("the permissions of the token (sp) do not include this operation");
}

/// Returns the permissions of which a blob SAS must have one, or none if no blob SAS permits the operation. Source: BS-12.
Permissions permissions_for_blobs(AccountOperation operation) noexcept {
  switch (operation) {
    case AccountOperation::kReadContainer:
    case AccountOperation::kReadBlob: return {Permission::kQuery};
    case AccountOperation::kListBlobs: return {Permission::kList};
    case AccountOperation::kCreateBlob:
    case AccountOperation::kPutBlock: return {Permission::kCreate, Permission::kWrite};
    case AccountOperation::kAppendBlock: return {Permission::kAdd, Permission::kWrite};
    case AccountOperation::kReplaceBlob:
    case AccountOperation::kChangeBlob: return {Permission::kWrite};
    case AccountOperation::kRemoveBlob: return {Permission::kRemove};
    case AccountOperation::kReadBlobTags:
    case AccountOperation::kWriteBlobTags: return {Permission::kTags};
    case AccountOperation::kReadAccountInformation:
    case AccountOperation::kSendBlobBatch: return Permissions::all_for_blobs();
    default: return {};
  }
}

/// Returns whether the signature is for the resource: its container, one of its blobs, or its blob.
bool is_for(const BlobSasTerms& terms, std::string_view resource) noexcept {
  const std::string_view container = resource.substr(0, resource.find('/'));
  if (container != terms.container) return false;
  if (terms.blob.empty()) return true;
  return resource.size() > container.size() && resource.substr(container.size() + 1) == terms.blob;
}

Status check_blob_operation(const BlobSasTerms& terms, AccountOperation operation, std::string_view resource,
                            Permissions permitted) {
  const Permissions needed = permissions_for_blobs(operation);
  if (needed.empty()) return service_error::authorization_failure("a blob SAS gives access to blobs only");
  if (!is_for(terms, resource)) return service_error::authorization_failure("the blob SAS is for another resource");
  if (!permitted.intersected(needed).empty()) return Status();
  return service_error::permission_mismatch("the permissions of the token (sp) do not include this operation");
}

/// Checks the terms again at each verb of a table. It has an unrestricted handle of its own.
class TableSasRule final : public AccessRule {
 public:
  TableSasRule(TableSasTerms terms, Table table, Clock clock)
      : terms_(std::move(terms)), table_(std::move(table)), clock_(std::move(clock)) {}

  Result<Permissions> permitted() const override {
    if (terms_.policy.empty()) return permitted_at(terms_, {}, clock_());
    const Result<std::vector<AccessPolicy>> policies = table_.access_policies();
    if (policies.ok()) return permitted_at(terms_, *policies, clock_());
    if (policies.code() != Code::kNotFound) return policies.status();
    return permitted_at(terms_, {}, clock_());
  }
  /// A policy must be read from the store; without one, the clock is enough.
  bool may_wait() const noexcept override { return !terms_.policy.empty(); }

 private:
  const TableSasTerms terms_;
  const Table table_;
  const Clock clock_;
};

class AccountSasRule final : public AccessRule {
 public:
  AccountSasRule(AccountSasTerms terms, Clock clock) : terms_(std::move(terms)), clock_(std::move(clock)) {}

  Result<Permissions> permitted() const override {
    if (Status within = check_window(terms_.start, terms_.expiry, clock_()); !within.ok()) return within;
    return entity_permissions(terms_);
  }
  bool may_wait() const noexcept override { return false; }

 private:
  const AccountSasTerms terms_;
  const Clock clock_;
};

}  // namespace

bool Session::State::names_policy() const noexcept {
  if (const auto* const terms = std::get_if<QueueSasTerms>(&shown)) return !terms->policy.empty();
  if (const auto* const terms = std::get_if<BlobSasTerms>(&shown)) return !terms->policy.empty();
  const auto* const terms = std::get_if<TableSasTerms>(&shown);
  return terms != nullptr && !terms->policy.empty();
}

Result<Permissions> Session::State::permitted_now() const {
  if (const auto* const terms = std::get_if<AccountSasTerms>(&shown)) {
    if (Status within = check_window(terms->start, terms->expiry, clock()); !within.ok()) return within;
  }
  if (const auto* const terms = std::get_if<TableSasTerms>(&shown)) {
    return permitted_by(*store, account, *terms, clock());
  }
  if (const auto* const terms = std::get_if<QueueSasTerms>(&shown)) {
    return permitted_by(*store, account, *terms, clock());
  }
  if (const auto* const terms = std::get_if<BlobSasTerms>(&shown)) {
    return permitted_by(*store, account, *terms, clock());
  }
  return Permissions();
}

Status Session::State::check_operation(AccountOperation operation, std::string_view resource,
                                       Permissions permitted) const {
  if (const auto* const terms = std::get_if<AccountSasTerms>(&shown)) {
    return security::check_operation(*terms, operation);
  }
  if (std::holds_alternative<TableSasTerms>(shown)) {
    return service_error::authorization_failure("a table SAS gives access to the entities of its table only");
  }
  if (const auto* const terms = std::get_if<QueueSasTerms>(&shown)) {
    return check_queue_operation(*terms, operation, resource, permitted);
  }
  if (const auto* const terms = std::get_if<BlobSasTerms>(&shown)) {
    return check_blob_operation(*terms, operation, resource, permitted);
  }
  return Status();
}

Status Session::State::check_table(std::string_view name) const {
  if (const auto* const terms = std::get_if<AccountSasTerms>(&shown)) return entity_permissions(*terms).status();
  if (std::holds_alternative<QueueSasTerms>(shown)) {
    return service_error::authorization_failure("a queue SAS gives access to messages only");
  }
  if (std::holds_alternative<BlobSasTerms>(shown)) {
    return service_error::authorization_failure("a blob SAS gives access to blobs only");
  }
  const auto* const terms = std::get_if<TableSasTerms>(&shown);
  if (terms == nullptr || lower_case(name) == lower_case(terms->table)) return Status();
  return service_error::authorization_failure("the table SAS is for another table (tn)");
}

Result<Table> Session::State::fenced(Table whole) const {
  if (const auto* const terms = std::get_if<AccountSasTerms>(&shown)) {
    const Result<Permissions> permitted = entity_permissions(*terms);
    if (!permitted.ok()) return permitted.status();
    return whole.restricted_to({*permitted, {}, std::make_shared<AccountSasRule>(*terms, clock)});
  }
  if (const auto* const terms = std::get_if<TableSasTerms>(&shown)) {
    // The rule decides the permissions, since the policy may set them.
    return whole.restricted_to(
        {Permissions::all(), terms->interval, std::make_shared<TableSasRule>(*terms, whole, clock)});
  }
  return whole;
}

Session::Session(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

namespace {

using Terms = std::variant<AccountSasTerms, TableSasTerms, QueueSasTerms, BlobSasTerms>;

Result<Terms> verified_terms(const AccountCredentials& account, std::string_view query, const SignedPlace& place) {
  const Result<QueryFields> kind = QueryFields::parse(query, {"sig", "ss", "srt", "tn"});
  if (!kind.ok()) return kind.status();
  if (!kind->has("sig"))
    return no_authentication_information(
        "the request has neither an Authorization header nor a signature (sig) in its query");

  if (kind->has("ss") && kind->has("srt")) {
    const Result<AccountSas> sas = parse_account_sas(query);
    if (!sas.ok()) return sas.status();
    Result<AccountSasTerms> terms = verify_account_sas(*sas, account, place.service);
    if (!terms.ok()) return terms.status();
    return Terms(*std::move(terms));
  }
  if (place.service == StorageService::kQueues) {
    const Result<QueueSas> sas = parse_queue_sas(query);
    if (!sas.ok()) return sas.status();
    Result<QueueSasTerms> terms = verify_queue_sas(*sas, account, place.queue);
    if (!terms.ok()) return terms.status();
    return Terms(*std::move(terms));
  }
  if (place.service == StorageService::kBlobs) {
    const Result<BlobSas> sas = parse_blob_sas(query);
    if (!sas.ok()) return sas.status();
    Result<BlobSasTerms> terms = verify_blob_sas(*sas, account, place.container, place.blob);
    if (!terms.ok()) return terms.status();
    return Terms(*std::move(terms));
  }
  const Result<TableSas> sas = parse_table_sas(query);
  if (!sas.ok()) return sas.status();
  Result<TableSasTerms> terms = verify_table_sas(*sas, account);
  if (!terms.ok()) return terms.status();
  return Terms(*std::move(terms));
}

}  // namespace

struct VerifiedSignature::Said {
  std::string account;
  Terms terms;
};

Result<VerifiedSignature> VerifiedSignature::verify(const AccountCredentials& account, std::string_view query,
                                                    const SignedPlace& place) {
  return guarded([&]() -> Result<VerifiedSignature> {
    Result<Terms> terms = verified_terms(account, query, place);
    if (!terms.ok()) return terms.status();
    return VerifiedSignature(std::make_shared<const Said>(Said{account.name, *std::move(terms)}));
  });
}

Result<Session> Session::shown(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock) {
  const VerifiedSignature::Said& said = *signature.said_;
  auto state = std::make_shared<State>();
  state->store = &store;
  state->account = said.account;
  state->clock = std::move(clock);
  std::visit(
      [&](const auto& terms) {
        state->arrived = check_arrival(terms.addresses, terms.https_only, arrival);
        state->shown = terms;
      },
      said.terms);
  return Session(std::move(state));
}

Result<Session> Session::shown(Store& store, const AccountCredentials& account, std::string_view query,
                               const Arrival& arrival, Clock clock, const SignedPlace& place) {
  const Result<VerifiedSignature> signature = VerifiedSignature::verify(account, query, place);
  if (!signature.ok()) return signature.status();
  return shown(store, *signature, arrival, std::move(clock));
}

Result<Session> Session::shown(Store& store, const AccountCredentials& account, const Request& request,
                               const Arrival& arrival, Clock clock, const SignedPlace& place) {
  if (count_headers(request, "authorization") == 0) {
    return shown(store, account, std::string_view(request.query), arrival, std::move(clock), place);
  }
  if (Status verified = verify_shared_key(request, account, clock(), place.service); !verified.ok()) return verified;
  return of_operator(store, account.name, std::move(clock));
}

Result<Session> Session::judged(Result<Session> shown) {
  if (!shown.ok()) return shown;
  if (const Status valid = shown->state_->permitted_now().status(); !valid.ok()) return valid;
  if (!shown->state_->arrived.ok()) return shown->state_->arrived;
  return shown;
}

Result<Session> Session::open(Store& store, const AccountCredentials& account, std::string_view query,
                              const Arrival& arrival, Clock clock, const SignedPlace& place) {
  return guarded(
      [&]() -> Result<Session> { return judged(shown(store, account, query, arrival, std::move(clock), place)); });
}

Result<Session> Session::open(Store& store, const AccountCredentials& account, const Request& request,
                              const Arrival& arrival, Clock clock, const SignedPlace& place) {
  return guarded(
      [&]() -> Result<Session> { return judged(shown(store, account, request, arrival, std::move(clock), place)); });
}

Result<Session> Session::of_operator(Store& store, std::string_view account, Clock clock) {
  return guarded([&]() -> Result<Session> {
    auto state = std::make_shared<State>();
    state->store = &store;
    state->account = account;
    state->clock = std::move(clock);
    return Session(std::move(state));
  });
}

Result<Session> Session::open(Store& store, const VerifiedSignature& signature, const Arrival& arrival, Clock clock) {
  return guarded([&]() -> Result<Session> { return judged(shown(store, signature, arrival, std::move(clock))); });
}

const BlobHeaderOverrides* Session::header_overrides() const noexcept {
  const auto* const terms = std::get_if<BlobSasTerms>(&state_->shown);
  return terms == nullptr ? nullptr : &terms->overrides;
}

Status Session::check(AccountOperation operation, std::string_view resource) const {
  return guarded([&]() -> Status {
    const Result<Permissions> permitted = state_->permitted_now();
    if (!permitted.ok()) return permitted.status();
    return state_->check_operation(operation, resource, *permitted);
  });
}

Result<Table> Session::table(std::string_view table) const {
  return guarded([&]() -> Result<Table> {
    if (const Status valid = state_->permitted_now().status(); !valid.ok()) return valid;
    if (Status may = state_->check_table(table); !may.ok()) return may;
    Result<Table> whole = state_->store->open_table(state_->account, table);
    if (!whole.ok()) return whole;
    return state_->fenced(*std::move(whole));
  });
}

Status Session::create_table(std::string_view table) const {
  if (Status checked = check(AccountOperation::kCreateTable); !checked.ok()) return checked;
  return state_->store->create_table(state_->account, table).status();
}

Status Session::drop_table(std::string_view table) const {
  if (Status checked = check(AccountOperation::kDropTable); !checked.ok()) return checked;
  return state_->store->drop_table(state_->account, table);
}

Result<TablePage> Session::list_tables(const ListOptions& options) const {
  if (Status checked = check(AccountOperation::kListTables); !checked.ok()) return checked;
  return state_->store->list_tables(state_->account, options);
}

Result<std::vector<AccessPolicy>> Session::access_policies(std::string_view table) const {
  if (Status checked = check(AccountOperation::kReadAccessPolicies); !checked.ok()) return checked;
  return state_->store->access_policies(state_->account, table);
}

Status Session::set_access_policies(std::string_view table, std::span<const AccessPolicy> policies) const {
  if (Status checked = check(AccountOperation::kWriteAccessPolicies); !checked.ok()) return checked;
  return state_->store->set_access_policies(state_->account, table, policies);
}

}  // namespace varve::security
