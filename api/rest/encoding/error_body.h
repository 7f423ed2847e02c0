// Owns: error answers as text, in JSON and in XML.
// Must never: choose between JSON and XML. The caller knows the operation, and chooses.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/protocol/wire_error.h"
#include "varve/types.h"

namespace varve::serve {

/// The values of the two lines at the end of every error message.
struct ErrorTrailer {
  std::string_view request_id;
  DateTime time;
};

/// Further elements of an error, as name and text (QE-02).
using ErrorDetails = std::vector<std::pair<std::string, std::string>>;

/// Returns the error as JSON. Source: E-01.
std::string json_error(const WireError& error, const ErrorTrailer& trailer);
/// Returns the error as XML, with a byte order mark in front. Source: E-02.
std::string xml_error(const WireError& error, const ErrorTrailer& trailer);
/// Returns the error in the XML of queues. Source: QE-01, QE-02.
std::string storage_xml_error(const WireError& error, const ErrorTrailer& trailer, const ErrorDetails& details);

}  // namespace varve::serve
