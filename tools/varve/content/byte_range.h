// Owns: the words of --range: 0-99, 100-, -500.
// Must never: take another form for a range.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

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
struct ContentPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Returns the part of a content of `length` bytes that a range means. A range that goes past the end is cut. `what` names
/// the content in the error, for example "blob". Errors: kInvalidArgument (the range begins at or after the end).
Result<ContentPart> part_of_content(const WantedRange& range, std::uint64_t length, std::string_view what);

/// Returns a validator for the words of --range.
CLI::Validator byte_range();

}  // namespace varve::tool
