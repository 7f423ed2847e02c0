// Owns: the sums of the sizes of headers (request_sizes.h).
// Must never: allocate memory.
#include "tools/serve/analytics/request_sizes.h"

#include <string_view>

namespace varve::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kVersion = "HTTP/1.1";
constexpr std::size_t kStatusDigits = 3;

std::uint64_t bytes_of(const Headers& headers) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& [name, value] : headers) bytes += name.size() + value.size() + 2 + kLineEnd.size();  // ": "
  return bytes + kLineEnd.size();
}

}  // namespace

std::uint64_t header_bytes(const HttpRequest& request) noexcept {
  const security::Request& head = request.head;
  const std::size_t query = head.query.empty() ? 0 : head.query.size() + 1;
  return head.verb.size() + 1 + head.path.size() + query + 1 + kVersion.size() + kLineEnd.size() +
         bytes_of(head.headers);
}

std::uint64_t header_bytes(const HttpResponse& response) noexcept {
  return kVersion.size() + 1 + kStatusDigits + 1 + reason_phrase(response.status).size() + kLineEnd.size() +
         bytes_of(response.headers);
}

}  // namespace varve::serve
