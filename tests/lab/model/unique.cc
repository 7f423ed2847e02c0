// Owns: the values of entities in unique indexes, compared by their text (unique.h).
// Must never: know an order of values.
#include "tests/lab/model/unique.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tests/api/filter/slow_filter.h"

namespace varve::lab {
namespace {

constexpr std::size_t kComparedBytesMax = 256;  // of a String or Binary

/// A write of a commit that gives a value to an entity.
struct Receiver {
  Units units;
  std::optional<std::uint32_t> operation;
};

std::optional<Value> component_of(const Entity& entity, const std::string& name) {
  if (name == "PartitionKey") return Value(entity.partition_key());
  if (name == "RowKey") return Value(entity.row_key());
  const Value* const value = entity.find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// Judges the writes of one table and one index.
class IndexJudge {
 public:
  IndexJudge(const TableState& table, const IndexRow& index) : table_(table), index_(index) {}

  /// Returns whether the value that the write gives is too long.
  bool add(const JudgedWrite& one, Planted planted) {
    const Units units = units_of(one.write.entity);
    const Entity* const before = table_.find(one.write.entity.partition_key(), one.write.entity.row_key());
    const std::optional<IndexedValue> had = before == nullptr ? std::nullopt : value_in(index_.definition, *before);
    std::optional<IndexedValue> has;
    if (one.write.kind != WriteOperation::Kind::kRemove)
      has = value_in(index_.definition, result_of(before, one.write, planted));
    const bool keeps = had && has && had->text == has->text;
    if (had && !keeps) released_.insert(units);
    if (!has || (keeps && index_.state == IndexState::kReady)) return false;
    receivers_[has->text].push_back({units, one.operation});
    return has->is_too_long;
  }

  /// Appends the refusals of the values that were added.
  void append_taken(std::vector<TakenByModel>& taken) const {
    for (const auto& [value, receivers] : receivers_) {
      const Receiver& first = receivers.front();
      TakenByModel stored{index_.definition.name, first.operation, {}, false};
      for (const RowPointer& row : table_.rows) {
        if (row->units == first.units || released_.contains(row->units)) continue;
        const std::optional<IndexedValue> other = value_in(index_.definition, row->entity);
        if (!other || other->text != value) continue;
        stored.holders.push_back(row->units);
        stored.is_certain = stored.is_certain || has_entry(*row);
      }
      const bool is_certain = stored.is_certain;
      if (!stored.holders.empty()) taken.push_back(std::move(stored));
      if (receivers.size() == 1 || is_certain) continue;
      taken.push_back({index_.definition.name, receivers[1].operation, {first.units}, index_.state.has_value()});
    }
  }

 private:
  bool has_entry(const ModelRow& row) const {
    if (!index_.state) return false;  // The build may have failed.
    return *index_.state == IndexState::kReady || row.entity.etag().timestamp().ticks > index_.declared_by;
  }

  const TableState& table_;
  const IndexRow& index_;
  std::set<Units> released_;
  std::map<std::string, std::vector<Receiver>> receivers_;
};

}  // namespace

std::optional<IndexedValue> value_in(const IndexDefinition& definition, const Entity& entity) {
  IndexedValue made;
  for (const IndexComponent& component : definition.components) {
    const std::optional<Value> value = component_of(entity, component.property);
    if (!value) return std::nullopt;
    std::string text = test::literal_text(*value);
    if (const auto* const number = value->get_if<double>()) {
      if (std::isnan(*number)) return std::nullopt;
      if (*number == 0) text = test::literal_text(Value(0.0));
    }
    const auto* const words = value->get_if<std::string>();
    const auto* const bytes = value->get_if<Binary>();
    const std::size_t size = words != nullptr ? words->size() : bytes != nullptr ? bytes->bytes.size() : 0;
    made.is_too_long = made.is_too_long || size > kComparedBytesMax;
    made.text += std::to_string(static_cast<int>(value->type())) + " " + std::to_string(text.size()) + " " + text;
  }
  return made;
}

bool may_refuse(const IndexRow& index) {
  return index.definition.is_unique && index.state != IndexState::kFailed;
}

Expected judge_values(std::span<const JudgedWrite> writes, Planted planted) {
  Expected expected;
  if (planted == Planted::kSharedValues) return expected;
  std::map<std::pair<std::string, std::string>, IndexJudge> judges;
  for (const JudgedWrite& one : writes) {
    for (const auto& [name, index] : one.table->indexes) {
      if (!may_refuse(index)) continue;
      IndexJudge& judge = judges.try_emplace({one.table_name, name}, *one.table, index).first->second;
      if (!judge.add(one, planted)) continue;
      if (index.state) return {Code::kTooLarge, "PropertyValueTooLarge", one.operation, {}, false};
      expected.may_be_too_long = true;
    }
  }
  for (const auto& [name, judge] : judges) judge.append_taken(expected.taken);
  return expected;
}

bool breaks_index(const TableState& table, const IndexDefinition& definition) {
  std::set<std::string> values;
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const RowPointer& row) {
    const std::optional<IndexedValue> value = value_in(definition, row->entity);
    return value && (value->is_too_long || !values.insert(value->text).second);
  });
}

}  // namespace varve::lab
