// Owns: the multipart body of a batch, taken apart into requests, as leniently as its clients need.
// Must never: understand the requests; they are read as those that come alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

/// One inner request. Its URL and body view the body of the batch.
struct BatchPart {
  std::string verb;
  /// As on its request line: an absolute URL or an absolute path, perhaps with a query.
  std::string_view url;
  Headers headers{};
  std::string_view body{};
  /// Of the part or of the request in it; empty where there is none.
  std::string content_id{};
};

struct Batch {
  /// Whether the parts stand in a change set, rather than one alone.
  bool is_change_set = false;
  /// No more than were asked for, and one: what follows was not read.
  std::vector<BatchPart> parts{};
};

/// Header lines of one part, those of its request included, and of all parts together: their number and their bytes.
inline constexpr std::size_t kPartHeadersMax = 64;
inline constexpr std::size_t kPartHeaderBytesMax = std::size_t{16} << 10;
inline constexpr std::size_t kBatchHeadersMax = 4096;
inline constexpr std::size_t kBatchHeaderBytesMax = std::size_t{512} << 10;
/// A request line: what a request may have that comes alone, and some room for a verb.
inline constexpr std::size_t kPartLineBytesMax = std::size_t{33} << 10;

/// Lenient as H-52 has it: LF alone as line end, no Content-Length, a last delimiter that is not closed, text before
/// the first and behind the last one. Lengths that parts state are not used: delimiters tell where they end. A
/// delimiter counts at the beginning of a line, and behind the brace that ends a JSON body without a line end
/// (H-52). Stops behind `parts_max` parts and one more. Errors: kInvalidArgument (InvalidInput: no multipart body, no
/// request line, nothing in it, more than one part at the top, or more header lines than the limits above). Source:
/// H-50 to H-52, X-23.
Result<Batch> read_batch(std::string_view content_type, std::string_view body, std::size_t parts_max);

}  // namespace varve::serve
