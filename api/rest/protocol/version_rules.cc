#include "api/rest/protocol/version_rules.h"

#include <algorithm>
#include <optional>
#include <string>

#include "api/model/service_error.h"
#include "api/rest/protocol/media_type.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "api/security/error.h"

namespace varve::serve {
namespace {

constexpr std::string_view kNewestDataServiceVersion = "3.0";

std::string_view newest_data_service_version(std::string_view version) noexcept {
  if (version >= since::kJson) return kNewestDataServiceVersion;
  return version >= since::kUpsert ? "2.0" : "1.0";
}

/// Returns the number `3.0` of `3.0;NetFx`, or an empty text if there is no number.
std::string_view number_of(std::string_view text) noexcept {
  text = trimmed(text.substr(0, text.find(';')));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return text.size() == 3 && is_digit(text[0]) && text[1] == '.' && is_digit(text[2]) ? text : std::string_view();
}

/// Returns the newest version that both client and server know. Source: section "Request headers".
std::string_view data_service_version(const Headers& headers, std::string_view version) {
  const std::string_view newest = newest_data_service_version(version);
  const std::string* const most = find_header(headers, "maxdataserviceversion");
  const std::string* const given = most != nullptr ? most : find_header(headers, "dataserviceversion");
  return given == nullptr ? newest : std::min(newest, number_of(*given));
}

/// Returns whether an element of the list is JSON, by its type or by the short form of `$format`.
bool names_json(const std::optional<std::string>& list) {
  std::string_view rest = list ? std::string_view(*list) : std::string_view();
  while (!rest.empty()) {
    const std::string_view element = take_list_element(rest);
    const std::optional<MediaType> media = parse_media_type(element);
    if (media ? media->type == "application/json" : equal_ignoring_case(element, "json")) return true;
  }
  return false;
}

}  // namespace

Status check_data_service_version(const Headers& headers, std::string_view version) {
  const std::string* const most = find_header(headers, "maxdataserviceversion");
  const std::string* const given = find_header(headers, "dataserviceversion");
  const bool is_most_known = most == nullptr || !number_of(*most).empty();
  const bool is_given_known =
      given == nullptr ||
      (!number_of(*given).empty() && (most != nullptr || number_of(*given) <= newest_data_service_version(version)));
  if (is_most_known && is_given_known) return Status();
  return refused("InvalidHeaderValue",
                 "DataServiceVersion or MaxDataServiceVersion is not supported by this x-ms-version");
}

Status check_signature_is_known(const security::Request& head, std::string_view version) {
  if (version >= since::kSignatures || find_header(head.headers, "authorization") != nullptr) return Status();
  return security::authentication_failed("this x-ms-version does not support signatures in the query");
}

Status check_content_is_known(const security::Request& head, std::string_view version, bool answers_with_entity) {
  if (version < since::kUpsert) {
    const Result<std::optional<std::string>> selection = query_value(head.query, "$select");
    if (!selection.ok()) return selection.status();
    if (*selection) return service_error::not_implemented("this x-ms-version does not support $select");
  }
  if (version >= since::kJson) return Status();
  const Result<std::optional<std::string>> format = query_value(head.query, "$format");
  if (!format.ok()) return format.status();
  const bool is_json_named = names_json(*format) ||
                             (answers_with_entity && names_json(joined_header(head.headers, "accept"))) ||
                             names_json(joined_header(head.headers, "content-type"));
  return is_json_named ? refused("JsonFormatNotSupported", "this x-ms-version does not support JSON") : Status();
}

bool knows_preferences(const Headers& headers, std::string_view version) {
  return version >= since::kJson && data_service_version(headers, version) >= kNewestDataServiceVersion;
}

}  // namespace varve::serve
