#include "tools/serve/local/table_door.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "tools/serve/local/door_query.h"
#include "tools/serve/local/table_fields.h"
#include "varve/limits.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

/// A request with its parameters and its body. The first parameter that is malformed is its failure.
class TableRequest : public DoorQuery {
 public:
  TableRequest(const HttpRequest& request, Fields body) : DoorQuery(request.head.query), body_(std::move(body)) {
    account_ = text("account");
    table_ = text("table");
  }

  const Fields& body() const noexcept { return body_; }
  const std::string& account() const noexcept { return account_; }
  const std::string& table() const noexcept { return table_; }

 private:
  const Fields body_;
  std::string account_;
  std::string table_;
};

/// Adds what a change returns. If memory ends, the outcome of the change is unknown to the client.
template <typename Value>
Status answer_change(const Result<Value>& changed, Fields& answer) {
  if (!changed.ok()) return changed.status();
  try {
    add_fields(answer, *changed);
    return Status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);  // The change is made.
  }
}

Status make_table(Store& store, TableRequest& request, Fields& /*answer*/) {
  const Result<TableOptions> options = table_options_of(request.body());
  if (!options.ok()) return options.status();
  return store.create_table(request.account(), request.table(), *options).status();
}

Status show_expiry(Store& store, TableRequest& request, Fields& answer) {
  Result<std::optional<TableExpiry>> expiry = store.table_expiry(request.account(), request.table());
  if (!expiry.ok()) return expiry.status();
  add_fields(answer, TableOptions{false, *std::move(expiry)});
  return Status();
}

Status set_expiry(Store& store, TableRequest& request, Fields& /*answer*/) {
  const Result<TableOptions> options = table_options_of(request.body());
  if (!options.ok()) return options.status();
  return store.set_table_expiry(request.account(), request.table(), options->expiry);
}

Status get_entity(Store& store, TableRequest& request, Fields& answer) {
  const Result<Entity> asked = entity_of(request.body());
  if (!asked.ok()) return asked.status();
  ReadOptions options;
  for (const auto& [name, value] : request.body()) {
    if (name == "select") options.select.push_back(value);
  }
  const Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  const Result<std::optional<Entity>> entity = table->get(asked->partition_key(), asked->row_key(), options);
  if (!entity.ok()) return entity.status();
  if (*entity) add_fields(answer, **entity);
  return Status();
}

Status write_entity(Store& store, TableRequest& request, Fields& answer) {
  const Result<WriteOperation> operation = write_operation_of(request.body());
  WriteOptions options;
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  if (!operation.ok()) return operation.status();
  Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  const Result<ETag> etag = table->write(*operation, options);
  if (!etag.ok()) return etag.status();
  if (etag->is_none()) return Status();  // a delete
  try {
    answer.emplace_back("etag", etag->to_string());
    return Status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kUnknown);  // The entity is written.
  }
}

Patch patch_of(const WriteOperation& operation) {
  Patch patch(operation.entity.partition_key(), operation.entity.row_key());
  for (const Property& property : operation.entity.properties()) patch.set(property.name, property.value);
  for (const std::string& name : operation.removed) patch.remove(name);
  for (const Property& property : operation.increments) patch.increment(property.name, property.value);
  patch.only_if(operation.condition);
  return patch;
}

Status patch_entity(Store& store, TableRequest& request, Fields& answer) {
  const Result<WriteOperation> operation = write_operation_of(request.body());
  WriteOptions options;
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  if (!operation.ok()) return operation.status();
  const bool may_insert = operation->kind == WriteOperation::Kind::kInsertOrPatch;
  if (!may_insert && operation->kind != WriteOperation::Kind::kPatch) {
    return service_error::invalid_input("the write is no patch");
  }
  Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  const Patch patch = patch_of(*operation);
  return answer_change(
      may_insert ? table->insert_or_patch(patch, options) : table->patch(patch, operation->if_match, options), answer);
}

/// Changes one batch: the stop is requested when the batch is done.
Status change_batch(Store& store, TableRequest& request, bool deletes, Fields& answer) {
  const Result<Where> where = where_of(request.body());
  const Result<PropertyChanges> changes = changes_of(request.body());
  std::stop_source batch_done;
  WhereOptions options;
  options.batch_entities_max = request.small_number("batch", limits::kTransactionOperationsMax);
  options.dry_run = request.flag("dry_run");
  options.write.durability = request.durability();
  options.stop = batch_done.get_token();
  options.progress = [&batch_done](const WhereProgress&) { batch_done.request_stop(); };
  for (const auto& [name, value] : request.body()) {
    if (name == "continuation") options.continuation = value;
  }
  if (!request.failure().ok()) return request.failure();
  if (!where.ok()) return where.status();
  if (!changes.ok()) return changes.status();
  Result<Table> table = store.open_table(request.account(), request.table());
  if (!table.ok()) return table.status();
  return answer_change(deletes ? table->delete_where(*where, options) : table->update_where(*where, *changes, options),
                       answer);
}

Status delete_batch(Store& store, TableRequest& request, Fields& answer) {
  return change_batch(store, request, true, answer);
}

Status update_batch(Store& store, TableRequest& request, Fields& answer) {
  return change_batch(store, request, false, answer);
}

struct TableVerb {
  std::string_view name;
  Status (*carry_out)(Store& store, TableRequest& request, Fields& answer);
};

constexpr std::array<TableVerb, 8> kTableVerbs = {{{"create", &make_table},
                                                   {"delete", &delete_batch},
                                                   {"expire", &set_expiry},
                                                   {"expiry", &show_expiry},
                                                   {"get", &get_entity},
                                                   {"patch", &patch_entity},
                                                   {"update", &update_batch},
                                                   {"write", &write_entity}}};

Status carry_out_table_verb(Store& store, const HttpRequest& request, Fields& answer) {
  Result<Fields> body = parse_fields(request.body, entity_fields_max(store.limits()));
  if (!body.ok()) return body.status();
  TableRequest asked(request, *std::move(body));
  const std::string verb = asked.text("verb");
  if (!asked.failure().ok()) return asked.failure();
  const auto* const found =
      std::find_if(kTableVerbs.begin(), kTableVerbs.end(), [&](const TableVerb& one) { return one.name == verb; });
  if (found == kTableVerbs.end()) {
    return refused("InvalidQueryParameterValue", "tables have no verb " + verb);
  }
  return found->carry_out(store, asked, answer);
}

}  // namespace

Task<Result<HttpResponse>> answer_table_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop) {
  Fields answer;
  Task<Status> working = AsyncStore(store).run(
      [&](Store& opened) { return carry_out_table_verb(opened, request, answer); }, std::move(stop));
  const Status done = co_await at_home(home, std::move(working));
  if (!done.ok()) co_return done;
  co_return carried_out_answer([&] {
    HttpResponse response;
    response.with("Content-Type", "application/octet-stream").with("Cache-Control", "no-store");
    response.body = fields_text(answer);
    return response;
  });
}

}  // namespace varve::serve
