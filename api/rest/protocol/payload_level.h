// Owns: choosing the level of OData metadata of a JSON answer from the request.
// Must never: use the Content-Type of the request's body. Annotations in bodies are always understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

enum class PayloadLevel : std::uint8_t { kNone, kMinimal, kFull };

/// Chooses the level by `$format` (decoded) if it is given, else by Accept. A missing value and `*/*` mean minimal.
/// From a list, it takes the first known element that the client does not exclude by `q=0`.
/// Errors: kInvalidArgument (AtomFormatNotSupported, JsonVerboseFormatNotSupported, MediaTypeNotSupported).
/// Source: H-40.
Result<PayloadLevel> choose_level(const std::optional<std::string>& format, const std::string* accept);

/// Calls choose_level() with the `$format` and the Accept of a request, or of a part of a batch. If the answer has no
/// OData body, any Accept is accepted. Errors: also kInvalidArgument if the query cannot be decoded.
Result<PayloadLevel> requested_level(const HttpRequest& request, bool answers_with_entity);

/// Returns the Content-Type: `application/json;odata=minimalmetadata;streaming=true;charset=utf-8`. Source: H-21.
std::string_view content_type(PayloadLevel level) noexcept;

/// Checks whether a body of this type can be read as JSON. A missing type means JSON.
/// Errors: kInvalidArgument (AtomFormatNotSupported; MediaTypeNotSupported: another type, no media type, or not in
/// UTF-8).
Status check_json_type(const std::string* content_type);

/// Checks whether a body of this type can be read as XML. Any type is accepted, because clients send several types. Its
/// charset is checked.
/// Errors: kInvalidArgument (MediaTypeNotSupported).
Status check_xml_type(const std::string* content_type);

}  // namespace varve::serve
