// Owns: the headers by which a request asks for a part of a blob.
// Must never: know a blob. Its length arrives as a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

/// The bytes from `first` to `last`, both included. Without `last` they go on to the end.
struct ByteRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};
  bool operator==(const ByteRange&) const = default;
};

/// The part of a content that an answer has.
struct ContentPart {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const ContentPart&) const = default;
};

/// Parses `bytes=a-b` or `bytes=a-`. Returns nothing for any other text.
std::optional<ByteRange> parse_range(std::string_view text) noexcept;

/// Returns the range of x-ms-range, else that of Range. A Range of another form counts as none. Errors: kInvalidArgument
/// (InvalidHeaderValue: an x-ms-range of another form). Source: BG-03.
Result<std::optional<ByteRange>> read_range(const Headers& headers);

/// Returns the part of a content of `length` bytes. Errors: kInvalidArgument (InvalidRange: the range begins at the end
/// or after it). Source: BG-03.
Result<ContentPart> part_of(const ByteRange& range, std::uint64_t length);

/// Returns the value of Content-Range: `bytes 0-3/10`.
std::string content_range(const ContentPart& part, std::uint64_t length);

/// The checksum of the part that a read asks for.
enum class RangeChecksum : std::uint8_t { kNone, kMd5, kCrc64 };
/// Returns the checksum of x-ms-range-get-content-md5 and x-ms-range-get-content-crc64. Errors: kInvalidArgument
/// (InvalidHeaderValue: neither `true` nor `false`, both, or without a range). Source: BG-04.
Result<RangeChecksum> read_range_checksum(const Headers& headers, bool has_range);
/// The most bytes of a part with a checksum.
inline constexpr std::uint64_t kChecksumPartMax = std::uint64_t{4} << 20;

}  // namespace varve::serve
