// Owns: the header that gives an operator the whole error of a failed request, since status codes merge many errors.
// Must never: be sent to a client that is not an operator: a message may name files.
#pragma once

#include <optional>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/status.h"

namespace varve::serve {

inline constexpr std::string_view kOperatorErrorHeader = "x-varve-error";

/// Adds the header for a failure. Its fields are: code, error string of the table service, index of the operation,
/// errno, message. The message is percent-encoded and cut to 4 KiB.
void add_operator_error(HttpResponse& response, const Status& status);

/// Reads the header. Returns nothing if the answer has none, or if its fields are malformed. `known_error` returns the
/// name with an equal text.
std::optional<Status> read_operator_error(const Headers& headers, ErrorName (*known_error)(std::string_view text));

}  // namespace varve::serve
