// Owns: the multipart body of a batch, taken apart into requests, as leniently as its clients need.
// Must never: understand the requests; they are read as those that come alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/result.h"
#include "tools/serve/message.h"

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
  std::vector<BatchPart> parts{};
};

/// Lenient as H-52 has it: LF alone as line end, no Content-Length, a body with the delimiter right behind it, a last
/// delimiter that is not closed, text before the first and behind the last one. Lengths that parts state are not used:
/// delimiters tell where they end.
/// Errors: kInvalidArgument (InvalidInput: no multipart body, no request line, nothing in it, or more than one part at
/// the top). Source: H-50 to H-52.
Result<Batch> read_batch(std::string_view content_type, std::string_view body);

}  // namespace varve::serve
