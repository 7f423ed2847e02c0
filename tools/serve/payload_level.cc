#include "tools/serve/payload_level.h"

#include "api/names.h"
#include "tools/serve/query_value.h"
#include "tools/serve/wire_error.h"

namespace varve::serve {
namespace {

/// What stands before the separator, trimmed; the rest stays.
std::string_view take(char separator, std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

Result<PayloadLevel> level_of_json(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = take(';', parameters);
    if (take('=', parameter) != "odata") continue;
    const std::string_view level = trimmed(parameter);
    if (level == "nometadata") return PayloadLevel::kNone;
    if (level == "minimalmetadata") return PayloadLevel::kMinimal;
    if (level == "fullmetadata") return PayloadLevel::kFull;
    if (level == "verbose") return refused("JsonVerboseFormatNotSupported", "verbose JSON is not supported");
    return refused("MediaTypeNotSupported", "the odata parameter names no level");
  }
  return PayloadLevel::kMinimal;
}

bool is_any(std::string_view type) noexcept {
  return type == "*/*" || type == "application/*";
}

/// One media type with its parameters, in lower case.
Result<PayloadLevel> level_of(std::string_view media) {
  const std::string_view type = take(';', media);
  if (type == "application/json" || type == "json") return level_of_json(media);
  if (is_any(type)) return PayloadLevel::kMinimal;
  if (type == "application/atom+xml" || type == "atom") {
    return refused("AtomFormatNotSupported", "Atom is not supported; ask for JSON");
  }
  return refused("MediaTypeNotSupported", "no media type that was asked for is supported");
}

}  // namespace

Result<PayloadLevel> choose_level(const std::optional<std::string>& format, const std::string* accept) {
  const std::string asked = lower_case(format ? *format : accept != nullptr ? *accept : "");
  if (trimmed(asked).empty()) return PayloadLevel::kMinimal;
  std::string_view rest = asked;
  Result<PayloadLevel> first = level_of(take(',', rest));
  while (!first.ok() && !rest.empty()) {
    const Result<PayloadLevel> next = level_of(take(',', rest));
    if (next.ok()) return next;
  }
  return first;
}

Result<PayloadLevel> requested_level(const HttpRequest& request) {
  const Result<std::optional<std::string>> format = query_value(request.head.query, "$format");
  if (!format.ok()) return format.status();
  return choose_level(*format, find_header(request.head.headers, "accept"));
}

std::string_view content_type(PayloadLevel level) noexcept {
  switch (level) {
    case PayloadLevel::kNone: return "application/json;odata=nometadata;streaming=true;charset=utf-8";
    case PayloadLevel::kMinimal: return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    case PayloadLevel::kFull: break;
  }
  return "application/json;odata=fullmetadata;streaming=true;charset=utf-8";
}

Status check_json_type(const std::string* content_type) {
  if (content_type == nullptr || trimmed(*content_type).empty()) return Status();
  const std::string lower = lower_case(*content_type);
  std::string_view rest = lower;
  const std::string_view type = take(';', rest);
  if (type == "application/json") return Status();
  if (type == "application/atom+xml") return refused("AtomFormatNotSupported", "Atom is not supported; send JSON");
  return refused("MediaTypeNotSupported", "the body is not said to be JSON");
}

}  // namespace varve::serve
