// Owns: the words of --range: 0-99, 100-, -500.
// Must never: take another form for a range.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "varve/result.h"

namespace varve::tool {

/// Bytes `first` to `last`, both inclusive. Without `first`, the last `last` bytes. Without `last`, up to the end.
struct WantedRange {
  std::optional<std::uint64_t> first{};
  std::optional<std::uint64_t> last{};
};

/// Returns nothing for a text of another form, and for a range that ends before it begins.
std::optional<WantedRange> parse_range(std::string_view text) noexcept;

/// A part of a content.
struct BlobPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Returns the part of a content of `length` bytes that a range means. A range that goes past the end is cut. Errors:
/// kInvalidArgument (the range begins at or after the end).
Result<BlobPart> part_of_blob(const WantedRange& range, std::uint64_t length);

}  // namespace varve::tool
