// Owns: reading one flat JSON object: its members in their order, each with its value as it stood there.
// Must never: recurse, take an object or array as a value, or turn a number into one of another kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/result.h"

namespace varve::serve {

enum class JsonKind : std::uint8_t { kNull, kTrue, kFalse, kNumber, kText };

struct JsonMember {
  std::string name;
  JsonKind kind = JsonKind::kNull;
  /// Of a text, its characters; of a number, as it was written.
  std::string text{};
};

/// Errors: kInvalidArgument (InvalidInput: not JSON, not an object, not UTF-8, or something nested in it).
Result<std::vector<JsonMember>> read_members(std::string_view body);

}  // namespace varve::serve
