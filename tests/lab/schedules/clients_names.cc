// Owns: the operations of the clients of a schedule (clients.h) on a table with a unique index and a counter.
// Must never: decide which entity has a name. The search for an order does.
#include <string>
#include <utility>

#include "tests/lab/schedules/clients.h"

namespace varve::lab {
namespace {

std::string name_of(std::size_t cell) {
  return "n" + std::to_string(cell);
}

/// Each entity has a number, which is its RowKey. Different entities of one name lie in different partitions.
Entity named_entity(std::int64_t number, std::size_t cell) {
  Entity made("Q" + std::to_string(number % 3), std::to_string(number));
  made.set("Name", name_of(cell));
  return made;
}

WriteOperation named_write(WriteOperation::Kind kind, Entity entity, ETag if_match) {
  WriteOperation made;
  made.kind = kind;
  made.entity = std::move(entity);
  made.if_match = if_match;
  return made;
}

bool is_taken(const Status& status) {
  return status.service_error() == "IndexValueAlreadyExists";
}

}  // namespace

void Client::use_names() {
  switch (below(6)) {
    case 0: return move_name();
    case 1: return let_go_name();
    case 2: return read_name(1 + below(kRows));
    default: return take_name();
  }
}

void Client::end_taken(HistoryOperation operation, std::size_t cell, const Status& status) {
  operation.returned = recorder_.tick();
  const TakenValue* const taken = status.taken_value();
  if (status.code() != Code::kExists || taken == nullptr || !taken->has_keys) {
    return recorder_.broken("a refusal of the unique index does not name an entity: " + status.to_string());
  }
  operation.needs.push_back({0, true, 1});
  operation.needs.push_back({cell, true, std::stoll(taken->row_key)});
  operation.sets.clear();
  operation.text += ": the name is taken";
  recorder_.count("names that were taken");
  recorder_.add(kNamesObject, std::move(operation));
}

void Client::take_name() {
  const std::size_t cell = 1 + below(kRows);
  const std::int64_t number = recorder_.new_value();
  HistoryOperation operation;
  operation.text = "take a name";
  operation.invoked = recorder_.tick();
  const Result<ETag> etag =
      verbs(kNamesObject)
          .write(named_write(WriteOperation::Kind::kInsert, named_entity(number, cell), ETag()), options());
  if (is_taken(etag.status())) return end_taken(std::move(operation), cell, etag.status());
  operation.needs = {{cell, true, 0}};
  operation.sets = {{cell, number}};
  if (etag.ok()) own_.push_back({number, cell, *etag});
  end_write(kNamesObject, std::move(operation), etag.status(), etag.ok() ? *etag : ETag());
}

void Client::move_name() {
  if (own_.empty()) return take_name();
  const Named had = own_.back();
  const std::size_t cell = 1 + (had.cell - 1 + 1 + below(kRows - 1)) % kRows;
  HistoryOperation operation;
  operation.text = "take another name";
  operation.needs = {{had.cell, true, had.entity}};
  operation.invoked = recorder_.tick();
  const Result<ETag> etag =
      verbs(kNamesObject)
          .write(named_write(WriteOperation::Kind::kReplace, named_entity(had.entity, cell), had.etag), options());
  if (is_taken(etag.status())) return end_taken(std::move(operation), cell, etag.status());
  operation.needs.push_back({cell, true, 0});
  operation.sets = {{had.cell, 0}, {cell, had.entity}};
  if (etag.ok()) own_.back() = {had.entity, cell, *etag};
  if (etag.code() == Code::kUnknown) own_.pop_back();
  end_write(kNamesObject, std::move(operation), etag.status(), etag.ok() ? *etag : ETag());
}

void Client::let_go_name() {
  if (own_.empty()) return take_name();
  const Named had = own_.back();
  HistoryOperation operation;
  operation.text = "let go a name";
  operation.needs = {{had.cell, true, had.entity}};
  operation.sets = {{had.cell, 0}};
  operation.invoked = recorder_.tick();
  const Status removed =
      verbs(kNamesObject)
          .write(named_write(WriteOperation::Kind::kRemove, named_entity(had.entity, had.cell), had.etag), options())
          .status();
  if (removed.ok() || removed.code() == Code::kUnknown) own_.pop_back();
  end_write(kNamesObject, std::move(operation), removed, ETag());
}

/// Reads the entity that has a name by the index.
void Client::read_name(std::size_t cell) {
  HistoryOperation operation;
  operation.text = "read a name";
  Scan scan;
  scan.filter = "Name eq '" + name_of(cell) + "'";
  operation.invoked = recorder_.tick();
  const Result<Page> page = verbs(kNamesObject).scan(scan);
  operation.returned = recorder_.tick();
  if (!page.ok()) return recorder_.broken("a query: " + page.status().to_string());
  if (page->entities.size() > 1) return recorder_.broken("two entities have one value of a unique index");
  operation.needs = {{0, true, 1}};
  operation.needs.push_back({cell, true, page->entities.empty() ? 0 : std::stoll(page->entities.front().row_key())});
  recorder_.add(kNamesObject, std::move(operation));
}

/// If an increment ends in kUnknown, only the sums of later ones show whether it happened.
void Client::increment() {
  constexpr std::size_t kCell = 1;
  const auto change = static_cast<std::int64_t>(1 + below(5));
  Patch patch("Counter", "c");
  patch.increment("N", change);
  HistoryOperation operation;
  operation.text = "increment";
  operation.sets = {{kCell, change, true}};
  operation.invoked = recorder_.tick();
  const Result<Entity> after = verbs(kCounterObject).patch(WriteOperation::insert_or_patch(patch), options());
  if (after.ok()) operation.needs = {{kCell, true, *after->find("N")->get_if<std::int64_t>() - change}};
  recorder_.count("increments");
  end_write(kCounterObject, std::move(operation), after.status(), after.ok() ? after->etag() : ETag());
}

void Client::read_counter() {
  HistoryOperation operation;
  operation.text = "read the counter";
  operation.invoked = recorder_.tick();
  const Result<std::optional<Entity>> found = verbs(kCounterObject).get({"Counter", "c"});
  operation.returned = recorder_.tick();
  if (!found.ok()) return recorder_.broken("a read of the counter: " + found.status().to_string());
  operation.needs = {{0, true, 1}};
  operation.needs.push_back({1, true, found->has_value() ? *(**found).find("N")->get_if<std::int64_t>() : 0});
  recorder_.add(kCounterObject, std::move(operation));
}

}  // namespace varve::lab
