// Owns: the fields of a log entry and their encoding (log_entry.h).
// Must never: write a field that a reader of the format would split.
#include "tools/serve/analytics/log_entry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "api/model/percent.h"
#include "tools/serve/analytics/request_sizes.h"

namespace varve::serve {
namespace {

constexpr std::array<std::string_view, 3> kServiceNames = {"table", "queue", "blob"};
constexpr std::uint64_t kTicksPerWholeSecond = 10'000'000;
constexpr std::string_view kHiddenSignature = "XXXXX";
/// The end of a path that was cut before its signature.
constexpr std::string_view kCutEnd = "?XXXXX";

/// The memory of a line without a long path or header.
constexpr std::size_t kUsualLineBytes = 512;

/// Returns what replaces a byte that has a meaning in HTML, or a line end. Empty for all others.
constexpr std::string_view html_of(char byte) noexcept {
  switch (byte) {
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '\r': return "&#13;";
    case '\n': return "&#10;";
    default: return {};
  }
}

/// Returns whether a reader would end a field without quotes at the byte.
constexpr bool ends_field(char byte) noexcept {
  return byte == '"' || byte == ';' || byte == '\r' || byte == '\n';
}

/// A property of each byte. One look at it costs less than the comparisons.
using ByteTable = std::array<bool, 256>;

template <typename Has>
constexpr ByteTable table_of(Has has) noexcept {
  ByteTable table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) table[byte] = has(static_cast<char>(byte));
  return table;
}

constexpr ByteTable kHasHtml = table_of([](char byte) { return !html_of(byte).empty(); });
constexpr ByteTable kEndsField = table_of(ends_field);

/// Returns the place of the first byte with the property, or the size of the text.
std::size_t first_with(const ByteTable& table, std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size() && !table[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

/// The fields of an entry, joined by semicolons.
class EntryLine {
 public:
  EntryLine() { line_.reserve(kUsualLineBytes); }
  /// Adds a field, in quotes if it has a byte with a meaning.
  void add(std::string_view field) {
    if (first_with(kEndsField, field) == field.size()) return add_plain(field);
    begin_quoted();
    append_html(field);
    end_quoted();
  }
  /// Adds a field that has no byte with a meaning.
  void add_plain(std::string_view field) {
    begin_field();
    line_ += field;
  }
  void add(std::uint64_t number) {
    begin_field();
    append_number(number);
  }
  /// Adds the value of a header, or an empty field.
  void add(const Headers& headers, std::string_view name) {
    const std::string* const value = find_header(headers, name);
    value == nullptr ? begin_field() : add(std::string_view(*value));
  }
  /// Begins a field in quotes. append_html() adds its parts, and end_quoted() ends it.
  void begin_quoted() {
    begin_field();
    line_ += '"';
  }
  void end_quoted() { line_ += '"'; }
  /// Appends the text without the bytes that have a meaning in HTML, and without line ends.
  void append_html(std::string_view text) {
    for (;;) {
      const std::size_t plain = first_with(kHasHtml, text);
      line_.append(text.data(), plain);
      if (plain == text.size()) return;
      line_ += html_of(text[plain]);
      text.remove_prefix(plain + 1);
    }
  }
  /// Appends to the last field.
  void append_number(std::uint64_t number) {
    std::array<char, 20> digits{};
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    line_.append(digits.data(), end);
  }
  void append_plain(std::string_view text) { line_ += text; }
  std::string take() { return std::move(line_.append(1, '\n')); }

 private:
  void begin_field() {
    if (!line_.empty()) line_ += ';';  // The first field is never empty.
  }
  std::string line_;
};

/// Adds the time with seven digits of the fraction.
void add_time(EntryLine& line, DateTime time) {
  constexpr int kDigits = 7;
  std::uint64_t fraction = time.ticks % kTicksPerWholeSecond;
  std::string text = DateTime{time.ticks - fraction}.to_string();
  std::array<char, kDigits + 2> end{};
  end.front() = '.';
  end.back() = 'Z';
  for (std::size_t digit = kDigits; digit > 0; --digit) {
    end[digit] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  text.pop_back();  // Z
  line.add_plain(text);
  line.append_plain({end.data(), end.size()});
}

std::uint64_t milliseconds_of(std::chrono::nanoseconds time) noexcept {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(milliseconds, 0));
}

/// Returns whether the text has the parameter of a signature, as a whole URL in it may.
bool mentions_signature(std::string_view text) noexcept {
  constexpr std::string_view kParameter = "sig=";
  for (std::size_t at = 0; at + kParameter.size() <= text.size(); ++at) {
    if (text[at + kParameter.size() - 1] != kParameter.back()) continue;
    if (equal_ignoring_case(text.substr(at, kParameter.size()), kParameter)) return true;
  }
  return false;
}

/// Returns the query without signatures, under any spelling of their name.
std::string without_signatures(std::string_view query) {
  std::string shown;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<std::string> decoded = percent_decode(pair);
    const bool is_signature = !decoded || mentions_signature(*decoded);
    shown += shown.empty() ? '?' : '&';
    shown += is_signature ? pair.substr(0, equals) : pair;
    if (is_signature) shown.append("=").append(kHiddenSignature);
  }
  return shown;
}

/// A path, or its part before a signature.
struct ShownPath {
  std::string_view shown;
  bool is_cut = false;
};

/// Returns the path. If a client encoded the `?` before a query with a signature, the path ends there.
ShownPath path_without_signatures(std::string_view path) {
  const std::size_t percent = std::min(path.find("%3F"), path.find("%3f"));
  const std::size_t mark = std::min({percent, path.find('?'), path.size()});
  if (mark == path.size()) return {path};
  const std::optional<std::string> rest = percent_decode(path.substr(mark));
  // The part of a path that was decoded already may have a `%` that begins nothing.
  const bool is_secret = mentions_signature(path.substr(mark)) || (rest && mentions_signature(*rest));
  return is_secret ? ShownPath{path.substr(0, mark), true} : ShownPath{path};
}

void append_path(EntryLine& line, std::string_view path) {
  const ShownPath shown = path_without_signatures(path);
  line.append_html(shown.shown);
  if (shown.is_cut) line.append_plain(kCutEnd);
}

/// Returns the address of the page that made the client ask. It may be that of a blob with a signature.
std::string referrer_of(const Headers& headers) {
  const std::string* const referrer = find_header(headers, "referer");
  if (referrer == nullptr) return "";
  const std::string_view text = *referrer;
  const std::size_t mark = std::min(text.find('?'), text.size());
  const ShownPath path = path_without_signatures(text.substr(0, mark));
  std::string shown(path.shown);
  if (path.is_cut) shown += kCutEnd;
  return mark < text.size() ? shown.append(without_signatures(text.substr(mark + 1))) : shown;
}

void add_url(EntryLine& line, const HttpRequest& request) {
  line.begin_quoted();
  line.append_plain(request.arrival.is_https ? "https://" : "http://");
  line.append_html(host_of(request));
  append_path(line, request.head.path);
  if (!request.head.query.empty()) line.append_html(without_signatures(request.head.query));
  line.end_quoted();
}

/// Returns whether the first part of a path names the account, or its secondary.
bool names_account(std::string_view first, std::string_view account) noexcept {
  return first.starts_with(account) && (first.size() == account.size() || first.substr(account.size()) == "-secondary");
}

/// Adds the decoded path, with the account in front of it.
void add_object_key(EntryLine& line, const RequestFacts& facts) {
  std::optional<std::string> decoded;
  std::string_view path = facts.request.head.path;
  if (path.find('%') != path.npos) decoded = percent_decode(path);
  if (decoded) path = *decoded;
  const std::string_view rest = path.substr(std::min<std::size_t>(path.size(), 1));
  const std::string_view first = rest.substr(0, rest.find('/'));
  const std::string_view resource = names_account(first, facts.account) ? rest.substr(first.size()) : path;
  line.begin_quoted();
  line.append_plain("/");
  line.append_html(facts.account);
  append_path(line, resource.empty() ? std::string_view("/") : resource);
  line.end_quoted();
}

/// Returns the conditions of the request: `If-Match=W/"..."`, joined by semicolons.
std::string conditions_of(const Headers& headers) {
  constexpr std::array<std::string_view, 4> kConditions = {"If-Match", "If-None-Match", "If-Modified-Since",
                                                           "If-Unmodified-Since"};
  std::string text;
  for (const std::string_view name : kConditions) {
    const std::string* const value = find_header(headers, name);
    if (value == nullptr) continue;
    text.append(text.empty() ? "" : ";").append(name).append("=").append(*value);
  }
  return text;
}

/// Returns the client's address with its port: `203.0.113.7:4321` or `[::1]:4321`.
std::string client_of(const HttpRequest& request) {
  const std::string& address = request.arrival.client_ip;
  if (request.client_port == 0) return address;
  const bool is_v6 = address.find(':') != std::string::npos;
  std::string client = is_v6 ? "[" + address + "]" : address;
  return client.append(":").append(std::to_string(request.client_port));
}

OperationType type_of(const LoggedExchange& exchange) {
  return operation_type(exchange.facts.named, exchange.service, exchange.facts.request.head.headers);
}

void add_caller(EntryLine& line, const LoggedExchange& exchange, Caller caller) {
  line.add_plain(authentication_type(caller));
  line.add(caller == Caller::kAuthenticated ? std::string_view(exchange.facts.account) : std::string_view());
  line.add(exchange.facts.account);
  line.add_plain(kServiceNames[static_cast<std::size_t>(exchange.service)]);
}

void add_sizes(EntryLine& line, const LoggedExchange& exchange) {
  line.add(header_bytes(exchange.facts.request));
  line.add(exchange.record.bytes_in);
  line.add(header_bytes(exchange.response));
  line.add(exchange.record.bytes_out);
}

}  // namespace

RequestClass class_of(const LoggedExchange& exchange) {
  return request_class(type_of(exchange));
}

bool is_logged(const LoggingProperties& wanted, const LoggedExchange& exchange) {
  const HttpRequest& request = exchange.facts.request;
  const bool has_failed = exchange.response.status >= 400;
  if (has_failed && caller_of(request) == Caller::kAnonymous) return false;
  switch (class_of(exchange)) {
    case RequestClass::kRead: return wanted.read;
    case RequestClass::kWrite: return wanted.write;
    case RequestClass::kDelete: return wanted.remove;
  }
  return false;
}

std::string log_entry(const LoggedExchange& exchange) {
  const HttpRequest& request = exchange.facts.request;
  const Headers& headers = request.head.headers;
  const HttpResponse& response = exchange.response;
  const Caller caller = caller_of(request);
  EntryLine line;
  line.add_plain("1.0");
  add_time(line, exchange.start);
  line.add_plain(operation_type_name(type_of(exchange)));
  line.add_plain(request_status(caller, outcome_of(request, response)));
  line.add(response.status);
  line.add(milliseconds_of(exchange.record.end_to_end));
  line.add(milliseconds_of(exchange.record.duration));
  add_caller(line, exchange, caller);
  add_url(line, request);
  add_object_key(line, exchange.facts);
  line.add(response.headers, "x-ms-request-id");
  line.add(exchange.number);
  line.add(client_of(request));
  line.add(headers, "x-ms-version");
  add_sizes(line, exchange);
  line.add(headers, "content-length");
  line.add(headers, "content-md5");
  line.add(response.headers, "content-md5");
  line.add(response.headers, "etag");
  line.add(response.headers, "last-modified");
  line.add(conditions_of(headers));
  line.add(headers, "user-agent");
  line.add(referrer_of(headers));
  line.add(headers, "x-ms-client-request-id");
  return line.take();
}

std::string log_folder(StorageService service) {
  return std::string(kServiceNames[static_cast<std::size_t>(service)]).append("/");
}

std::string log_folder(StorageService service, DateTime start) {
  std::string date = start.to_string().substr(0, 13);  // 2026-03-03T18
  std::replace_if(
      date.begin(), date.end(), [](char c) { return c == '-' || c == 'T'; }, '/');
  return log_folder(service).append(date).append("00/");
}

std::string log_name(StorageService service, DateTime start, std::uint32_t number) {
  std::array<char, 16> end{};
  std::snprintf(end.data(), end.size(), "%06u.log", number);
  return log_folder(service, start).append(end.data());
}

}  // namespace varve::serve
