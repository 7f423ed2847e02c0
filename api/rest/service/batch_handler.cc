// Owns: the route of batches: one change set as a transaction, or one read.
// Must never: run an operation whose table the session did not open, or apply only a part of a change set.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/batch_reader.h"
#include "api/rest/protocol/batch_writer.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/service/entity_operation.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/routes.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// A part as a request of its own. `body` views the body of the batch.
struct InnerRequest {
  HttpRequest request;
  std::string_view body;
  Address address;
  Target target;
  std::string verb;
  std::string version;
  Routed routed{};
};

/// Returns the protocol version of a part. A version in the part's URL counts. A version in its headers does not
/// (H-51).
Result<std::string> version_of_part(const Call& call, const security::Request& head) {
  const Result<std::optional<std::string>> version = query_value(head.query, "api-version");
  if (!version.ok()) return version.status();
  return *version ? protocol_version(head) : std::string(call.version);
}

/// Parses the part's URL, which must name the authenticated account. Source: H-51, X-17.
Status read_address(const Call& call, std::string_view url, InnerRequest& inner) {
  if (!set_target(inner.request, url))
    return service_error::invalid_input("the URL of a part must be absolute or a path");
  Result<std::string> version = version_of_part(call, inner.request.head);
  if (!version.ok()) return version.status();
  inner.version = *std::move(version);
  Result<Address> address =
      parse_part_address(inner.request.head.path, inner.request.absolute_host.value_or(std::string()), call.address,
                         host_of(call.request));
  if (!address.ok()) return address.status();
  inner.address = *std::move(address);
  Result<Target> target = parse_resource(inner.address.resource);
  if (!target.ok()) return target.status();
  inner.target = *std::move(target);
  return Status();
}

/// Returns the verb of a part. Headers for whole requests do not count in a part, including X-HTTP-Method. The
/// exception is a POST to an entity: it has no meaning of its own, so the header may name the verb.
std::string verb_of_part(const security::Request& head, Resource resource) {
  if (head.verb != "POST" || resource != Resource::kEntity) return head.verb;
  const Result<std::string> tunnelled = effective_verb(head.verb, head.headers);
  return tunnelled.ok() ? *tunnelled : head.verb;
}

/// Parses a part. The caller routes it later, after the parts were checked together.
Result<InnerRequest> read_inner(const Call& call, BatchPart part) {
  InnerRequest inner;
  inner.request.head.verb = std::move(part.verb);
  inner.request.head.headers = std::move(part.headers);
  inner.body = part.body;
  if (Status read = read_address(call, part.url, inner); !read.ok()) return read;
  inner.verb = verb_of_part(inner.request.head, inner.target.resource);
  return inner;
}

/// Routes a part with the function for whole requests, so that a query has the same meaning in both.
Status route_inner(InnerRequest& inner) {
  const Result<Routed> routed = route_request(inner.request, inner.target.resource, inner.verb, inner.version);
  if (!routed.ok()) return routed.status();
  inner.routed = *routed;
  return Status();
}

/// Checks rules across the requests of a change set, independent of their content. Source: T-02, T-10, X-05.
Status check_together(const std::vector<InnerRequest>& requests) {
  const std::string table = requests.empty() ? std::string() : lower_case(requests.front().target.table);
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    const bool names_table =
        requests[i].target.resource == Resource::kEntities || requests[i].target.resource == Resource::kEntity;
    if (requests[i].verb == "GET") {
      return service_error::invalid_input("a batch must not mix reads and writes").at_operation(i);
    }
    if (requests[i].address.is_secondary) return secondary_is_for_reading().at_operation(i);
    if (!names_table) return service_error::invalid_input("this operation must write an entity").at_operation(i);
    if (lower_case(requests[i].target.table) != table) {
      return service_error::invalid_input("all operations of a batch must be on one table").at_operation(i);
    }
  }
  return Status();
}

/// A change set while it is carried out.
struct ChangeSet {
  std::vector<InnerRequest> requests{};
  std::vector<std::string> content_ids{};
  EntityGroupTransaction transaction{};
  /// The operations as the answers show them.
  std::vector<WriteOperation> shown{};
};

Status check_count(const Call& call, std::size_t parts) {
  const std::uint32_t count_max = call.limits.transaction_operations_max;
  if (parts <= count_max) return Status();
  return service_error::invalid_input("the batch has more than " + std::to_string(count_max) +
                                      " operations, the most that are allowed")
      .at_operation(count_max - 1);  // T-08
}

Status read_requests(const Call& call, Batch batch, ChangeSet& change_set) {
  if (Status counted = check_count(call, batch.parts.size()); !counted.ok()) return counted;
  change_set.requests.reserve(batch.parts.size());
  for (std::uint32_t i = 0; i < batch.parts.size(); ++i) {
    change_set.content_ids.push_back(batch.parts[i].content_id);
    Result<InnerRequest> inner = read_inner(call, std::move(batch.parts[i]));
    if (!inner.ok()) return inner.status().at_operation(i);
    change_set.requests.push_back(*std::move(inner));
  }
  return check_together(change_set.requests);
}

/// Returns the operation for the answer. It keeps the whole entity only if the answer contains the entity.
WriteOperation shown_of(const WriteOperation& operation, Preference preference) {
  const bool is_whole = operation.kind == WriteOperation::Kind::kInsert && preference != Preference::kNoContent;
  if (is_whole) return operation;
  return {operation.kind, Entity(operation.entity.partition_key(), operation.entity.row_key()), operation.if_match};
}

Status read_operations(const Call& call, ChangeSet& change_set) {
  change_set.shown.reserve(change_set.requests.size());
  for (std::uint32_t i = 0; i < change_set.requests.size(); ++i) {
    InnerRequest& inner = change_set.requests[i];
    if (Status routed = route_inner(inner); !routed.ok()) return routed.at_operation(i);
    if (inner.routed.route->part != Part::kContent) {
      return service_error::invalid_input("a part of a change set must write an entity").at_operation(i);
    }
    Result<WriteOperation> operation = read_operation({inner.verb, inner.target, inner.request.head.headers, inner.body,
                                                       inner.version, call.limits.custom_properties_max});
    if (!operation.ok()) return operation.status().at_operation(i);
    change_set.shown.push_back(shown_of(*operation, inner.routed.preference));
    change_set.transaction.add(*std::move(operation));
  }
  return Status();
}

/// Returns the ETags of the operations, or an error with the index of the failed operation.
Task<Result<std::vector<ETag>>> carry_out(const Call& call, const security::AsyncSession& session,
                                          ChangeSet& change_set, Batch batch) {
  if (batch.parts.empty()) co_return std::vector<ETag>();  // T-12: an empty change set has an empty answer
  if (Status read = read_requests(call, std::move(batch), change_set); !read.ok()) co_return read;
  if (Status read = read_operations(call, change_set); !read.ok()) co_return read;
  Task<Result<Table>> opening = session.table(change_set.requests.front().target.table, call.stop);
  Result<Table> table = co_await at_home(call.home, std::move(opening));
  if (!table.ok()) co_return table.status().at_operation(0);  // T-10: the error names the first operation
  Task<Result<std::vector<ETag>>> executing =
      AsyncTable(*std::move(table), call.home)
          .execute(std::move(change_set.transaction), call.write_options(), call.stop);
  Result<std::vector<ETag>> etags = co_await executing;
  co_return etags;
}

/// Returns the single answer of a failed change set, in the format of the operation that failed. Source: H-53, T-11.
BatchAnswer failed_answer(const Call& call, const ChangeSet& change_set, const Status& status) {
  const std::size_t index = status.operation_index().value_or(0);
  const bool is_read = index < change_set.requests.size();
  const PayloadLevel level = is_read ? change_set.requests[index].routed.level : PayloadLevel::kMinimal;
  BatchAnswer answer{error_response(status, level, call.trailer)};
  if (is_read) add_preference(answer.response, change_set.requests[index].routed.preference);
  if (index < change_set.content_ids.size()) answer.content_id = change_set.content_ids[index];
  return answer;
}

std::vector<BatchAnswer> written_answers(const Call& call, ChangeSet& change_set, const std::vector<ETag>& etags) {
  std::vector<BatchAnswer> answers;
  answers.reserve(etags.size());
  for (std::size_t i = 0; i < etags.size(); ++i) {
    const InnerRequest& inner = change_set.requests[i];
    const WriteAnswer form{{inner.routed.level, call.address.root, call.address.account, inner.target.table},
                           inner.routed.preference};
    answers.push_back({written_response(form, change_set.shown[i], etags[i]), change_set.content_ids[i]});
  }
  return answers;
}

Answer run_change_set(const Call& call, const security::AsyncSession& session, Batch batch) {
  ChangeSet change_set;
  Task<Result<std::vector<ETag>>> carrying = carry_out(call, session, change_set, std::move(batch));
  const Result<std::vector<ETag>> etags = co_await carrying;
  if (etags.ok()) {
    co_return carried_out_answer(
        [&] { return write_batch(written_answers(call, change_set, *etags), true, call.trailer.request_id); });
  }
  std::vector<BatchAnswer> answers;
  answers.push_back(failed_answer(call, change_set, etags.status()));
  co_return write_batch(answers, true, call.trailer.request_id);
}

/// Returns whether the request is one of the reads that a batch may contain.
bool is_read_of_entities(const InnerRequest& inner) {
  const Resource resource = inner.target.resource;
  return inner.verb == "GET" && inner.routed.route->part == Part::kContent &&
         (resource == Resource::kEntities || resource == Resource::kPartition || resource == Resource::kEntity);
}

Answer read_one(const Call& call, const Route& route, const security::AsyncSession& session) {
  Task<Result<Table>> opening = session.table(call.target.table, call.stop);
  Result<Table> table = co_await at_home(call.home, std::move(opening));
  if (table.code() == Code::kForbidden) co_return table.status();
  Result<AsyncTable> fenced =
      table.ok() ? Result<AsyncTable>(AsyncTable(*std::move(table), call.home)) : table.status();
  Answer answer = std::get<EntityRoute>(route.door).handler(call, std::move(fenced));
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

/// Returns the answer of the part, or its error. Source: X-22.
Answer answer_read(const Call& call, const security::AsyncSession& session, BatchPart part, PayloadLevel& level) {
  Result<InnerRequest> inner = read_inner(call, std::move(part));
  if (!inner.ok()) co_return inner.status();
  inner->request.room = call.request.room;
  if (Status routed = route_inner(*inner); !routed.ok()) co_return routed;
  if (!is_read_of_entities(*inner)) {
    co_return service_error::invalid_input("a batch without a change set must have exactly one read of entities");
  }
  level = inner->routed.level;
  const Call inner_call{inner->request,    inner->address,
                        inner->target,     inner->verb,
                        inner->version,    level,
                        Preference::kNone, std::min(call.time_max, inner->routed.time_max),
                        call.trailer,      call.home,
                        call.stop,         call.limits,
                        call.blob_port,    call.has_extensions};
  Answer answer = read_one(inner_call, *inner->routed.route, session);
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

Answer run_read(const Call& call, const security::AsyncSession& session, BatchPart part) {
  std::string content_id = part.content_id;
  PayloadLevel level = PayloadLevel::kMinimal;
  Answer answer = answer_read(call, session, std::move(part), level);
  Result<HttpResponse> response = co_await answer;
  BatchAnswer written{response.ok() ? *std::move(response) : error_response(response.status(), level, call.trailer),
                      std::move(content_id)};
  std::vector<BatchAnswer> answers;
  answers.push_back(std::move(written));
  co_return write_batch(answers, false, call.trailer.request_id);
}

}  // namespace

Answer run_batch(const Call& call, const security::AsyncSession& session) {
  const std::string* const type = find_header(call.request.head.headers, "content-type");
  Result<Batch> batch = read_batch(type == nullptr ? std::string_view() : std::string_view(*type), call.request.body,
                                   call.limits.transaction_operations_max);
  if (!batch.ok()) co_return batch.status();
  const bool is_change_set = batch->is_change_set;
  if (is_change_set && call.address.is_secondary) co_return secondary_is_for_reading();
  Answer answer = is_change_set ? run_change_set(call, session, *std::move(batch))
                                : run_read(call, session, std::move(batch->parts.front()));
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

}  // namespace varve::serve
