#include "tools/serve/watch/log_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "api/model/percent.h"

namespace varve::serve {
namespace {

constexpr std::size_t kTargetMax = 512;
constexpr std::size_t kVerbMax = 16;

/// The harmless parameters: those of queries and of the status page, and those of a signature except the signature
/// itself.
constexpr std::array<std::string_view, 34> kHarmless = {"$filter",
                                                        "$format",
                                                        "$orderby",
                                                        "$select",
                                                        "$skip",
                                                        "$top",
                                                        "NextPartitionKey",
                                                        "NextRowKey",
                                                        "NextTableName",
                                                        "comp",
                                                        "epk",
                                                        "erk",
                                                        "restype",
                                                        "se",
                                                        "si",
                                                        "sip",
                                                        "sp",
                                                        "spk",
                                                        "spr",
                                                        "srk",
                                                        "srt",
                                                        "ss",
                                                        "st",
                                                        "sv",
                                                        "timeout",
                                                        "tn",
                                                        "api-version",
                                                        "$count",
                                                        "account",
                                                        "table",
                                                        "filter",
                                                        "continuation",
                                                        "top",
                                                        "backward"};

bool is_printable(char byte) noexcept {
  return byte > ' ' && byte < '\x7f';
}

void append_printable(std::string& line, std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char byte : text) {
    if (is_printable(byte)) {
      line += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    line.append(1, '%').append(1, kDigits[value >> 4]).append(1, kDigits[value & 15]);
  }
}

bool is_harmless(std::string_view name) {
  const std::optional<std::string> decoded = percent_decode(name);
  return decoded && std::find(kHarmless.begin(), kHarmless.end(), *decoded) != kHarmless.end();
}

/// Appends the text up to a second `?`, plain or encoded. The client meant the text after it as a query, so it is
/// hidden.
void append_to_mark(std::string& line, std::string_view text) {
  const std::size_t end = std::min({text.find("%3F"), text.find("%3f"), text.find_first_of("?&"), text.size()});
  append_printable(line, text.substr(0, std::min(end, kTargetMax + 1)));
  if (end < text.size()) line += "***";
}

void append_parameter(std::string& line, std::string_view pair) {
  const std::size_t equals = pair.find('=');
  const std::string_view name = pair.substr(0, equals);
  if (is_harmless(name)) return append_to_mark(line, pair);
  // If a parameter has no `=`, its name may be a secret value. So the name is hidden too.
  if (equals != std::string_view::npos) append_printable(line, name);
  line += equals == std::string_view::npos ? "***" : "=***";
}

std::string cut(std::string text, std::size_t size_max) {
  if (text.size() > size_max) text.replace(size_max, std::string::npos, "...");
  return text;
}

}  // namespace

std::string logged_target(const security::Request& head) {
  std::string line;
  append_to_mark(line, head.path);
  std::string_view query = head.query;
  char mark = '?';
  while (!query.empty() && line.size() <= kTargetMax) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    line += mark;
    mark = '&';
    append_parameter(line, pair);
  }
  return cut(std::move(line), kTargetMax);
}

LoggedRequest logged_request(const HttpRequest& request) {
  std::string verb;
  append_printable(verb, std::string_view(request.head.verb).substr(0, kVerbMax));
  return {request.arrival.client_ip, std::move(verb), logged_target(request.head)};
}

std::string log_text(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response) {
  const std::string* const code = find_header(response.headers, "x-ms-error-code");
  const std::string* const id = find_header(response.headers, "x-ms-request-id");
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%.3f", std::chrono::duration<double, std::milli>(record.duration).count());
  std::string line = request.client + " " + request.verb + " " + request.target + " ";
  line.append(operation_name(record.operation)).append(" ").append(std::to_string(record.status)).append(" ");
  line.append(code == nullptr ? "-" : *code).append(" ");
  line.append(std::to_string(record.bytes_in)).append(" B in, ");
  line.append(std::to_string(record.bytes_out)).append(" B out, ").append(time.data()).append(" ms, id ");
  return line.append(id == nullptr ? "-" : *id);
}

}  // namespace varve::serve
