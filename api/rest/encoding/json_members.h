// Owns: reading one flat JSON object: its members in their order, each with its value as the body spells it.
// Must never: recurse, accept an object or array as a value, or convert a number to another kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::serve {

enum class JsonKind : std::uint8_t { kNull, kTrue, kFalse, kNumber, kText };

struct JsonMember {
  std::string_view name;
  JsonKind kind = JsonKind::kNull;
  /// The characters of a text, or a number as the body spells it.
  std::string_view text{};
};

/// Limits after which reading stops, and the object is refused.
struct JsonLimits {
  /// The most members of any kind, including members for which counts() returns false.
  std::size_t members_max;
  /// The most members for which counts() returns true.
  std::size_t counted_max;
  bool (*counts)(const JsonMember& member);
};

/// Can be moved, but not copied: its members view a private copy of the body, which was parsed in place.
class JsonObject {
 public:
  /// Reads one object. Errors: kInvalidArgument:
  /// - InvalidInput: the body is not JSON, not an object, not UTF-8, or a value is an object or array.
  /// - TooManyProperties: reported at the first member above a limit, whatever follows it.
  static Result<JsonObject> read(std::string_view body, const JsonLimits& limits);

  std::span<const JsonMember> members() const noexcept { return members_; }

 private:
  explicit JsonObject(std::string_view body);
  Status read_in_place(const JsonLimits& limits);

  std::unique_ptr<char[]> bytes_;
  std::vector<JsonMember> members_;
};

}  // namespace varve::serve
