// Owns: the evaluation of the conditions that only the extended grammar has (filter.h).
// Must never: take more than linear time in the sizes of a text and of the text that is sought in it.
#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <optional>
#include <string_view>

#include "api/filter/filter.h"
#include "api/model/ascii.h"
#include "format/bytes/bytes.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// The encoded value of Timestamp, which an entity does not store as a property.
using TimestampBytes = std::array<char, sizeof(std::uint64_t)>;

/// Returns the property, or nothing if the entity lacks it. The result may point into `timestamp`.
std::optional<format::PropertyView> find_property(const FilterSubject& subject, Comparison::Subject named,
                                                  std::string_view name, std::uint16_t name_hash,
                                                  TimestampBytes& timestamp) noexcept {
  switch (named) {
    case Comparison::Subject::kPartitionKey:
      return format::PropertyView{{}, format::PropertyType::kString, subject.partition_key};
    case Comparison::Subject::kRowKey: return format::PropertyView{{}, format::PropertyType::kString, subject.row_key};
    case Comparison::Subject::kTimestamp:
      format::store_u64(timestamp.data(), subject.version);
      return format::PropertyView{
          {}, format::PropertyType::kDateTime, std::string_view(timestamp.data(), timestamp.size())};
    case Comparison::Subject::kCustom: break;
  }
  return subject.properties.find(name, name_hash);
}

/// Compares a property with the value of another one, as if that value were a literal. Copies no text.
std::partial_ordering order_of_properties(const format::PropertyView& stored,
                                          const format::PropertyView& other) noexcept {
  constexpr std::partial_ordering kTypesDiffer = std::partial_ordering::less;
  switch (other.type) {
    case format::PropertyType::kString:
      if (stored.type != other.type) return kTypesDiffer;
      return format::compare_text(stored.value, other.value) <=> 0;
    case format::PropertyType::kBinary:
      if (stored.type != other.type) return kTypesDiffer;
      return stored.value.compare(other.value) <=> 0;
    case format::PropertyType::kBoolean: return order_of_property(stored, Value(other.as_boolean()));
    case format::PropertyType::kDateTime: return order_of_property(stored, Value(DateTime{other.as_date_time_ticks()}));
    case format::PropertyType::kDouble: return order_of_property(stored, Value(other.as_double()));
    case format::PropertyType::kGuid: return order_of_property(stored, Value(Guid{other.as_guid()}));
    case format::PropertyType::kInt32: return order_of_property(stored, Value(other.as_int32()));
    case format::PropertyType::kInt64: return order_of_property(stored, Value(other.as_int64()));
    case format::PropertyType::kLargeValue: return kTypesDiffer;
  }
  return kTypesDiffer;
}

bool has_part(std::string_view text, std::string_view part) noexcept {
  // string_view::find() takes the product of both sizes for some texts.
  if (part.empty() || part.size() > text.size()) return part.empty();
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

bool equals_ignoring_case(std::string_view text, std::string_view other) noexcept {
  return std::equal(text.begin(), text.end(), other.begin(), other.end(),
                    [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

/// Returns whether the text has the relation that a function asks for.
bool holds_for_text(Comparison::Kind function, std::string_view text, std::string_view argument) noexcept {
  switch (function) {
    case Comparison::Kind::kStartsWith: return text.starts_with(argument);
    case Comparison::Kind::kEndsWith: return text.ends_with(argument);
    case Comparison::Kind::kContains: return has_part(text, argument);
    case Comparison::Kind::kEqualsIgnoringCase: return equals_ignoring_case(text, argument);
    default: return false;
  }
}

}  // namespace

bool holds_extended(const Comparison& comparison, const FilterSubject& subject) noexcept {
  TimestampBytes timestamp{};
  const auto stored =
      find_property(subject, comparison.subject, comparison.property, comparison.property_hash, timestamp);
  if (!stored) return false;
  switch (comparison.kind) {
    case Comparison::Kind::kExists: return true;
    case Comparison::Kind::kProperty: {
      TimestampBytes other_timestamp{};
      const auto other = find_property(subject, comparison.other_subject, comparison.other_property,
                                       comparison.other_hash, other_timestamp);
      return other && satisfies(order_of_properties(*stored, *other), comparison.compare);
    }
    case Comparison::Kind::kList: {
      const auto order = [&](const Value& literal) { return order_of_property(*stored, literal); };
      return comparison.list->any_between(order, order);
    }
    default: break;
  }
  return stored->type == format::PropertyType::kString &&
         holds_for_text(comparison.kind, stored->value, comparison.text());
}

}  // namespace varve
