#include "api/rest/service/call.h"

#include <utility>

#include "api/rest/protocol/media_type.h"
#include "api/rest/protocol/version_rules.h"
#include "varve/names.h"

namespace varve::serve {

Preference preference_of(const Headers& headers, std::string_view version) {
  const std::optional<std::string> asked = joined_header(headers, "prefer");
  if (!asked || !knows_preferences(headers, version)) return Preference::kNone;
  std::string_view rest = *asked;
  while (!rest.empty()) {
    const std::string lower = lower_case(take_list_element(rest));
    if (lower == "return-no-content") return Preference::kNoContent;
    if (lower == "return-content") return Preference::kContent;
  }
  return Preference::kNone;
}

void add_preference(HttpResponse& response, Preference preference) {
  if (preference == Preference::kNoContent) response.with("Preference-Applied", "return-no-content");
  if (preference == Preference::kContent) response.with("Preference-Applied", "return-content");
}

HttpResponse json_response(std::uint16_t status, PayloadLevel level, std::string body) {
  HttpResponse response;
  response.headers.reserve(kAnswerHeaders);
  response.status = status;
  response.with("Content-Type", content_type(level));
  response.body = std::move(body);
  return response;
}

HttpResponse xml_response(std::string body) {
  HttpResponse response;
  response.with("Content-Type", "application/xml");
  response.body = std::move(body);
  return response;
}

HttpResponse error_response(const Status& status, PayloadLevel level, const ErrorTrailer& trailer, bool is_xml) {
  const WireError error = wire_error(status);
  HttpResponse response;
  if (is_xml) {
    response.with("Content-Type", "application/xml");
    response.body = xml_error(error, trailer);
  } else {
    response = json_response(error.status, level, json_error(error, trailer));
  }
  response.status = error.status;
  response.with("x-ms-error-code", error.code);
  if (error.status == 401) response.with("WWW-Authenticate", "SharedKey realm=\"tables\"");  // S-08
  return response;
}

}  // namespace varve::serve
