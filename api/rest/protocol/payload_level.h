// Owns: how much of OData a JSON answer carries, as the request asks for it.
// Must never: look at how the request's own body says it is written; annotations are always understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/result.h"

namespace varve::serve {

enum class PayloadLevel : std::uint8_t { kNone, kMinimal, kFull };

/// By `$format` (decoded) if it is there, else by Accept; nothing and `*/*` are minimal. Of a list, the first that is
/// known and that the client does not exclude by `q=0`.
/// Errors: kInvalidArgument (AtomFormatNotSupported, JsonVerboseFormatNotSupported, MediaTypeNotSupported).
/// Source: H-40.
Result<PayloadLevel> choose_level(const std::optional<std::string>& format, const std::string* accept);

/// choose_level for the `$format` and the Accept of a request, or of a part of a batch. Where no OData body answers the
/// request, any Accept is taken. Errors: also kInvalidArgument of a query that cannot be decoded.
Result<PayloadLevel> requested_level(const HttpRequest& request, bool answers_with_entity);

/// `application/json;odata=minimalmetadata;streaming=true;charset=utf-8`. Source: H-21.
std::string_view content_type(PayloadLevel level) noexcept;

/// Whether a body of this type can be read as JSON; a missing one is taken for it.
/// Errors: kInvalidArgument (AtomFormatNotSupported, MediaTypeNotSupported: another type, none, or not in UTF-8).
Status check_json_type(const std::string* content_type);

/// Whether a body of this type can be read as XML. Any type is taken, as clients send several; its charset is judged.
/// Errors: kInvalidArgument (MediaTypeNotSupported).
Status check_xml_type(const std::string* content_type);

}  // namespace varve::serve
