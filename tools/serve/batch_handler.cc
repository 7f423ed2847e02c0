// Owns: the route of batches: one change set as a transaction, or one read.
// Must never: let an operation by that the session does not open its table for, or apply a part of a change set.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "api/limits.h"
#include "api/names.h"
#include "api/service_error.h"
#include "tools/serve/batch_reader.h"
#include "tools/serve/batch_writer.h"
#include "tools/serve/entity_operation.h"
#include "tools/serve/handlers.h"
#include "tools/serve/query_value.h"
#include "tools/serve/request_rules.h"
#include "tools/serve/version_rules.h"

namespace varve::serve {
namespace {

/// A part as a request of its own. Its body is where the batch's is.
struct InnerRequest {
  HttpRequest request;
  std::string_view body;
  Address address;
  Target target;
  std::string verb;
  PayloadLevel level = PayloadLevel::kMinimal;
  Preference preference = Preference::kNone;
};

/// What a part's URL names, which must be of the account that was authenticated. Source: H-51.
Status read_address(const Call& call, std::string_view url, InnerRequest& inner) {
  if (!set_target(inner.request, url))
    return service_error::invalid_input("a part's URL is neither absolute nor a path");
  const std::string host = inner.request.absolute_host.value_or(host_of(call.request));
  Result<Address> address = parse_address(inner.request.head.path, host, "http",
                                          [&](std::string_view name) { return name == call.address.account; });
  if (!address.ok()) return address.status();
  if (address->account != call.address.account) {
    return service_error::invalid_input("a part is for another account than the batch");
  }
  inner.address = *std::move(address);
  inner.address.root = call.address.root;
  Result<Target> target = parse_resource(inner.address.resource);
  if (!target.ok()) return target.status();
  inner.target = *std::move(target);
  return Status();
}

Result<InnerRequest> read_inner(const Call& call, BatchPart part) {
  InnerRequest inner;
  inner.request.head.verb = std::move(part.verb);
  inner.request.head.headers = std::move(part.headers);
  inner.body = part.body;
  if (Status read = read_address(call, part.url, inner); !read.ok()) return read;
  Result<std::string> verb = effective_verb(inner.request.head.verb, inner.request.head.headers);
  if (!verb.ok()) return verb.status();
  if (Status known = check_content_is_known(inner.request.head, call.version); !known.ok()) return known;
  const Result<PayloadLevel> level = requested_level(inner.request);
  if (!level.ok()) return level.status();
  inner.verb = *std::move(verb);
  inner.level = *level;
  if (inner.verb == "POST") inner.preference = preference_of(inner.request.head.headers, call.version);
  return inner;
}

/// What is wrong with the requests together, whatever each of them holds. Source: T-02, T-10, X-05.
Status check_together(const std::vector<InnerRequest>& requests) {
  const std::string table = requests.empty() ? std::string() : lower_case(requests.front().target.table);
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    const bool names_table =
        requests[i].target.resource == Resource::kEntities || requests[i].target.resource == Resource::kEntity;
    if (requests[i].verb == "GET") {
      return service_error::invalid_input("reads and writes are not mixed in a batch").at_operation(i);
    }
    if (!names_table) return service_error::invalid_input("this is no write of an entity").at_operation(i);
    if (lower_case(requests[i].target.table) != table) {
      return service_error::invalid_input("all operations of a batch are on one table").at_operation(i);
    }
  }
  return Status();
}

/// A change set while it is carried out.
struct ChangeSet {
  std::vector<InnerRequest> requests{};
  std::vector<std::string> content_ids{};
  EntityGroupTransaction transaction{};
  /// What the answers show of the operations.
  std::vector<TransactionOperation> shown{};
};

Status read_requests(const Call& call, Batch batch, ChangeSet& change_set) {
  change_set.requests.reserve(std::min(batch.parts.size(), limits::kTransactionOperationsMax));
  for (std::uint32_t i = 0; i < batch.parts.size(); ++i) {
    change_set.content_ids.push_back(batch.parts[i].content_id);
    Result<InnerRequest> inner = read_inner(call, std::move(batch.parts[i]));
    if (!inner.ok()) return inner.status().at_operation(i);
    change_set.requests.push_back(*std::move(inner));
  }
  return check_together(change_set.requests);
}

/// The whole entity only where the answer has it as its body.
TransactionOperation shown_of(const TransactionOperation& operation, Preference preference) {
  const bool is_whole = operation.kind == TransactionOperation::Kind::kInsert && preference != Preference::kNoContent;
  if (is_whole) return operation;
  return {operation.kind, Entity(operation.entity.partition_key(), operation.entity.row_key()), operation.if_match};
}

Status read_operations(const Call& call, ChangeSet& change_set) {
  change_set.shown.reserve(std::min(change_set.requests.size(), limits::kTransactionOperationsMax));
  for (std::uint32_t i = 0; i < change_set.requests.size(); ++i) {
    const InnerRequest& inner = change_set.requests[i];
    Result<TransactionOperation> operation =
        read_operation({inner.verb, inner.target, inner.request.head.headers, inner.body, call.version});
    if (!operation.ok()) return operation.status().at_operation(i);
    change_set.shown.push_back(shown_of(*operation, inner.preference));
    change_set.transaction.add(*std::move(operation));
  }
  return Status();
}

/// The ETags of the operations, or which of them is to blame.
Task<Result<std::vector<ETag>>> carry_out(const Call& call, const security::AsyncSession& session,
                                          ChangeSet& change_set, Batch batch) {
  if (batch.parts.empty()) co_return service_error::invalid_input("the change set is empty");
  if (Status read = read_requests(call, std::move(batch), change_set); !read.ok()) co_return read;
  if (Status read = read_operations(call, change_set); !read.ok()) co_return read;
  Task<Result<Table>> opening = session.table(change_set.requests.front().target.table, call.stop);
  Result<Table> table = co_await at_home(call.home, std::move(opening));
  if (!table.ok()) co_return table.status().at_operation(0);  // T-10: the first one is blamed
  Task<Result<std::vector<ETag>>> executing =
      AsyncTable(*std::move(table), call.home)
          .execute(std::move(change_set.transaction), call.write_options(), call.stop);
  Result<std::vector<ETag>> etags = co_await executing;
  co_return etags;
}

/// The one answer of a change set that failed, in the manner of the operation to blame. Source: H-53, T-11.
BatchAnswer failed_answer(const Call& call, const ChangeSet& change_set, const Status& status) {
  const std::size_t index = status.operation_index().value_or(0);
  const bool is_read = index < change_set.requests.size();
  const PayloadLevel level = is_read ? change_set.requests[index].level : PayloadLevel::kMinimal;
  BatchAnswer answer{error_response(status, level, call.trailer)};
  if (is_read) add_preference(answer.response, change_set.requests[index].preference);
  if (index < change_set.content_ids.size()) answer.content_id = change_set.content_ids[index];
  return answer;
}

std::vector<BatchAnswer> written_answers(const Call& call, ChangeSet& change_set, const std::vector<ETag>& etags) {
  std::vector<BatchAnswer> answers;
  answers.reserve(etags.size());
  for (std::size_t i = 0; i < etags.size(); ++i) {
    const InnerRequest& inner = change_set.requests[i];
    const WriteAnswer form{{inner.level, call.address.root, call.address.account, inner.target.table},
                           inner.preference};
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

Answer read_one(const Call& call, const security::AsyncSession& session) {
  const bool is_query = call.target.resource == Resource::kEntities || call.target.resource == Resource::kPartition;
  if (call.verb != "GET" || (!is_query && call.target.resource != Resource::kEntity)) {
    co_return service_error::invalid_input("outside of a change set a batch holds one read of entities");
  }
  Task<Result<Table>> opening = session.table(call.target.table, call.stop);
  Result<Table> table = co_await at_home(call.home, std::move(opening));
  if (table.code() == Code::kForbidden) co_return table.status();
  Result<AsyncTable> fenced =
      table.ok() ? Result<AsyncTable>(AsyncTable(*std::move(table), call.home)) : table.status();
  Answer answer = is_query ? query_entities(call, std::move(fenced)) : get_entity(call, std::move(fenced));
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

Answer run_read(const Call& call, const security::AsyncSession& session, BatchPart part) {
  std::string content_id = part.content_id;
  const Result<InnerRequest> inner = read_inner(call, std::move(part));
  if (!inner.ok()) co_return inner.status();
  const Call inner_call{inner->request,    inner->address, inner->target, inner->verb, call.version, inner->level,
                        Preference::kNone, call.time_max,  call.trailer,  call.home,   call.stop};
  Answer answer = read_one(inner_call, session);
  Result<HttpResponse> response = co_await answer;
  BatchAnswer written{
      response.ok() ? *std::move(response) : error_response(response.status(), inner->level, call.trailer),
      std::move(content_id)};
  std::vector<BatchAnswer> answers;
  answers.push_back(std::move(written));
  co_return write_batch(answers, false, call.trailer.request_id);
}

}  // namespace

Answer run_batch(const Call& call, const security::AsyncSession& session) {
  const std::string* const type = find_header(call.request.head.headers, "content-type");
  Result<Batch> batch = read_batch(type == nullptr ? std::string_view() : std::string_view(*type), call.request.body);
  if (!batch.ok()) co_return batch.status();
  const bool is_change_set = batch->is_change_set;
  Answer answer = is_change_set ? run_change_set(call, session, *std::move(batch))
                                : run_read(call, session, std::move(batch->parts.front()));
  Result<HttpResponse> response = co_await answer;
  co_return response;
}

}  // namespace varve::serve
