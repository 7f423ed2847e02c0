#include "tools/varve/content/byte_range.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace varve::tool {

namespace {

/// Parses one end of a range, which may be empty. Returns false for another text.
bool read_range_end(std::string_view text, std::optional<std::uint64_t>& end) noexcept {
  if (text.empty()) return true;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), end.emplace());
  return error == std::errc() && stopped == text.data() + text.size();
}

}  // namespace

std::optional<WantedRange> parse_range(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  WantedRange range;
  if (dash == std::string_view::npos || !read_range_end(text.substr(0, dash), range.first) ||
      !read_range_end(text.substr(dash + 1), range.last)) {
    return std::nullopt;
  }
  if (!range.first && !range.last) return std::nullopt;
  if (range.first && range.last && *range.last < *range.first) return std::nullopt;
  return range;
}

Result<ContentPart> part_of_content(const WantedRange& range, std::uint64_t length, std::string_view what) {
  if (!range.first) {
    const std::uint64_t bytes = std::min(range.last.value_or(0), length);
    return ContentPart{length - bytes, bytes};
  }
  if (*range.first >= length) {
    return Status::invalid_argument("--range begins at byte " + std::to_string(*range.first) + ", but the " +
                                    std::string(what) + " has " + std::to_string(length) + " bytes");
  }
  const std::uint64_t last = std::min(range.last.value_or(length - 1), length - 1);
  return ContentPart{*range.first, last - *range.first + 1};
}

CLI::Validator byte_range() {
  return CLI::Validator(
      [](const std::string& text) {
        return parse_range(text) ? std::string() : std::string("must be FIRST-LAST, FIRST- or -COUNT, such as 0-99");
      },
      "");
}

}  // namespace varve::tool
