// Owns: service properties as the XML that clients send and get.
// Must never: resolve an entity of a document, or take a document that it does not understand whole.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve::serve {

// Minute metrics and CORS are part of the document if the protocol version `knows_cors` (H-11).

/// Numbers and lengths are the store's to judge.
/// Errors: kInvalidArgument (InvalidXmlDocument: no XML, nothing that is known, a child missing, unknown or there
/// twice; UnsupportedXmlNode: something unknown beside what is known; InvalidXmlNodeValue: a value that is none).
/// Source: P-02, P-03, P-10.
Result<ServicePropertiesChange> read_service_properties(std::string_view body, bool knows_cors);
std::string write_service_properties(const ServiceProperties& properties, bool knows_cors);

}  // namespace varve::serve
