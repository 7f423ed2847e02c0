// Owns: the order that a scan asks for (Scan::order_by): its components, and the comparison of two entities by them.
// Must never: compare a part of a value in place of the value.
//
// Values compare by type first: Boolean, numbers, DateTime, Guid, String, Binary, LargeValue. Int32, Int64 and Double are
// numbers, which compare by their exact value: the two zeros are equal, and NaN is above all others. Large values are
// equal. `desc` reverses all of that. An entity that lacks a property comes after all that have it, with `desc` too.
// Entities that are equal in all components come in the order of their keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve {

/// What an entity is ordered by in one component. The views point into the entity.
struct SortValue {
  /// In the order of ascending values. kKey is a part of a sort key, whose bytes have the order of keys.
  enum class Of : std::uint8_t { kKey, kBoolean, kNumber, kDateTime, kGuid, kString, kBinary, kLargeValue, kAbsent };

  Of of = Of::kAbsent;
  bool is_double = false;  // of a number
  std::int64_t integer = 0;
  double real = 0;
  std::string_view bytes;
};

SortValue sort_value_of(const format::PropertyView& property) noexcept;
/// Returns where values of this type are among all values.
SortValue::Of sorted_as(format::PropertyType type) noexcept;
/// Returns a negative number if a is before b in ascending order, 0 if they are equal there, else a positive one.
int compare_sort_values(const SortValue& a, const SortValue& b) noexcept;

/// An order. Immutable.
class EntityOrder {
 public:
  static constexpr std::size_t kComponentsMax = 4;
  using Values = std::array<SortValue, kComponentsMax>;

  struct Component {
    Comparison::Subject subject = Comparison::Subject::kCustom;
    std::string property;
    bool descending = false;

    /// Returns whether an index may have the component. The order of keys is that of the table.
    bool may_have_index() const noexcept {
      return subject == Comparison::Subject::kCustom || subject == Comparison::Subject::kTimestamp;
    }
    /// Returns a negative number if a comes before b in the component, 0 if they are at one place, else a positive one.
    int compare(const SortValue& a, const SortValue& b) const noexcept;
  };

  /// Parses the text of Scan::order_by. Errors: kInvalidArgument (InvalidInput).
  static Result<EntityOrder> parse(std::string_view text);

  const std::vector<Component>& components() const noexcept { return components_; }
  /// Returns whether entities in the order of keys, or in that order backward, have this order: true for backward, and
  /// nothing for neither. `in_one_partition`: all of them have one PartitionKey.
  std::optional<bool> is_backward_by_key(bool in_one_partition) const noexcept;
  /// Returns whether entities that are equal in all components before this one have this order in the order of keys.
  bool goes_on_by_key(std::size_t component, bool in_one_partition) const noexcept;
  /// Returns the one text of this order.
  std::string text() const;

  /// Returns what the entity is ordered by. The views point into the key and the value. Errors: kCorruption,
  /// kUnsupported (the value cannot be read).
  Result<Values> values_of(std::string_view sort_key, format::CommitVersion version, std::string_view value) const;
  /// Returns whether entity a comes before entity b.
  bool is_before(const Values& a, std::string_view sort_key_a, const Values& b,
                 std::string_view sort_key_b) const noexcept;

 private:
  std::vector<Component> components_;
};

}  // namespace varve
