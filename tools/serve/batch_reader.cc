#include "tools/serve/batch_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/names.h"
#include "api/service_error.h"

namespace varve::serve {
namespace {

constexpr std::size_t kBoundaryCharactersMax = 200;
constexpr std::size_t kNone = std::string_view::npos;
/// Of a part, as clients write it.
constexpr std::size_t kUsualHeaders = 6;

Status refuse(std::string_view what) {
  return service_error::invalid_input(what);
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == kNone;
}

/// The next line without its end.
std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The boundary that a Content-Type names, if it is multipart/mixed.
std::optional<std::string_view> boundary_of(std::string_view content_type) {
  if (!lower_case(trimmed(content_type)).starts_with("multipart/mixed")) return std::nullopt;
  const std::size_t place = lower_case(content_type).find("boundary=");
  if (place == kNone) return std::nullopt;
  std::string_view value = trimmed(content_type.substr(place + std::string_view("boundary=").size()));
  if (value.starts_with('"')) {
    value = value.substr(1, std::min(value.find('"', 1), value.size()) - 1);
  } else {
    value = trimmed(value.substr(0, value.find(';')));
  }
  if (value.empty() || value.size() > kBoundaryCharactersMax) return std::nullopt;
  return value;
}

/// Where the delimiter begins next, from `from` on. What only begins like it is none.
std::size_t find_delimiter(std::string_view body, const std::string& delimiter, std::size_t from) noexcept {
  for (std::size_t place = body.find(delimiter, from); place != kNone; place = body.find(delimiter, place + 1)) {
    const std::string_view behind = body.substr(place + delimiter.size());
    if (behind.empty() || behind.starts_with("--") || is_blank(behind.substr(0, 1))) return place;
  }
  return kNone;
}

/// What stands between the delimiters, without what is blank.
Result<std::vector<std::string_view>> split(std::string_view body, std::string_view boundary) {
  const std::string delimiter = "--" + std::string(boundary);
  std::vector<std::string_view> parts;
  std::size_t place = find_delimiter(body, delimiter, 0);
  if (place == kNone) return refuse("the boundary of the multipart body is not in it");
  while (place != kNone) {
    const std::size_t begin = place + delimiter.size();
    if (body.substr(begin).starts_with("--")) break;  // what follows is for nobody
    place = find_delimiter(body, delimiter, begin);
    std::string_view part = body.substr(begin, place == kNone ? kNone : place - begin);
    if (!is_blank(take_line(part))) return refuse("a delimiter has text behind it");
    if (!is_blank(part)) parts.push_back(part);
  }
  return parts;
}

/// Up to the empty line behind them. `rest` goes on behind that.
Result<Headers> take_headers(std::string_view& rest) {
  Headers headers;
  headers.reserve(kUsualHeaders);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (trimmed(line).empty()) break;
    const std::size_t colon = line.find(':');
    const bool has_control =
        std::any_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' ' && c != '\t'; });
    if (colon == kNone || colon == 0 || has_control) return refuse("a header of a part is not written Name: value");
    headers.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return headers;
}

std::string_view value_of(const Headers& headers, std::string_view name) noexcept {
  const std::string* const value = find_header(headers, name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

/// `POST URL HTTP/1.1`; of a URL with spaces in it, what stands between the first and the last.
Status read_request_line(std::string_view line, BatchPart& part) {
  line = trimmed(line);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == kNone || first == last || !line.substr(last + 1).starts_with("HTTP/")) {
    return refuse("a part of the batch does not begin with a request line");
  }
  part.verb = line.substr(0, first);
  part.url = trimmed(line.substr(first, last - first));
  return Status();
}

/// The request of an application/http part, behind the part's own headers.
Result<BatchPart> read_request(const Headers& part_headers, std::string_view rest) {
  BatchPart part;
  std::string_view line;
  while (!rest.empty() && is_blank(line)) line = take_line(rest);
  if (Status read = read_request_line(line, part); !read.ok()) return read;
  Result<Headers> headers = take_headers(rest);
  if (!headers.ok()) return headers.status();
  part.headers = *std::move(headers);
  part.body = rest.substr(0, rest.find_last_not_of("\r\n") + 1);
  part.content_id = value_of(part_headers, "content-id");
  if (part.content_id.empty()) part.content_id = value_of(part.headers, "content-id");
  return part;
}

/// A part that must hold one request.
Result<BatchPart> read_part(std::string_view text) {
  const Result<Headers> headers = take_headers(text);
  if (!headers.ok()) return headers.status();
  constexpr std::string_view kRequestType = "application/http";
  if (!equal_ignoring_case(value_of(*headers, "content-type").substr(0, kRequestType.size()), kRequestType)) {
    return refuse("a part of the batch is not application/http");
  }
  return read_request(*headers, text);
}

Result<Batch> read_change_set(std::string_view boundary, std::string_view text) {
  const Result<std::vector<std::string_view>> parts = split(text, boundary);
  if (!parts.ok()) return parts.status();
  Batch batch{true};
  batch.parts.reserve(parts->size());
  for (const std::string_view text_of_part : *parts) {
    Result<BatchPart> part = read_part(text_of_part);
    if (!part.ok()) return part.status();
    batch.parts.push_back(*std::move(part));
  }
  return batch;
}

}  // namespace

Result<Batch> read_batch(std::string_view content_type, std::string_view body) {
  const std::optional<std::string_view> boundary = boundary_of(content_type);
  if (!boundary) return refuse("the batch is not multipart/mixed with a boundary");
  const Result<std::vector<std::string_view>> parts = split(body, *boundary);
  if (!parts.ok()) return parts.status();
  if (parts->size() != 1) return refuse("a batch holds one change set, or one read, and nothing else");
  std::string_view text = parts->front();
  const Result<Headers> headers = take_headers(text);
  if (!headers.ok()) return headers.status();
  if (const auto inner = boundary_of(value_of(*headers, "content-type"))) return read_change_set(*inner, text);
  Result<BatchPart> part = read_part(parts->front());
  if (!part.ok()) return part.status();
  Batch batch;
  batch.parts.push_back(*std::move(part));
  return batch;
}

}  // namespace varve::serve
