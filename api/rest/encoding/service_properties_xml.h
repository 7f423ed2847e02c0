// Owns: service properties as the XML that clients send and receive.
// Must never: resolve an entity of a document, or accept a document that it understands only in part.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve::serve {

// The document contains minute metrics and CORS if the protocol version `knows_cors` (H-11). That of the blob service then
// has DefaultServiceVersion, DeleteRetentionPolicy and StaticWebsite too.

/// Reads service properties. The store checks numbers and lengths. Errors: kUnsupported (NotImplemented: soft delete or the
/// static website is enabled, BZ-01); kInvalidArgument:
/// - InvalidXmlDocument: the body is no XML or has no known element; a child is missing, unknown or given twice.
/// - UnsupportedXmlNode: an unknown element occurs beside known elements.
/// - InvalidXmlNodeValue: a value cannot be parsed.
/// Source: P-02, P-03, P-10, BQ-01.
Result<ServicePropertiesChange> read_service_properties(std::string_view body, bool knows_cors,
                                                        StorageService service = StorageService::kTables);
std::string write_service_properties(const ServiceProperties& properties, bool knows_cors,
                                     StorageService service = StorageService::kTables);
/// Returns the document of a request that changes what `change` sets, and nothing else.
std::string write_properties_change(const ServicePropertiesChange& change);

}  // namespace varve::serve
