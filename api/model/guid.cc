// Owns: the text form of Guids.
// Must never: reorder bytes. They have the order of the text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/model/ascii.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/types.h"

namespace varve {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kHyphenatedCharacters = 36;

/// Returns whether the form 8-4-4-4-12 has a hyphen before this byte.
constexpr bool has_hyphen_before(std::size_t byte) noexcept {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

std::optional<Guid> read_guid(std::string_view text) noexcept {
  if (text.size() == kHyphenatedCharacters + 2 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, kHyphenatedCharacters);
  }
  const bool hyphens = text.size() == kHyphenatedCharacters;
  Guid guid;
  if (!hyphens && text.size() != 2 * guid.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < guid.bytes.size(); ++i) {
    if (hyphens && has_hyphen_before(i)) {
      if (text.front() != '-') return std::nullopt;
      text.remove_prefix(1);
    }
    const std::optional<unsigned> high = hex_digit(text[0]);
    const std::optional<unsigned> low = hex_digit(text[1]);
    if (!high || !low) return std::nullopt;
    guid.bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
    text.remove_prefix(2);
  }
  return guid;
}

}  // namespace

Result<Guid> Guid::parse(std::string_view text) {
  const std::optional<Guid> guid = read_guid(text);
  if (!guid) return service_error::invalid_input(quoted(text) + " is not a Guid");
  return *guid;
}

std::string Guid::to_string() const {
  std::string out;
  out.reserve(kHyphenatedCharacters);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (has_hyphen_before(i)) out.push_back('-');
    out.push_back(kDigits[bytes[i] >> 4]);
    out.push_back(kDigits[bytes[i] & 0xF]);
  }
  return out;
}

}  // namespace varve
