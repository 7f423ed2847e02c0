// Owns: error answers as text, in JSON and in XML.
// Must never: choose between them; who knows the operation does.
#pragma once

#include <string>
#include <string_view>

#include "api/rest/protocol/wire_error.h"
#include "varve/types.h"

namespace varve::serve {

/// What the two lines behind every message say.
struct ErrorTrailer {
  std::string_view request_id;
  DateTime time;
};

/// Source: E-01.
std::string json_error(const WireError& error, const ErrorTrailer& trailer);
/// With a byte order mark in front. Source: E-02.
std::string xml_error(const WireError& error, const ErrorTrailer& trailer);

}  // namespace varve::serve
