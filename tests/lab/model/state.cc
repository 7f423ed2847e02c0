#include "tests/lab/model/state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "varve/limits.h"

namespace varve::lab {
namespace {

using WriteKind = WriteOperation::Kind;

bool needs_etag(WriteKind kind) {
  return kind == WriteKind::kReplace || kind == WriteKind::kMerge || kind == WriteKind::kRemove ||
         kind == WriteKind::kPatch;
}

bool is_patch(WriteKind kind) {
  return kind == WriteKind::kPatch || kind == WriteKind::kInsertOrPatch;
}

bool merges(WriteKind kind) {
  return kind == WriteKind::kMerge || kind == WriteKind::kInsertOrMerge || is_patch(kind);
}

/// Returns whether the stored entity meets a condition of patch_of().
bool meets(const Entity& stored, const std::string& condition) {
  constexpr std::string_view kBegin = "Count ge ";
  if (condition.empty()) return true;
  const Value* const count = stored.find("Count");
  return count != nullptr && *count->get_if<std::int32_t>() >= std::stoi(condition.substr(kBegin.size()));
}

/// Returns the integer of a property and of an increment.
std::optional<std::int64_t> integer_in(const Value& value) {
  if (const auto* const small = value.get_if<std::int32_t>()) return *small;
  if (const auto* const large = value.get_if<std::int64_t>()) return *large;
  return std::nullopt;
}

/// Adds the increment to the property, or returns why it cannot.
Expected increment(Entity& entity, const Property& by) {
  const Value* const stored = entity.find(by.name);
  if (stored == nullptr) {
    entity.set(by.name, by.value);
    return {};
  }
  const Expected out_of_range{Code::kTooLarge, "IncrementOutOfRange", {}};
  const std::optional<std::int64_t> change = integer_in(by.value);
  if (const auto* const number = stored->get_if<double>()) {
    const double sum = *number + (change ? static_cast<double>(*change) : *by.value.get_if<double>());
    if (!std::isfinite(sum)) return out_of_range;
    entity.set(by.name, sum);
    return {};
  }
  const std::optional<std::int64_t> integer = integer_in(*stored);
  if (!integer || !change) return {Code::kInvalidArgument, "PropertyTypeMismatch", {}};
  const bool is_small = stored->type() == PropertyType::kInt32;
  const long double exact = static_cast<long double>(*integer) + static_cast<long double>(*change);  // 64 bits: exact
  const auto least = is_small ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
  const auto most = is_small ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
  if (exact < static_cast<long double>(least) || exact > static_cast<long double>(most)) return out_of_range;
  const std::int64_t sum = *integer + *change;
  entity.set(by.name, is_small ? Value(static_cast<std::int32_t>(sum)) : Value(sum));
  return {};
}

/// Makes the increments in their order, up to one that is refused.
Expected increment_all(Entity& entity, const WriteOperation& operation) {
  for (const Property& by : operation.increments) {
    if (Expected refused = increment(entity, by); !refused.fine()) return refused;
  }
  return {};
}

/// Returns the place of the key's row, or the place where it would be inserted.
std::vector<RowPointer>::const_iterator place_of(const std::vector<RowPointer>& rows, const Units& units) {
  return std::lower_bound(rows.begin(), rows.end(), units,
                          [](const RowPointer& row, const Units& wanted) { return row->units < wanted; });
}

const Entity* find_by_units(const TableState& table, const Units& units) {
  const auto at = place_of(table.rows, units);
  return at != table.rows.end() && (*at)->units == units ? &(*at)->entity : nullptr;
}

}  // namespace

Units units_of(const Entity& entity) {
  return {code_units(entity.partition_key()), code_units(entity.row_key())};
}

Entity result_of(const Entity* stored, const WriteOperation& operation, Planted planted) {
  const bool keeps = merges(operation.kind) && planted != Planted::kMergeReplaces;
  if (!is_patch(operation.kind) && (stored == nullptr || !keeps)) return operation.entity;
  Entity merged =
      stored != nullptr && keeps ? *stored : Entity(operation.entity.partition_key(), operation.entity.row_key());
  for (const Property& property : operation.entity.properties()) merged.set(property.name, property.value);
  for (const std::string& name : operation.removed) merged.remove(name);
  (void)increment_all(merged, operation);  // judge_in() has refused what cannot be incremented
  return merged;
}

namespace {

/// A range in code units.
struct UnitRange {
  explicit UnitRange(const ScanRange& range)
      : kind(range.kind()), partition(code_units(range.partition_key())), from(code_units(range.from())) {
    if (range.to()) to = code_units(*range.to());
  }

  bool contains(const Units& units) const {
    if (kind == ScanRange::Kind::kTable) return true;
    if (kind == ScanRange::Kind::kPartitions) return units.first >= from && (!to || units.first < *to);
    if (units.first != partition) return false;
    if (kind == ScanRange::Kind::kPartition) return true;
    if (kind == ScanRange::Kind::kRowPrefix) return units.second.starts_with(from);
    return units.second >= from && (!to || units.second < *to);
  }

  ScanRange::Kind kind;
  std::u16string partition;
  std::u16string from;
  std::optional<std::u16string> to;
};

bool same_value(const Value& a, const Value& b) {
  const auto* const left = a.get_if<double>();
  const auto* const right = b.get_if<double>();
  if (left == nullptr || right == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*left) == std::bit_cast<std::uint64_t>(*right);
}

}  // namespace

const Entity* TableState::find(const std::string& partition, const std::string& row) const {
  return find_by_units(*this, {code_units(partition), code_units(row)});
}

TablePointer State::table(const TableName& name) const {
  const auto account = accounts.find(name.account);
  if (account == accounts.end()) return nullptr;
  const auto found = account->second.find(name.lower);
  return found == account->second.end() ? nullptr : found->second;
}

std::size_t State::entities() const {
  std::size_t count = 0;
  for (const auto& [name, tables] : accounts) {
    for (const auto& [lower, table] : tables) count += table->rows.size();
  }
  return count;
}

Expected judge_alone(const WriteOperation& operation, KeyProblem problem) {
  if (problem == KeyProblem::kForbidden) return {Code::kInvalidArgument, "", {}};
  if (problem == KeyProblem::kTooLong && operation.kind != WriteKind::kRemove) {
    return {Code::kTooLarge, "PropertyValueTooLarge", {}};
  }
  if (needs_etag(operation.kind) && operation.if_match.is_none()) return {Code::kInvalidArgument, "InvalidInput", {}};
  if (operation.kind == WriteKind::kRemove) return {};
  if (operation.entity.properties().size() > limits::kCustomPropertiesMax) {
    return {Code::kTooLarge, "TooManyProperties", {}};
  }
  return {};
}

Expected judge_in(const TableState& table, const WriteOperation& operation, Planted planted) {
  const Entity* const stored = find_by_units(table, units_of(operation.entity));
  if (operation.kind == WriteKind::kInsert && stored != nullptr) return {Code::kExists, "EntityAlreadyExists", {}};
  if (needs_etag(operation.kind)) {
    if (stored == nullptr) return {Code::kNotFound, "ResourceNotFound", {}};
    if (!operation.if_match.is_any() && operation.if_match != stored->etag()) {
      return {Code::kPreconditionFailed, "UpdateConditionNotSatisfied", {}};
    }
  }
  if (operation.kind == WriteKind::kRemove) return {};
  if (is_patch(operation.kind) && stored != nullptr) {
    if (!meets(*stored, operation.condition)) return {Code::kPreconditionFailed, "ConditionNotMet", {}};
    Entity incremented = *stored;
    if (const Expected refused = increment_all(incremented, operation); !refused.fine()) return refused;
  }
  const Entity result = result_of(stored, operation, planted);
  if (result.properties().size() > limits::kCustomPropertiesMax) return {Code::kTooLarge, "TooManyProperties", {}};
  if (accounted_size_bytes(result) > limits::kEntityBytesMax) return {Code::kTooLarge, "EntityTooLarge", {}};
  return {};
}

std::uint64_t end_of(const TableState& table, const Entity& entity, std::uint64_t version, Planted planted) {
  if (!table.expiry || planted == Planted::kNoEnds) return kNoEnd;
  constexpr std::uint64_t kTicksPerMillisecond = 10'000;
  const std::string& property = table.expiry->property;
  if (property.empty()) return version + static_cast<std::uint64_t>(table.expiry->age.count()) * kTicksPerMillisecond;
  const Value* const value = entity.find(property);
  const auto* const end = value == nullptr ? nullptr : value->get_if<DateTime>();
  return end == nullptr ? kNoEnd : end->ticks;
}

TablePointer living(const TablePointer& table, std::uint64_t time) {
  if (table == nullptr) return nullptr;
  const auto has_ended = [time](const RowPointer& row) { return row->end <= time; };
  if (std::none_of(table->rows.begin(), table->rows.end(), has_ended)) return table;
  auto left = std::make_shared<TableState>(*table);
  std::erase_if(left->rows, has_ended);
  return left;
}

StatePointer living(const State& state, std::uint64_t time) {
  auto left = std::make_shared<State>(state);
  for (auto& [account, tables] : left->accounts) {
    for (auto& [name, table] : tables) table = living(table, time);
  }
  return left;
}

std::uint64_t next_end(const State& state, std::uint64_t time) {
  std::uint64_t next = kNoEnd;
  for (const auto& [account, tables] : state.accounts) {
    for (const auto& [name, table] : tables) {
      for (const RowPointer& row : table->rows) {
        if (row->end > time) next = std::min(next, row->end);
      }
    }
  }
  return next;
}

void apply(TableState& table, const WriteOperation& operation, ETag etag, Planted planted) {
  const Units units = units_of(operation.entity);
  const std::uint64_t version = etag.timestamp().ticks;
  const auto at = place_of(table.rows, units);
  const bool is_there = at != table.rows.end() && (*at)->units == units;
  Entity entity;
  if (operation.kind != WriteKind::kRemove) {
    const bool is_alive = is_there && (*at)->end > version;
    entity = result_of(is_alive ? &(*at)->entity : nullptr, operation, planted);
  }
  const std::uint64_t end = end_of(table, entity, version, planted);
  if (operation.kind == WriteKind::kRemove || end <= version) {  // No view at this version or above shows it.
    if (is_there) table.rows.erase(at);
    return;
  }
  entity.set_etag(etag);
  auto row = std::make_shared<const ModelRow>(ModelRow{units, std::move(entity), end});
  if (is_there) {
    table.rows[static_cast<std::size_t>(at - table.rows.begin())] = std::move(row);
  } else {
    table.rows.insert(at, std::move(row));
  }
}

std::vector<RowPointer> rows_in(const TableState& table, const ScanRange& range,
                                const std::function<bool(const Entity&)>& takes) {
  const UnitRange units(range);
  std::vector<RowPointer> rows;
  for (const RowPointer& row : table.rows) {
    if (units.contains(row->units) && (!takes || takes(row->entity))) rows.push_back(row);
  }
  return rows;
}

bool same_entity(const Entity& a, const Entity& b) {
  if (a.partition_key() != b.partition_key() || a.row_key() != b.row_key() || a.etag() != b.etag()) return false;
  if (a.properties().size() != b.properties().size()) return false;
  return std::all_of(a.properties().begin(), a.properties().end(), [&b](const Property& property) {
    const Value* const other = b.find(property.name);
    return other != nullptr && same_value(property.value, *other);
  });
}

std::string entity_text(const Entity& entity) {
  constexpr std::size_t kShown = 40;
  std::string text = "('" + entity.partition_key().substr(0, kShown) + "', '" + entity.row_key().substr(0, kShown) +
                     "') " + entity.etag().to_string();
  std::size_t shown = 0;
  for (const Property& property : entity.properties()) {
    if (++shown > 8) break;
    text += " " + property.name;
    if (const auto* const number = property.value.get_if<std::int32_t>()) text += "=" + std::to_string(*number);
    if (const auto* const string = property.value.get_if<std::string>()) text += "='" + string->substr(0, 8) + "'";
  }
  return text;
}

}  // namespace varve::lab
