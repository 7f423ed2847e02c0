// Owns: what index partitions and top indexes tell of the properties of entities: the smallest and the largest value a
// block and a run hold of one, or that they hold none of it. By them a query passes blocks unread.
// Must never: tell less than all: a value outside a range that is told would be an entity that no query finds.
//
// Statistics of a run (tag 4 of its top index entry) are, for each property told of, in no particular order:
//   u8 1 if the statistics of its blocks tell of it too, else 0 . sized name . range
// Statistics of a block (tag 4 of its index entry; only where none of its keys goes on in the next block of the run):
//   a range for each property that the run says blocks tell of, in that order
// A range is of all puts, whatever version:
//   u8 0: nothing is known                              32: none of them has the property
//      t, or t + 16: all that have it have it as property type t (section 9); then the smallest value and the largest
//      one, each as in an entity, a String as sized. A String is cut to its first 16 bytes; with t + 16 the largest one
//      was cut, and a value may be any text that begins with it.
// Binary and Guid are not told of. Strings are in the order of compare_text().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "varve/result.h"

namespace varve::format {

/// The first bytes of a String that a range tells.
inline constexpr std::size_t kRangeTextBytesMax = 16;

struct PropertyRange {
  enum class Kind : std::uint8_t { kUnknown, kAbsent, kRange };
  Kind kind = Kind::kUnknown;
  // Of kRange:
  PropertyType type = PropertyType::kString;
  std::string_view smallest;
  std::string_view largest;
  bool largest_is_cut = false;
};

/// Whether the range tells of this value: it is within, or nothing is known.
bool covers(const PropertyRange& range, const PropertyView& property) noexcept;

struct NamedRange {
  std::string_view name;
  bool is_in_blocks = false;
  PropertyRange range;
};

/// Walks the statistics of a run. What it gives points into them.
class RunStatistics {
 public:
  explicit RunStatistics(std::string_view field) noexcept : reader_(field) {}
  bool at_end() const noexcept { return reader_.at_end(); }
  /// Errors: kCorruption.
  Result<NamedRange> next();

 private:
  ByteReader reader_;
};

/// Walks the statistics of a block. What it gives points into them.
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
