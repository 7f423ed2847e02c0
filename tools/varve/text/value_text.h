// Owns: property values as text: for the command line, CSV and tables.
// Must never: lose a value: parse_value() reads the output of to_text() back with the same type. A large value alone has
// no such text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/types.h"

namespace varve::tool {

/// Parses "Edm.Int64", "Int64" or "LargeValue". Errors: kInvalidArgument, with the eight names of types that texts have.
Result<PropertyType> parse_type(std::string_view name);

/// Parses "NAME=TYPE" options of a command line.
Result<std::map<std::string, PropertyType>> parse_types(const std::vector<std::string>& definitions);

/// Parses a text as a value of this type. Binary is base64. Errors: kInvalidArgument, which names the accepted format. No
/// text is a large value.
Result<Value> parse_value(PropertyType type, std::string_view text);

/// Returns a text as a value of an inferred type. `true` and `false` are Boolean. Whole numbers are Int32, else Int64.
/// Other numbers are Double. Dates that end in Z are DateTime. Everything else is a String, including texts with
/// leading zeros or a plus sign.
Value infer_value(std::string_view text);

/// Parses "NAME=VALUE" definitions. A name in `types` has that type, and any other name the type that infer_value() gives.
/// Errors: kInvalidArgument (no name, a value of another type, or the name Timestamp, which the store sets).
Result<std::vector<Property>> parse_properties(const std::vector<std::string>& definitions,
                                               const std::map<std::string, PropertyType>& types);

/// Checks that each type belongs to one of the properties. Errors: kInvalidArgument (a type of another name).
Status check_types_used(const std::map<std::string, PropertyType>& types, const std::vector<Property>& properties);

/// What a text has in place of a large value.
enum class LargeValueText : std::uint8_t {
  kDescription,  // its number and its length, for people
  kFileName,     // its number, which is the name of the file with its content
};

/// Returns a text that parse_value() reads, except for a large value.
std::string to_text(const Value& value, LargeValueText large_values = LargeValueText::kDescription);

}  // namespace varve::tool
