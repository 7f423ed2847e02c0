// Owns: the statistics of entities' properties in index partitions and top indexes: the smallest and the largest value
// of a property in a block or a run, or its absence. Queries use them to skip blocks without reading them.
// Must never: leave out a value. A query would not find an entity with a value outside the stored range.
//
// The statistics of a run (tag 4 of its top index entry) contain for each covered property, in no particular order:
//   u8 1 if the statistics of its blocks cover it too, else 0 . sized name . range
// The statistics of a block (tag 4 of its index entry) exist only if none of its keys continues in the run's next
// block:
//   a range for each property that the run's statistics mark as covered in blocks, in that order
// A range describes all puts, whatever their version:
//   u8 0: nothing is known
//      32: no entity has the property
//      t, or t + 16: all entities that have the property have it with property type t (section 9); then the smallest
//      value and the largest one, each encoded as in an entity, a String as sized. A String is cut to its first 16
//      bytes. With t + 16 the largest one was cut, and a value may be any text that begins with it.
// Binary, Guid and LargeValue properties are not covered. Strings are in the order of compare_text().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "varve/result.h"

namespace varve::format {

/// Number of bytes at the start of a String that a range stores.
inline constexpr std::size_t kRangeTextBytesMax = 16;

struct PropertyRange {
  enum class Kind : std::uint8_t { kUnknown, kAbsent, kRange };
  Kind kind = Kind::kUnknown;
  // Set only for kRange:
  PropertyType type = PropertyType::kString;
  std::string_view smallest;
  std::string_view largest;
  bool largest_is_cut = false;
};

/// Returns whether the value may occur: it is within the range, or nothing is known.
bool covers(const PropertyRange& range, const PropertyView& property) noexcept;

struct NamedRange {
  std::string_view name;
  bool is_in_blocks = false;
  PropertyRange range;
};

/// Iterates over the statistics of a run. The results point into them.
class RunStatistics {
 public:
  explicit RunStatistics(std::string_view field) noexcept : reader_(field) {}
  bool at_end() const noexcept { return reader_.at_end(); }
  /// Errors: kCorruption.
  Result<NamedRange> next();

 private:
  ByteReader reader_;
};

/// Iterates over the statistics of a block. The results point into them.
class BlockStatistics {
 public:
  explicit BlockStatistics(std::string_view field) noexcept : reader_(field) {}
  bool at_end() const noexcept { return reader_.at_end(); }
  /// Errors: kCorruption.
  Result<PropertyRange> next();

 private:
  ByteReader reader_;
};

void append_range(std::string& out, const PropertyRange& range);

}  // namespace varve::format
