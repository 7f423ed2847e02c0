// Owns: reading one flat JSON object: its members in their order, each with its value as it stood there.
// Must never: recurse, take an object or array as a value, or turn a number into one of another kind.
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
  /// Of a text, its characters; of a number, as it was written.
  std::string_view text{};
};

/// How much of an object is read before it is refused.
struct JsonLimits {
  /// Members of any kind, those that counts() passes over among them.
  std::size_t members_max;
  /// Members for which counts() returns true.
  std::size_t counted_max;
  bool (*counts)(const JsonMember& member);
};

/// Moves, but is not copied: its members view a copy of the body, in which they were read in place.
class JsonObject {
 public:
  /// Errors: kInvalidArgument (InvalidInput: not JSON, not an object, not UTF-8, or something nested in it;
  /// TooManyProperties: at the first member above a limit, whatever follows it).
  static Result<JsonObject> read(std::string_view body, const JsonLimits& limits);

  std::span<const JsonMember> members() const noexcept { return members_; }

 private:
  explicit JsonObject(std::string_view body);
  Status read_in_place(const JsonLimits& limits);

  std::unique_ptr<char[]> bytes_;
  std::vector<JsonMember> members_;
};

}  // namespace varve::serve
