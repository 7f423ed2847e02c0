#include "api/rest/blobs/blob_range.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

/// Reads a place in a content, which is the whole text. A number with too many digits is past every end.
std::optional<std::uint64_t> place_in_content(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || stopped != text.data() + text.size()) return std::nullopt;
  return error == std::errc() ? number : std::numeric_limits<std::uint64_t>::max();
}

Result<bool> flag_header(const Headers& headers, std::string_view name) {
  const std::string* const text = find_header(headers, name);
  if (text == nullptr || equal_ignoring_case(trimmed(*text), "false")) return false;
  if (equal_ignoring_case(trimmed(*text), "true")) return true;
  return invalid_header(name, "expected true or false");
}

}  // namespace

std::optional<ByteRange> parse_range(std::string_view text) noexcept {
  constexpr std::string_view kUnit = "bytes=";
  text = trimmed(text);
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> first = place_in_content(text.substr(0, dash));
  const std::string_view end = text.substr(dash + 1);
  const std::optional<std::uint64_t> last = place_in_content(end);
  if (!first || (!last && !end.empty()) || (last && *last < *first)) return std::nullopt;
  return ByteRange{*first, last};
}

Result<std::optional<ByteRange>> read_range(const Headers& headers) {
  constexpr std::string_view kOwn = "x-ms-range";
  if (const std::string* const own = find_header(headers, kOwn)) {
    const std::optional<ByteRange> range = parse_range(*own);
    if (!range) return invalid_header(kOwn, "expected bytes=FIRST-LAST or bytes=FIRST-");
    return range;
  }
  const std::string* const common = find_header(headers, "range");
  return common == nullptr ? std::optional<ByteRange>() : parse_range(*common);
}

Result<ContentPart> part_of(const ByteRange& range, std::uint64_t length) {
  if (range.first >= length) return refused("InvalidRange", "the range begins after the end of the content");
  const std::uint64_t last = std::min(range.last.value_or(length - 1), length - 1);
  return ContentPart{range.first, last - range.first + 1};
}

std::string content_range(const ContentPart& part, std::uint64_t length) {
  return "bytes " + std::to_string(part.offset) + "-" + std::to_string(part.offset + part.bytes - 1) + "/" +
         std::to_string(length);
}

Result<RangeChecksum> read_range_checksum(const Headers& headers, bool has_range) {
  constexpr std::string_view kMd5 = "x-ms-range-get-content-md5";
  constexpr std::string_view kCrc = "x-ms-range-get-content-crc64";
  const Result<bool> md5 = flag_header(headers, kMd5);
  if (!md5.ok()) return md5.status();
  const Result<bool> crc = flag_header(headers, kCrc);
  if (!crc.ok()) return crc.status();
  if (!*md5 && !*crc) return RangeChecksum::kNone;
  if (*md5 && *crc) return invalid_header(kCrc, "it cannot be combined with x-ms-range-get-content-md5");
  if (!has_range) return invalid_header(*md5 ? kMd5 : kCrc, "it needs a range");
  return *md5 ? RangeChecksum::kMd5 : RangeChecksum::kCrc64;
}

}  // namespace varve::serve
