// Owns: the steps by which an entity joins its group and changes its figures, and which blocks can change these
// (aggregation_state.h).
// Must never: keep a view of an entity after the entity was added, or pass a block with a better value, or with one that does
// not compare with the best one.
#include "api/read/aggregation_state.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "api/filter/value_order.h"
#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

/// An estimate of what a node of a hash table and its allocations take beside the bytes of its content.
constexpr std::size_t kNodeBytes = 64;

std::size_t bytes_of_text(const ValueView& value) noexcept {
  if (const auto* const text = std::get_if<std::string_view>(&value)) return text->size();
  const auto* const binary = std::get_if<BinaryView>(&value);
  return binary == nullptr ? 0 : binary->bytes.size();
}

struct ValueMaker {
  Value operator()(const BinaryView& value) const { return Binary{std::string(value.bytes)}; }
  template <typename Other>
  Value operator()(const Other& value) const {
    return Value(value);
  }
};

Value value_of_view(const ValueView& value) {
  return std::visit(ValueMaker{}, value);
}

/// Returns the first characters of valid UTF-8.
std::string_view first_characters(std::string_view text, std::uint32_t characters) noexcept {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins_one = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_one && characters-- == 0) break;
  }
  return text.substr(0, end);
}

bool is_of_key(Comparison::Subject subject) noexcept {
  return subject == Comparison::Subject::kPartitionKey || subject == Comparison::Subject::kRowKey;
}

Status check_beginning(const GroupBy& grouping) {
  if (grouping.characters == 0 && grouping.delimiter.empty()) return Status();
  if (grouping.property != kPartitionKeyName && grouping.property != kRowKeyName) {
    return service_error::invalid_input("only PartitionKey and RowKey can be grouped by their beginnings, not " +
                                        quoted(grouping.property));
  }
  if (grouping.characters != 0 && !grouping.delimiter.empty()) {
    return service_error::invalid_input("a grouping has either a number of characters or a delimiter, not both");
  }
  if (format::is_valid_utf8(grouping.delimiter)) return Status();
  return service_error::invalid_input("the delimiter " + quoted(grouping.delimiter) + " is not valid UTF-8");
}

Status check_bounds(std::string_view what, std::size_t number, std::size_t min, std::size_t max) {
  if (number >= min && number <= max) return Status();
  return service_error::invalid_input("the aggregation has " + std::to_string(number) + " " + std::string(what) + "; " +
                                      std::to_string(min) + " to " + std::to_string(max) + " are allowed");
}

bool is_extreme(Aggregate::Kind kind) noexcept {
  return kind == Aggregate::Kind::kMin || kind == Aggregate::Kind::kMax;
}

/// Returns whether a value of the property may come before `best` in the order, or does not compare with it.
bool may_be_better(const ValueView& end, const ValueView& best, bool is_min) noexcept {
  if (!are_comparable(property_type_of(end), property_type_of(best))) return true;
  const std::partial_ordering order = order_of_values(end, best);
  return is_min ? !std::is_gteq(order) : !std::is_lteq(order);
}

bool may_be_better(const format::PropertyRange& range, const ValueView& best, bool is_min) noexcept {
  ValueView end;
  view_value({{}, range.type, is_min ? range.smallest : range.largest}, end);
  if (may_be_better(end, best, is_min)) return true;
  if (is_min || !range.largest_is_cut) return false;  // A smallest text that was cut is less than the real one.
  const auto* const text = std::get_if<std::string_view>(&best);
  return text == nullptr || text->starts_with(range.largest);
}

}  // namespace

Result<std::unique_ptr<Aggregation::State>> Aggregation::State::create(const std::vector<Aggregate>& figures,
                                                                       const std::vector<GroupBy>& group_by) {
  auto state = std::make_unique<State>();
  if (Status checked = state->check(figures, group_by); !checked.ok()) return checked;
  for (const GroupBy& grouping : group_by) {
    state->groupings_.push_back({state->column_of(grouping.property), grouping.characters, grouping.delimiter});
  }
  for (const Aggregate& figure : figures) {
    state->figures_.push_back({figure.kind, figure.property.empty() ? kNoColumn : state->column_of(figure.property)});
  }
  state->seen_.resize(state->columns_.size());
  state->group_seen_.resize(state->groupings_.size());
  return state;
}

Status Aggregation::State::check(const std::vector<Aggregate>& figures, const std::vector<GroupBy>& group_by) {
  Status checked = check_bounds("figures", figures.size(), 1, limits::kAggregateFiguresMax);
  if (checked.ok()) checked = check_bounds("groupings", group_by.size(), 0, limits::kAggregateGroupingsMax);
  for (const Aggregate& figure : figures) {
    if (!checked.ok()) return checked;
    if (figure.kind == Aggregate::Kind::kCount && figure.property.empty()) continue;
    checked = check_property_name(figure.property);
  }
  for (const GroupBy& grouping : group_by) {
    if (!checked.ok()) return checked;
    checked = check_property_name(grouping.property);
    if (checked.ok()) checked = check_beginning(grouping);
  }
  return checked;
}

std::size_t Aggregation::State::column_of(const std::string& property) {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&property](const Column& column) { return column.name == property; });
  if (found != columns_.end()) return static_cast<std::size_t>(found - columns_.begin());
  Comparison::Subject subject = Comparison::Subject::kCustom;
  if (property == kPartitionKeyName) subject = Comparison::Subject::kPartitionKey;
  if (property == kRowKeyName) subject = Comparison::Subject::kRowKey;
  if (property == kTimestampName) subject = Comparison::Subject::kTimestamp;
  names_keys_ = names_keys_ || is_of_key(subject);
  columns_.push_back({subject, property});
  return columns_.size() - 1;
}

Status Aggregation::State::broken() {
  return service_error::invalid_input(
      "an earlier call with this aggregation failed, so its figures are incomplete; create another one");
}

Status Aggregation::State::begin() {
  if (is_broken_) return broken();
  is_broken_ = true;
  return Status();
}

Status Aggregation::State::add(const FilterSubject& entity) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::optional<ValueView>& seen = seen_[i];
    switch (columns_[i].subject) {
      case Comparison::Subject::kPartitionKey: seen = entity.partition_key; break;
      case Comparison::Subject::kRowKey: seen = entity.row_key; break;
      case Comparison::Subject::kTimestamp: seen = DateTime{entity.version}; break;
      case Comparison::Subject::kCustom: {
        seen.reset();
        const std::optional<format::PropertyView> stored = entity.properties.find(columns_[i].name);
        if (stored) view_value(*stored, seen.emplace());
      }
    }
  }
  return add_seen();
}

Status Aggregation::State::add(const EntityView& entity) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::optional<ValueView>& seen = seen_[i];
    switch (columns_[i].subject) {
      case Comparison::Subject::kPartitionKey: seen = entity.partition_key; break;
      case Comparison::Subject::kRowKey: seen = entity.row_key; break;
      case Comparison::Subject::kTimestamp: seen = entity.etag.timestamp(); break;
      case Comparison::Subject::kCustom: {
        const ValueView* const value = entity.find(columns_[i].name);
        seen = value == nullptr ? std::nullopt : std::optional<ValueView>(*value);
      }
    }
  }
  return add_seen();
}

Status Aggregation::State::add_seen() {
  const Result<Group*> group = group_of_seen();
  if (!group.ok()) return group.status();
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (Status added = add_to((*group)->cells[i], figures_[i]); !added.ok()) return added;
  }
  return Status();
}

void Aggregation::State::shorten(std::optional<ValueView>& value, const Grouping& grouping) const noexcept {
  if (grouping.characters == 0 && grouping.delimiter.empty()) return;
  auto* const key = std::get_if<std::string_view>(&*value);
  if (grouping.characters > 0) {
    *key = first_characters(*key, grouping.characters);
  } else if (const std::size_t found = key->find(grouping.delimiter); found != std::string_view::npos) {
    *key = key->substr(0, found + grouping.delimiter.size());
  }
}

Result<Aggregation::State::Group*> Aggregation::State::group_of_seen() {
  identity_.clear();
  for (std::size_t i = 0; i < groupings_.size(); ++i) {
    std::optional<ValueView>& value = group_seen_[i];
    value = seen_[groupings_[i].column];
    if (!value) {
      identity_.push_back('-');
      continue;
    }
    if (property_type_of(*value) == PropertyType::kLargeValue) {
      return service_error::invalid_input("no group can be a LargeValue; the property " +
                                          quoted(columns_[groupings_[i].column].name) + " has one");
    }
    shorten(value, groupings_[i]);
    append_identity(*value, identity_);
  }
  if (last_ != nullptr && identity_ == last_identity_) return last_;
  Group* group = nullptr;
  if (const auto found = groups_.find(std::string_view(identity_)); found != groups_.end()) {
    group = &found->second;
  } else {
    const Result<Group*> added = add_group();
    if (!added.ok()) return added.status();
    group = *added;
  }
  last_identity_ = identity_;
  last_ = group;
  return group;
}

Result<Aggregation::State::Group*> Aggregation::State::add_group() {
  if (groups_.size() == limits::kAggregateGroupsMax) {
    return Status::too_large("the aggregation has more than " + std::to_string(limits::kAggregateGroupsMax) +
                             " groups; group by fewer values, or narrow the filter");
  }
  std::size_t bytes = kNodeBytes + identity_.size() + sizeof(Group) + figures_.size() * sizeof(Cell);
  for (const std::optional<ValueView>& value : group_seen_) {
    bytes += sizeof(std::optional<Value>) + (value ? bytes_of_text(*value) : 0);
  }
  if (Status charged = charge(bytes); !charged.ok()) return charged;
  Group group;
  group.cells.resize(figures_.size());
  group.values.reserve(group_seen_.size());
  for (const std::optional<ValueView>& value : group_seen_) {
    group.values.push_back(value ? std::optional<Value>(value_of_view(*value)) : std::nullopt);
  }
  return &groups_.emplace(identity_, std::move(group)).first->second;
}

Status Aggregation::State::add_to(Cell& cell, const Figure& figure) {
  if (figure.column != kNoColumn && !seen_[figure.column]) return Status();
  ++cell.count;
  if (figure.kind == Aggregate::Kind::kCount) return Status();
  const ValueView& value = *seen_[figure.column];
  switch (figure.kind) {
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax: return add_extreme(cell, value, figure);
    case Aggregate::Kind::kDistinct: return add_distinct(cell, value, figure);
    default: return add_number(cell, value, figure);
  }
}

Status Aggregation::State::add_number(Cell& cell, const ValueView& value, const Figure& figure) const {
  if (const auto* const number = std::get_if<double>(&value)) {
    cell.of_doubles += *number;
    cell.has_doubles = true;
    return Status();
  }
  std::int64_t integer = 0;
  if (const auto* const wide = std::get_if<std::int64_t>(&value)) {
    integer = *wide;
  } else if (const auto* const narrow = std::get_if<std::int32_t>(&value)) {
    integer = *narrow;
  } else {
    return service_error::invalid_input("only numbers can be added; the property " +
                                        quoted(columns_[figure.column].name) + " of an entity is " +
                                        std::string(property_type_name(property_type_of(value))));
  }
  if (__builtin_add_overflow(cell.low, integer, &cell.low)) cell.high += integer < 0 ? -1 : 1;
  return Status();
}

Status Aggregation::State::add_extreme(Cell& cell, const ValueView& value, const Figure& figure) {
  const PropertyType type = property_type_of(value);
  const PropertyType before = cell.extreme_of.value_or(type);
  if (!are_comparable(type, before)) {
    return service_error::invalid_input("the values of the property " + quoted(columns_[figure.column].name) +
                                        " have no smallest and no largest one: they are " +
                                        std::string(property_type_name(before)) + " and " +
                                        std::string(property_type_name(type)));
  }
  cell.extreme_of = before;
  if (is_nan(value)) return Status();
  if (cell.extreme) {
    const std::partial_ordering order = order_of_values(value, view_of(*cell.extreme));
    if (figure.kind == Aggregate::Kind::kMin ? !std::is_lt(order) : !std::is_gt(order)) return Status();
    bytes_ -= bytes_of_text(view_of(*cell.extreme));
  }
  if (Status charged = charge(bytes_of_text(value)); !charged.ok()) return charged;
  cell.extreme = value_of_view(value);
  return Status();
}

Status Aggregation::State::add_distinct(Cell& cell, const ValueView& value, const Figure& figure) {
  if (property_type_of(value) == PropertyType::kLargeValue) {
    return service_error::invalid_input("large values cannot be compared; the property " +
                                        quoted(columns_[figure.column].name) + " of an entity is one");
  }
  identity_.clear();
  append_identity(value, identity_);
  if (cell.distinct == nullptr) {
    if (Status charged = charge(sizeof(TextSet) + kNodeBytes); !charged.ok()) return charged;
    cell.distinct = std::make_unique<TextSet>();
  }
  if (cell.distinct->find(std::string_view(identity_)) != cell.distinct->end()) return Status();
  if (distinct_ == limits::kAggregateDistinctMax) {
    return Status::too_large("the exact distinct counts have more than " +
                             std::to_string(limits::kAggregateDistinctMax) + " values; narrow the filter");
  }
  if (Status charged = charge(kNodeBytes + identity_.size()); !charged.ok()) return charged;
  cell.distinct->insert(identity_);
  ++distinct_;
  return Status();
}

Status Aggregation::State::charge(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= limits::kAggregateBytesMax) return Status();
  return Status::too_large("the groups and values of the aggregation take more than " +
                           std::to_string(limits::kAggregateBytesMax) +
                           " bytes; group by fewer values, or narrow the filter");
}

// Statistics cover all puts, also those that were overwritten, deleted or have ended. So what they say holds for the
// entities that a scan sees, and only excludes blocks. The best value is that of an entity that was seen.

BlockUse* Aggregation::State::block_use() noexcept {
  const bool passes = groupings_.empty() && std::all_of(figures_.begin(), figures_.end(), [this](const Figure& figure) {
                        if (!is_extreme(figure.kind)) return false;
                        const Comparison::Subject subject = columns_[figure.column].subject;
                        return subject == Comparison::Subject::kCustom || subject == Comparison::Subject::kTimestamp;
                      });
  return passes ? this : nullptr;
}

bool Aggregation::State::may_use(const BlockFacts& facts) noexcept {
  if (groups_.empty()) return true;
  const std::vector<Cell>& cells = groups_.begin()->second.cells;  // There are no groups, so all is in one.
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (may_change(cells[i], figures_[i], facts)) return true;
  }
  return false;
}

bool Aggregation::State::may_change(const Cell& cell, const Figure& figure, const BlockFacts& facts) const noexcept {
  const bool is_min = figure.kind == Aggregate::Kind::kMin;
  const Column& column = columns_[figure.column];
  if (column.subject == Comparison::Subject::kTimestamp) {
    const ValueView end = DateTime{is_min ? facts.smallest : facts.largest};
    return !cell.extreme || may_be_better(end, view_of(*cell.extreme), is_min);
  }
  const format::PropertyRange* const range = facts.find(column.name);
  if (range == nullptr) return true;
  switch (range->kind) {
    case format::PropertyRange::Kind::kUnknown: return true;
    case format::PropertyRange::Kind::kAbsent: return false;
    case format::PropertyRange::Kind::kRange: break;
  }
  return !cell.extreme || may_be_better(*range, view_of(*cell.extreme), is_min);
}

}  // namespace varve
