// Owns: the parsing of orders, and the comparison of values (entity_order.h).
// Must never: let two values be neither before one another nor equal.
#include "api/read/entity_order.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <utility>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/names.h"

namespace varve {
namespace {

using Of = SortValue::Of;

constexpr std::string_view kAscending = "asc";
constexpr std::string_view kDescending = "desc";

/// Takes the next word, which ends at a space or at the end, from the front of the text.
std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

Status bad_order(std::string_view component) {
  return service_error::invalid_input("order_by has the component " + quoted(component) +
                                      "; write a name, then a space and asc or desc, or neither");
}

Result<EntityOrder::Component> parse_component(std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = take_word(rest);
  const std::string_view direction = take_word(rest);
  const bool is_direction = direction.empty() || direction == kAscending || direction == kDescending;
  if (name.empty() || !is_direction || !take_word(rest).empty() || !check_property_name(name).ok())
    return bad_order(text);
  return EntityOrder::Component{subject_of(name), std::string(name), direction == kDescending};
}

SortValue of_integer(Of of, std::int64_t integer) noexcept {
  SortValue value;
  value.of = of;
  value.integer = integer;
  return value;
}

SortValue of_bytes(Of of, std::string_view bytes) noexcept {
  SortValue value;
  value.of = of;
  value.bytes = bytes;
  return value;
}

int sign_of(std::partial_ordering order) noexcept {
  return std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0;
}

/// Neither is NaN.
int compare_with_integer(const SortValue& real, const SortValue& integer) noexcept {
  return sign_of(order_of_number(real.real, integer.integer));
}

int compare_numbers(const SortValue& a, const SortValue& b) noexcept {
  const bool is_nan_a = a.is_double && std::isnan(a.real);
  const bool is_nan_b = b.is_double && std::isnan(b.real);
  if (is_nan_a || is_nan_b) return static_cast<int>(is_nan_a) - static_cast<int>(is_nan_b);
  if (a.is_double && b.is_double) return sign_of(a.real <=> b.real);
  if (a.is_double) return compare_with_integer(a, b);
  if (b.is_double) return -compare_with_integer(b, a);
  return sign_of(a.integer <=> b.integer);
}

}  // namespace

int compare_sort_values(const SortValue& a, const SortValue& b) noexcept {
  if (a.of != b.of) return a.of < b.of ? -1 : 1;
  switch (a.of) {
    case Of::kBoolean:
    case Of::kDateTime: return sign_of(a.integer <=> b.integer);
    case Of::kNumber: return compare_numbers(a, b);
    case Of::kString: return format::compare_text(a.bytes, b.bytes);
    case Of::kKey:
    case Of::kGuid:
    case Of::kBinary: return a.bytes.compare(b.bytes);
    case Of::kLargeValue:
    case Of::kAbsent: break;
  }
  return 0;
}

SortValue::Of sorted_as(format::PropertyType type) noexcept {
  switch (type) {
    case PropertyType::kBinary: return Of::kBinary;
    case PropertyType::kBoolean: return Of::kBoolean;
    case PropertyType::kDateTime: return Of::kDateTime;
    case PropertyType::kGuid: return Of::kGuid;
    case PropertyType::kDouble:
    case PropertyType::kInt32:
    case PropertyType::kInt64: return Of::kNumber;
    case PropertyType::kString: return Of::kString;
    case PropertyType::kLargeValue: return Of::kLargeValue;
  }
  return Of::kAbsent;
}

SortValue sort_value_of(const format::PropertyView& property) noexcept {
  switch (property.type) {
    case PropertyType::kBinary: return of_bytes(Of::kBinary, property.value);
    case PropertyType::kBoolean: return of_integer(Of::kBoolean, property.as_boolean() ? 1 : 0);
    case PropertyType::kDateTime:
      return of_integer(Of::kDateTime, static_cast<std::int64_t>(property.as_date_time_ticks()));
    case PropertyType::kDouble: {
      SortValue number = of_integer(Of::kNumber, 0);
      number.is_double = true;
      number.real = property.as_double();
      return number;
    }
    case PropertyType::kGuid: return of_bytes(Of::kGuid, property.value);  // stored in the order of its text
    case PropertyType::kInt32: return of_integer(Of::kNumber, property.as_int32());
    case PropertyType::kInt64: return of_integer(Of::kNumber, property.as_int64());
    case PropertyType::kString: return of_bytes(Of::kString, property.value);
    case PropertyType::kLargeValue: return of_integer(Of::kLargeValue, 0);
  }
  return SortValue();
}

Result<EntityOrder> EntityOrder::parse(std::string_view text) {
  EntityOrder order;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    Result<Component> component = parse_component(text.substr(0, comma));
    if (!component.ok()) return component.status();
    if (order.components_.size() == kComponentsMax) {
      return service_error::invalid_input("order_by has more than " + std::to_string(kComponentsMax) + " components");
    }
    for (const Component& earlier : order.components_) {
      if (earlier.property != component->property) continue;
      return service_error::invalid_input("order_by names " + quoted(component->property) + " twice");
    }
    order.components_.push_back(*std::move(component));
    if (!is_last) text.remove_prefix(comma + 1);
  }
  return order;
}

std::optional<bool> EntityOrder::is_backward_by_key(bool in_one_partition) const noexcept {
  auto component = components_.begin();
  const bool has_partition = component->subject == Comparison::Subject::kPartitionKey;
  if (!has_partition && !in_one_partition) return std::nullopt;
  if (has_partition) ++component;
  if (component == components_.end()) {  // Entities of a partition come in the order of their keys.
    const bool is_forward = in_one_partition || !components_.front().descending;
    return is_forward ? std::optional(false) : std::nullopt;
  }
  if (component->subject != Comparison::Subject::kRowKey) return std::nullopt;
  const bool is_mixed = !in_one_partition && component->descending != components_.front().descending;
  return is_mixed ? std::nullopt : std::optional(component->descending);
}

bool EntityOrder::goes_on_by_key(std::size_t component, bool in_one_partition) const noexcept {
  bool is_one_partition = in_one_partition;
  for (; component < components_.size(); ++component) {
    const Component& next = components_[component];
    if (next.subject != Comparison::Subject::kPartitionKey) {  // No two entities have one PartitionKey and one RowKey.
      return next.subject == Comparison::Subject::kRowKey && is_one_partition && !next.descending;
    }
    if (next.descending && !in_one_partition) return false;
    is_one_partition = true;
  }
  return true;
}

std::string EntityOrder::text() const {
  std::string text;
  for (const Component& component : components_) {
    if (!text.empty()) text.push_back(',');
    text.append(component.property).append(1, ' ').append(component.descending ? kDescending : kAscending);
  }
  return text;
}

Result<EntityOrder::Values> EntityOrder::values_of(std::string_view sort_key, format::CommitVersion version,
                                                   std::string_view value) const {
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(value);
  if (!properties.ok()) return properties.status();
  const std::string_view partition = format::partition_of(sort_key);
  Values values;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    switch (components_[i].subject) {
      case Comparison::Subject::kPartitionKey: values[i] = of_bytes(Of::kKey, partition); break;
      case Comparison::Subject::kRowKey: values[i] = of_bytes(Of::kKey, sort_key.substr(partition.size())); break;
      case Comparison::Subject::kTimestamp:
        values[i] = of_integer(Of::kDateTime, static_cast<std::int64_t>(version));
        break;
      case Comparison::Subject::kCustom:
        const std::optional<format::PropertyView> found = properties->find(components_[i].property);
        if (found) values[i] = sort_value_of(*found);
        break;
    }
  }
  return values;
}

int EntityOrder::Component::compare(const SortValue& a, const SortValue& b) const noexcept {
  const bool is_one_absent = a.of == Of::kAbsent || b.of == Of::kAbsent;
  return descending && !is_one_absent ? compare_sort_values(b, a) : compare_sort_values(a, b);
}

bool EntityOrder::is_before(const Values& a, std::string_view sort_key_a, const Values& b,
                            std::string_view sort_key_b) const noexcept {
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (const int compared = components_[i].compare(a[i], b[i]); compared != 0) return compared < 0;
  }
  return sort_key_a < sort_key_b;
}

}  // namespace varve
