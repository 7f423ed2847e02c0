#include "tools/varve/rows/not_utf8.h"

#include <algorithm>
#include <string>

#include "format/keys/sort_key.h"

namespace varve::tool {

namespace {

constexpr std::size_t kCharacterBytesMax = 4;
constexpr std::size_t kShownBytes = 40;

/// Returns the offset of the first byte that begins no character.
std::size_t first_fault(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t size = 1;
    const std::size_t size_max = std::min(kCharacterBytesMax, text.size() - at);
    while (size <= size_max && !format::is_valid_utf8(text.substr(at, size))) ++size;
    if (size > size_max) return at;
    at += size;
  }
  return at;
}

}  // namespace

Status not_utf8(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t at = first_fault(text);
  const auto byte = static_cast<unsigned char>(at < text.size() ? text[at] : '\0');
  const std::size_t begin = at > kShownBytes ? at - kShownBytes : 0;
  std::string before;
  for (const char c : text.substr(begin, at - begin)) before += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  while (!format::is_valid_utf8(before)) before.erase(0, 1);  // the begin of the piece cut a character
  return Status::invalid_argument("not UTF-8 at byte " + std::to_string(at + 1) + ", 0x" +
                                  std::string{kDigits[byte >> 4], kDigits[byte & 15]} +
                                  (before.empty() ? "" : " after \"" + before + "\"") +
                                  "; name the encoding of the file, such as --encoding windows-1252");
}

}  // namespace varve::tool
