#include "api/rest/protocol/request_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

#include <openssl/evp.h>

#include "api/model/base64.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/access_policy.h"

namespace varve::serve {
namespace {

constexpr std::string_view kOldestVersion = "2009-09-19";
constexpr std::chrono::seconds kTimeMax{30};
constexpr std::size_t kMd5Bytes = 16;

/// Returns whether the text is a date of the form `YYYY-MM-DD` that every month has. A reading of it takes far longer.
bool is_usual_date(std::string_view text) noexcept {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) return false;
  }
  const std::string_view month = text.substr(5, 2);
  const std::string_view day = text.substr(8, 2);
  return month >= "01" && month <= "12" && day >= "01" && day <= "28";
}

/// Returns whether a request may give only one value of the header: a signature covers all values, and a handler uses
/// one. The names of metadata are judged where they are stored.
bool has_one_value(std::string_view name) noexcept {
  constexpr std::string_view kSingle[] = {"content-type",
                                          "content-md5",
                                          "date",
                                          "dataserviceversion",
                                          "maxdataserviceversion",
                                          "origin",
                                          "access-control-request-method",
                                          "range",
                                          "if-modified-since",
                                          "if-unmodified-since"};
  const auto begins_with = [name](std::string_view start) {
    return equal_ignoring_case(name.substr(0, start.size()), start);
  };
  if (begins_with("x-ms-")) return !begins_with("x-ms-meta-");
  return std::any_of(std::begin(kSingle), std::end(kSingle),
                     [name](std::string_view single) { return equal_ignoring_case(single, name); });
}

}  // namespace

bool is_protocol_version(std::string_view text) {
  if (is_usual_date(text)) return text >= kOldestVersion;
  return text.size() == kOldestVersion.size() && text >= kOldestVersion && parse_access_time(text).ok();
}

Result<std::string> protocol_version(const security::Request& head) {
  Result<std::optional<std::string>> version = query_value(head.query, "api-version");
  if (!version.ok()) return version.status();
  if (const std::string* const header = find_header(head.headers, "x-ms-version"); !*version && header != nullptr) {
    *version = *header;
  }
  if (!*version) version = query_value(head.query, "sv");
  if (!version.ok()) return version.status();
  if (!*version) return std::string(kNewestVersion);
  if (is_protocol_version(**version)) return **version;
  return refused("InvalidHeaderValue", "x-ms-version must be a date from 2009-09-19 on, as YYYY-MM-DD");
}

Result<std::string> effective_verb(std::string_view verb, const Headers& headers) {
  const std::string* const tunnelled = find_header(headers, "x-http-method");
  if (tunnelled == nullptr) return std::string(verb);
  if (count_headers(headers, "x-http-method") > 1) {
    return refused("XMethodIncorrectCount", "X-HTTP-Method must be given once");
  }
  if (verb != "POST") return refused("XMethodNotUsingPost", "X-HTTP-Method is only allowed with POST");
  for (const std::string_view known : {"MERGE", "PATCH", "PUT", "DELETE"}) {
    if (*tunnelled == known) return std::string(known);
  }
  return refused("XMethodIncorrectValue", "X-HTTP-Method must be MERGE, PATCH, PUT or DELETE");
}

Status check_headers_once(const Headers& headers) {
  for (auto header = headers.begin(); header != headers.end(); ++header) {
    const auto is_same_name = [&](const auto& other) { return equal_ignoring_case(other.first, header->first); };
    const auto earlier = std::find_if(headers.begin(), header, is_same_name);
    if (earlier == header || earlier->second == header->second) continue;
    if (has_one_value(header->first))
      return refused("InvalidHeaderValue", "the header " + header->first + " is given twice");
  }
  return Status();
}

Status secondary_is_for_reading() {
  return refused("InsufficientAccountPermissions", "the secondary is read-only; write to the primary address");
}

Result<std::chrono::seconds> request_time_max(std::string_view query) {
  const Result<std::optional<std::string>> text = query_value(query, "timeout");
  if (!text.ok()) return text.status();
  if (!*text) return kTimeMax;
  std::uint32_t seconds = 0;
  const char* const end = (*text)->data() + (*text)->size();
  const auto [stopped, error] = std::from_chars((*text)->data(), end, seconds);
  const bool is_number =
      !(*text)->empty() && stopped == end && (error == std::errc() || error == std::errc::result_out_of_range);
  if (!is_number || (error == std::errc() && seconds == 0)) {
    return refused("InvalidQueryParameterValue", "timeout must be a number of seconds above zero");
  }
  if (error != std::errc()) return kTimeMax;
  return std::min(std::chrono::seconds(seconds), kTimeMax);
}

Status check_body_digest(const HttpRequest& request) {
  const std::string* const text = find_header(request.head.headers, "content-md5");
  if (text == nullptr || text->empty()) return Status();
  const std::optional<std::string> given = decode_base64(*text);
  if (!given || given->size() != kMd5Bytes) return refused("InvalidMd5", "Content-MD5 must be base64 of 16 bytes");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int bytes = 0;
  if (::EVP_Digest(request.body.data(), request.body.size(), digest.data(), &bytes, EVP_md5(), nullptr) != 1) {
    return Status::unsupported("this OpenSSL does not provide MD5").with_service_error("InternalError");
  }
  const bool is_equal = bytes == given->size() &&
                        std::equal(given->begin(), given->end(), digest.begin(), [](char left, unsigned char right) {
                          return static_cast<unsigned char>(left) == right;
                        });
  return is_equal ? Status() : refused("Md5Mismatch", "the body does not match Content-MD5");
}

}  // namespace varve::serve
