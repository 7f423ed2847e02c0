#include "api/rest/service/storage_call.h"

#include <string>

#include "api/rest/protocol/wire_error.h"

namespace varve::serve {

HttpResponse storage_failure(const Status& status, const ErrorTrailer& trailer, const ErrorDetails& details,
                             std::string_view realm) {
  const WireError error = wire_error(status);
  HttpResponse response;
  response.status = error.status;
  response.with("Content-Type", "application/xml").with("x-ms-error-code", error.code);
  if (error.status == 401) {
    response.with("WWW-Authenticate", "SharedKey realm=\"" + std::string(realm) + "\"");
  }
  response.body = storage_xml_error(error, trailer, details);
  return response;
}

}  // namespace varve::serve
