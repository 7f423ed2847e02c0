// Owns: property values as text: for the command line, CSV and people.
// Must never: lose a value: what to_text() writes, parse_value() reads back with the same type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/types.h"

namespace varve::tool {

/// "Edm.Int64" or "Int64". Errors: kInvalidArgument, with the eight names.
Result<PropertyType> parse_type(std::string_view name);

/// "NAME=TYPE" of a command line, several times.
Result<std::map<std::string, PropertyType>> parse_types(const std::vector<std::string>& definitions);

/// Text as a value of this type; binary as base64. Errors: kInvalidArgument, saying what the type accepts.
Result<Value> parse_value(PropertyType type, std::string_view text);

/// The type that a text without one has: `true` and `false` Boolean; whole numbers Int32, else Int64; other numbers
/// Double; dates that end in Z DateTime; else String. Texts with leading zeros or a plus sign stay String.
Value infer_value(std::string_view text);

/// As parse_value() reads it.
std::string to_text(const Value& value);

std::string encode_base64(std::string_view bytes);
Result<std::string> decode_base64(std::string_view text);

}  // namespace varve::tool
