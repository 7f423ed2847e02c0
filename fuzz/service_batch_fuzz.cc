// Owns: the fuzzer of the server's multipart bodies.
// Must never: return a part that the body does not contain.
//
// Input: a Content-Type, a line feed, the body of a batch.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/rest/protocol/batch_reader.h"

namespace varve::serve {

constexpr std::size_t kPartsMax = 3;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const std::string_view body = input.substr(end + 1);
  const Result<Batch> batch = read_batch(input.substr(0, end), body, kPartsMax);
  if (!batch.ok()) {
    if (batch.status().service_error() != "InvalidInput") std::abort();
    return 0;
  }
  if (!batch->is_change_set && batch->parts.size() != 1) std::abort();
  if (batch->parts.size() > kPartsMax + 1) std::abort();
  std::size_t total = 0;
  for (const BatchPart& part : batch->parts) {
    if (part.verb.empty() || body.find(part.body) == std::string_view::npos) std::abort();
    total += part.verb.size() + part.url.size() + part.body.size();
  }
  if (total > body.size()) std::abort();
  return 0;
}

}  // namespace varve::serve
