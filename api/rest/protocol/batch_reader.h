// Owns: splitting the multipart body of a batch into requests, as leniently as its clients need.
// Must never: interpret the requests. The batch handler interprets them like single requests.
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
  /// The URL as on the request line: an absolute URL or an absolute path, perhaps with a query.
  std::string_view url;
  Headers headers{};
  std::string_view body{};
  /// The Content-ID of the part or of the request in the part. Empty if neither has one.
  std::string content_id{};
};

struct Batch {
  /// Whether the parts belong to a change set. If false, the batch contains one part alone.
  bool is_change_set = false;
  /// At most `parts_max` parts and one more. The reader does not read the parts after that.
  std::vector<BatchPart> parts{};
};

/// Limits of the number and bytes of header lines: of one part including its request, and of all parts together.
inline constexpr std::size_t kPartHeadersMax = 64;
inline constexpr std::size_t kPartHeaderBytesMax = std::size_t{16} << 10;
inline constexpr std::size_t kBatchHeadersMax = 4096;
inline constexpr std::size_t kBatchHeaderBytesMax = std::size_t{512} << 10;
/// The most bytes of a request line: the limit of a single request's line, and some room for a verb.
inline constexpr std::size_t kPartLineBytesMax = std::size_t{33} << 10;

/// Splits the body of a batch. Stops after `parts_max` parts and one more. The reader is as lenient as H-52:
/// - LF alone ends a line, Content-Length may be missing, and the last delimiter may be open.
/// - Text before the first delimiter and after the last one is ignored.
/// - Delimiters end the parts. Lengths in the parts' headers are ignored.
/// - A delimiter counts at the beginning of a line, and directly after the brace that ends a JSON body (H-52).
///
/// Errors: kInvalidArgument (InvalidInput), if the body is not multipart, or a part has no request line or no content.
/// Also if the top level has more than one part, or the header lines exceed the limits above. Source: H-50 to H-52,
///
Result<Batch> read_batch(std::string_view content_type, std::string_view body, std::size_t parts_max);

/// Splits a body whose parts are requests, without a change set, as leniently. Errors: as above. Source: BD-03.
Result<Batch> read_flat_batch(std::string_view content_type, std::string_view body, std::size_t parts_max);

}  // namespace varve::serve
