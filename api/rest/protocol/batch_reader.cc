#include "api/rest/protocol/batch_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/media_type.h"
#include "api/rest/protocol/request_rules.h"

namespace varve::serve {
namespace {

constexpr std::size_t kAbsent = std::string_view::npos;
/// The usual number of headers of a part.
constexpr std::size_t kUsualHeaders = 6;

Status refuse_batch(std::string_view what) {
  return service_error::invalid_input(what);
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == kAbsent;
}

/// Removes and returns the next line, without its line end.
std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Finds the delimiters of one multipart body, front to back. Looks at each byte a fixed number of times.
class Splitter {
 public:
  Splitter(std::string_view body, std::string_view boundary) : body_(body), delimiter_("--" + std::string(boundary)) {}

  /// Finds the first delimiter, after which the parts begin. Returns false if there is none.
  bool enter() {
    find();
    return place_ != kAbsent;
  }
  /// Returns the next part that is not blank, or nothing after the last part. Errors: as read_batch().
  Result<std::optional<std::string_view>> next() {
    while (place_ != kAbsent) {
      const std::size_t begin = place_ + delimiter_.size();
      if (body_.substr(begin).starts_with("--")) break;  // An epilogue has no meaning.
      find();
      std::string_view part = body_.substr(begin, place_ == kAbsent ? kAbsent : place_ - begin);
      if (!is_blank(take_line(part))) return refuse_batch("a delimiter of the batch is followed by text on its line");
      if (!is_blank(part)) return std::optional(part);
    }
    return std::optional<std::string_view>();
  }

 private:
  /// Sets place_ to the next delimiter. Text that only begins like a delimiter is skipped.
  void find() {
    for (place_ = body_.find(delimiter_, from_); place_ != kAbsent; place_ = body_.find(delimiter_, place_ + 1)) {
      std::string_view behind = body_.substr(place_ + delimiter_.size());
      if (behind.starts_with("--")) behind.remove_prefix(2);
      const bool is_whole = is_blank(behind.substr(0, 1));
      if (is_whole && (begins_line(place_) || follows_json(place_))) break;
    }
    if (place_ != kAbsent) from_ = place_ + delimiter_.size();
  }
  bool begins_line(std::size_t place) const noexcept { return place == 0 || body_[place - 1] == '\n'; }

  /// Returns whether a brace outside of a text precedes `place`. A JSON text contains no line end, so the search for
  /// texts can start at the beginning of the line.
  bool follows_json(std::size_t place) noexcept {
    if (body_[place - 1] != '}') return false;
    for (; looked_at_ < place; ++looked_at_) {
      const char c = body_[looked_at_];
      if (c == '\n') {
        is_text_ = false;
      } else if (is_text_ && c == '\\') {
        ++looked_at_;
      } else if (c == '"') {
        is_text_ = !is_text_;
      }
    }
    return !is_text_;
  }

  const std::string_view body_;
  const std::string delimiter_;
  std::size_t from_ = 0;
  std::size_t place_ = kAbsent;
  /// The offset up to which follows_json() has looked, and whether this offset is inside a text.
  std::size_t looked_at_ = 0;
  bool is_text_ = false;
};

/// The header lines and bytes read so far.
struct HeaderBudget {
  std::size_t lines = 0;
  std::size_t bytes = 0;

  Status take(std::size_t line_bytes) {
    ++lines;
    bytes += line_bytes;
    const bool fits = lines <= lines_max && bytes <= bytes_max;
    return fits ? Status() : refuse_batch("the headers of the batch's parts are too many or too long");
  }

  std::size_t lines_max;
  std::size_t bytes_max;
};

struct HeaderBudgets {
  HeaderBudget part{0, 0, kPartHeadersMax, kPartHeaderBytesMax};
  HeaderBudget batch{0, 0, kBatchHeadersMax, kBatchHeaderBytesMax};

  void begin_part() { part = HeaderBudget{0, 0, kPartHeadersMax, kPartHeaderBytesMax}; }
  Status take(std::size_t line_bytes) {
    Status taken = part.take(line_bytes);
    return taken.ok() ? batch.take(line_bytes) : taken;
  }
};

/// Reads header lines up to the empty line. Afterwards `rest` begins after the empty line.
Result<Headers> take_headers(std::string_view& rest, HeaderBudgets& budgets) {
  Headers headers;
  headers.reserve(kUsualHeaders);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (trimmed(line).empty()) break;
    if (Status taken = budgets.take(line.size()); !taken.ok()) return taken;
    const std::size_t colon = line.find(':');
    const bool has_control =
        std::any_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' ' && c != '\t'; });
    if (colon == kAbsent || colon == 0 || has_control)
      return refuse_batch("a header of a part must have the form Name: value");
    headers.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return headers;
}

std::string_view value_of(const Headers& headers, std::string_view name) noexcept {
  const std::string* const value = find_header(headers, name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

bool are_single(const Headers& headers) {
  return check_headers_once(headers).ok();
}

/// Returns whether the part's bytes are its content, without a transfer encoding.
bool is_plain(const Headers& headers) noexcept {
  const std::string_view encoding = value_of(headers, "content-transfer-encoding");
  return encoding.empty() || equal_ignoring_case(encoding, "binary") || equal_ignoring_case(encoding, "7bit") ||
         equal_ignoring_case(encoding, "8bit");
}

bool is_http_version(std::string_view text) noexcept {
  return text == "HTTP/1.1" || text == "HTTP/1.0";
}

/// Parses `POST URL HTTP/1.1`. If the URL contains spaces, it extends from the first space to the last.
Status read_request_line(std::string_view line, BatchPart& part) {
  line = trimmed(line);
  if (line.size() > kPartLineBytesMax) return refuse_batch("the request line of a part is too long");
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == kAbsent || first == last || !is_http_version(line.substr(last + 1))) {
    return refuse_batch("a part of the batch must begin with a request line, such as GET URL HTTP/1.1");
  }
  part.verb = line.substr(0, first);
  part.url = trimmed(line.substr(first, last - first));
  return Status();
}

/// Reads the request of an application/http part. `rest` begins after the part's own headers.
Result<BatchPart> read_request(const Headers& part_headers, std::string_view rest, HeaderBudgets& budgets) {
  BatchPart part;
  std::string_view line;
  while (!rest.empty() && is_blank(line)) line = take_line(rest);
  if (Status read = read_request_line(line, part); !read.ok()) return read;
  Result<Headers> headers = take_headers(rest, budgets);
  if (!headers.ok()) return headers.status();
  if (!are_single(*headers) || find_header(*headers, "transfer-encoding") != nullptr) {
    return refuse_batch("a request of the batch must not have a header twice, or Transfer-Encoding");
  }
  part.headers = *std::move(headers);
  part.body = rest.substr(0, rest.find_last_not_of("\r\n") + 1);
  part.content_id = value_of(part_headers, "content-id");
  if (part.content_id.empty()) part.content_id = value_of(part.headers, "content-id");
  return part;
}

/// Reads the request in `text`, which follows the part's own `headers`.
Result<BatchPart> read_part(const Headers& headers, std::string_view text, HeaderBudgets& budgets) {
  if (!are_single(headers)) return refuse_batch("a part of the batch must not have a header twice");
  const std::optional<MediaType> media = parse_media_type(value_of(headers, "content-type"));
  if (!media || media->type != "application/http")
    return refuse_batch("Content-Type of a part of the batch must be application/http");
  if (!is_plain(headers)) return refuse_batch("Content-Transfer-Encoding of a part must be binary, 7bit or 8bit");
  return read_request(headers, text, budgets);
}

Result<Batch> read_change_set(std::string_view boundary, std::string_view text, std::size_t parts_max,
                              HeaderBudgets& budgets) {
  Batch batch{true};
  Splitter splitter(text, boundary);
  if (!splitter.enter()) {
    if (is_blank(text)) return batch;
    return refuse_batch("the body of the change set does not contain its boundary");
  }
  while (batch.parts.size() <= parts_max) {
    const Result<std::optional<std::string_view>> next = splitter.next();
    if (!next.ok()) return next.status();
    if (!*next) break;
    std::string_view rest = **next;
    budgets.begin_part();
    const Result<Headers> headers = take_headers(rest, budgets);
    if (!headers.ok()) return headers.status();
    Result<BatchPart> part = read_part(*headers, rest, budgets);
    if (!part.ok()) return part.status();
    batch.parts.push_back(*std::move(part));
  }
  return batch;
}

/// Returns the only part of the body.
Result<std::string_view> only_part(std::string_view body, std::string_view boundary) {
  Splitter splitter(body, boundary);
  if (!splitter.enter()) return refuse_batch("the multipart body does not contain its boundary");
  const Result<std::optional<std::string_view>> first = splitter.next();
  if (!first.ok()) return first.status();
  const Result<std::optional<std::string_view>> second = splitter.next();
  if (!second.ok()) return second.status();
  if (!*first || *second) return refuse_batch("a batch must have one change set or one read, and nothing else");
  return **first;
}

}  // namespace

Result<Batch> read_batch(std::string_view content_type, std::string_view body, std::size_t parts_max) {
  const std::optional<std::string> boundary = boundary_of(content_type);
  if (!boundary) return refuse_batch("Content-Type must be multipart/mixed with a boundary of 1 to 70 characters");
  const Result<std::string_view> only = only_part(body, *boundary);
  if (!only.ok()) return only.status();
  std::string_view text = *only;
  HeaderBudgets budgets;
  const Result<Headers> headers = take_headers(text, budgets);
  if (!headers.ok()) return headers.status();
  if (!are_single(*headers)) return refuse_batch("the part of the batch must not have a header twice");
  const std::optional<std::string> inner = boundary_of(value_of(*headers, "content-type"));
  if (inner) return read_change_set(*inner, text, parts_max, budgets);
  Result<BatchPart> part = read_part(*headers, text, budgets);
  if (!part.ok()) return part.status();
  Batch batch;
  batch.parts.push_back(*std::move(part));
  return batch;
}

Result<Batch> read_flat_batch(std::string_view content_type, std::string_view body, std::size_t parts_max) {
  const std::optional<std::string> boundary = boundary_of(content_type);
  if (!boundary) return refuse_batch("Content-Type must be multipart/mixed with a boundary of 1 to 70 characters");
  HeaderBudgets budgets;
  return read_change_set(*boundary, body, parts_max, budgets);
}

}  // namespace varve::serve
