// Owns: the quoting of texts in messages (quoted.h).
#include "api/model/quoted.h"

#include "format/keys/sort_key.h"

namespace varve {
namespace {

constexpr std::size_t kShownBytesMax = 64;

bool is_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string quoted(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t shown = text.size();
  if (shown > kShownBytesMax) {
    shown = kShownBytesMax;
    while (shown > 0 && is_continuation(text[shown])) --shown;  // does not cut a character in two
  }
  const bool is_text = format::is_valid_utf8(text.substr(0, shown));
  std::string out = "'";
  for (const char c : text.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte != 0x7F && (byte < 0x80 || is_text);
    if (plain) {
      out.push_back(c);
    } else {
      out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xF]);
    }
  }
  if (shown < text.size()) out.append("...");
  return out.append("'");
}

std::string quoted_keys(std::string_view sort_key) {
  const Result<format::SortKey> key = format::decode_sort_key(sort_key);
  return key.ok() ? quoted(key->partition_key) + ", " + quoted(key->row_key) : std::string("with an unreadable key");
}

}  // namespace varve
