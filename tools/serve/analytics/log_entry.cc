// Owns: the fields of a log entry and their encoding (log_entry.h).
// Must never: write a field that a reader of the format would split.
#include "tools/serve/analytics/log_entry.h"

#include <algorithm>
#include <array>
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

/// The memory of a line without a long path or header.
constexpr std::size_t kUsualLineBytes = 512;

/// Returns what replaces a byte that has a meaning in HTML, or a line end. Empty for all others.
std::string_view html_of(char byte) noexcept {
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

/// Appends the text without the bytes that have a meaning in HTML, and without line ends.
void append_html(std::string& line, std::string_view text) {
  std::size_t begun = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view html = html_of(text[at]);
    if (html.empty()) continue;
    line.append(text.substr(begun, at - begun)).append(html);
    begun = at + 1;
  }
  line.append(text.substr(begun));
}

/// Returns whether a reader would end a field without quotes at the byte.
bool ends_field(char byte) noexcept {
  return byte == '"' || byte == ';' || byte == '\r' || byte == '\n';
}

/// The fields of an entry, joined by semicolons.
class EntryLine {
 public:
  EntryLine() { line_.reserve(kUsualLineBytes); }
  /// Adds a field, in quotes if it has a byte with a meaning.
  void add(std::string_view field) {
    if (std::any_of(field.begin(), field.end(), ends_field)) return add_quoted(field);
    begin_field();
    line_ += field;
  }
  /// Adds a field that is always in quotes.
  void add_quoted(std::string_view field) {
    begin_field();
    line_ += '"';
    append_html(line_, field);
    line_ += '"';
  }
  void add(std::uint64_t number) { add(std::string_view(std::to_string(number))); }
  /// Adds the value of a header, or an empty field.
  void add(const Headers& headers, std::string_view name) {
    const std::string* const value = find_header(headers, name);
    add(value == nullptr ? std::string_view() : std::string_view(*value));
  }
  std::string take() { return std::move(line_.append(1, '\n')); }

 private:
  void begin_field() {
    if (!is_first_) line_ += ';';
    is_first_ = false;
  }
  std::string line_;
  bool is_first_ = true;
};

/// Returns the time with seven digits of the fraction.
std::string time_with_fraction(DateTime time) {
  const std::uint64_t fraction = time.ticks % kTicksPerWholeSecond;
  std::string text = DateTime{time.ticks - fraction}.to_string();
  text.pop_back();  // Z
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), ".%07uZ", static_cast<unsigned>(fraction));
  return text.append(digits.data());
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

/// Returns the path. If a client encoded the `?` before a query with a signature, the path ends there.
std::string path_without_signatures(std::string_view path) {
  const std::size_t mark = std::min({path.find("%3F"), path.find("%3f"), path.find('?'), path.size()});
  const std::optional<std::string> rest = percent_decode(path.substr(mark));
  // The part of a path that was decoded already may have a `%` that begins nothing.
  const bool is_secret = mentions_signature(path.substr(mark)) || (rest && mentions_signature(*rest));
  std::string shown(is_secret ? path.substr(0, mark) : path);
  return is_secret ? shown.append("?").append(kHiddenSignature) : shown;
}

/// Returns the address of the page that made the client ask. It may be that of a blob with a signature.
std::string referrer_of(const Headers& headers) {
  const std::string* const referrer = find_header(headers, "referer");
  if (referrer == nullptr) return "";
  const std::string_view text = *referrer;
  const std::size_t mark = std::min(text.find('?'), text.size());
  std::string shown = path_without_signatures(text.substr(0, mark));
  return mark < text.size() ? shown.append(without_signatures(text.substr(mark + 1))) : shown;
}

std::string url_of(const HttpRequest& request) {
  std::string url(request.arrival.is_https ? "https://" : "http://");
  url.append(host_of(request)).append(path_without_signatures(request.head.path));
  return url.append(without_signatures(request.head.query));
}

/// Returns the decoded path, with the account in front of it.
std::string object_key(const RequestFacts& facts) {
  const std::string path = percent_decode(facts.request.head.path).value_or(facts.request.head.path);
  const std::string_view rest = std::string_view(path).substr(std::min<std::size_t>(path.size(), 1));
  const std::string_view first = rest.substr(0, rest.find('/'));
  const bool has_account = first == facts.account || first == facts.account + "-secondary";
  const std::string_view resource = has_account ? rest.substr(first.size()) : std::string_view(path);
  std::string key = "/" + facts.account;
  return key.append(resource.empty() ? "/" : path_without_signatures(resource));
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
std::string client_of(const LoggedExchange& exchange) {
  const std::string& address = exchange.facts.request.arrival.client_ip;
  if (exchange.facts.request.client_port == 0) return address;
  const bool is_v6 = address.find(':') != std::string::npos;
  return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(exchange.facts.request.client_port);
}

OperationType type_of(const LoggedExchange& exchange) {
  return operation_type(exchange.facts.named, exchange.service, exchange.facts.request.head.headers);
}

void add_caller(EntryLine& line, const LoggedExchange& exchange, Caller caller) {
  line.add(authentication_type(caller));
  line.add(caller == Caller::kAuthenticated ? std::string_view(exchange.facts.account) : std::string_view());
  line.add(exchange.facts.account);
  line.add(kServiceNames[static_cast<std::size_t>(exchange.service)]);
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
  line.add("1.0");
  line.add(time_with_fraction(exchange.start));
  line.add(operation_type_name(type_of(exchange)));
  line.add(request_status(caller, outcome_of(request, response)));
  line.add(response.status);
  line.add(milliseconds_of(exchange.record.end_to_end));
  line.add(milliseconds_of(exchange.record.duration));
  add_caller(line, exchange, caller);
  line.add_quoted(url_of(request));
  line.add_quoted(object_key(exchange.facts));
  line.add(response.headers, "x-ms-request-id");
  line.add(exchange.number);
  line.add(client_of(exchange));
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
