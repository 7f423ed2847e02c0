// Owns: the fuzzer of requests to queues: hostile paths, queries and bodies.
// Must never: let a message's text change when it is written and read again.
//
// Input: a path without the account, a line feed, a query, a line feed, a body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/queue/message_limits.h"
#include "api/rest/queues/message_xml.h"
#include "api/rest/queues/queue_routes.h"
#include "api/rest/queues/queue_target.h"

namespace varve::serve {
namespace {

void check_refusal(const Status& status) {
  if (status.code() != Code::kInvalidArgument || status.service_error().empty()) std::abort();
}

std::string_view take_line(std::string_view& input) {
  const std::string_view line = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(line.size() + 1, input.size()));
  return line;
}

/// Writes the text in an answer of a peek, and reads it back as the text of a message.
void check_written_again(const std::string& text) {
  Message message;
  message.text = text;
  std::string xml = write_peeked_messages(std::vector{message});
  const std::size_t begin = xml.find("<QueueMessage>");
  const std::size_t end = xml.rfind("</QueueMessagesList>");
  if (begin == std::string::npos || end == std::string::npos) std::abort();
  const Result<std::optional<std::string>> again = read_message_text(std::string_view(xml).substr(begin, end - begin));
  if (!again.ok() || !*again || **again != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const Result<QueueTarget> target = parse_queue_target(take_line(rest));
  if (!target.ok()) check_refusal(target.status());
  const Result<QueryParameters> parameters = QueryParameters::parse(take_line(rest));
  if (!parameters.ok()) check_refusal(parameters.status());
  if (target.ok() && parameters.ok()) {
    for (const std::string_view verb : {"GET", "PUT", "POST", "DELETE", "HEAD"}) {
      const Result<const QueueRoute*> route = find_queue_route(target->resource, *parameters, verb);
      if (!route.ok()) check_refusal(route.status());
    }
  }
  const Result<std::optional<std::string>> text = read_message_text(rest);
  if (!text.ok()) check_refusal(text.status());
  if (text.ok() && *text && check_message_text(**text, 65'536).ok()) check_written_again(**text);
  return 0;
}

}  // namespace varve::serve
