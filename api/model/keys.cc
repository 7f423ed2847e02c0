// Owns: the construction of keys (keys.h).
// Must never: write two texts alike, or let an escape change the order.
//
// An escape keeps the order for this reason. It replaces a forbidden character with the nearest allowed character below
// it, followed by the highest code unit. Any other text that begins with the allowed character sorts before that. The
// lowest characters have no allowed character below them. They share the lead `"`, which is therefore escaped too.
#include "varve/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::size_t kTicksDigits = 19;
constexpr std::string_view kHex = "0123456789ABCDEF";

/// The last of the characters that are written with the lead kLowLead.
constexpr unsigned char kLowLast = '#';
constexpr char kLowLead = '"';
constexpr std::string_view kHighest = "\xEF\xBF\xBF";      // U+FFFF
constexpr std::string_view kNextHighest = "\xEF\xBF\xBE";  // U+FFFE
/// The lead of U+007F to U+009F.
constexpr char kDeleteLead = '~';

struct Follower {
  char allowed;
  char forbidden;  // its successor
};
constexpr std::array<Follower, 3> kFollowers = {{{'.', '/'}, {'>', '?'}, {'[', '\\'}}};

std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

void append_hex(std::string& out, unsigned value) {
  out.push_back(kHex[value >> 4]);
  out.push_back(kHex[value & 15U]);
}

/// Returns the value of the two leading hexadecimal digits, in the spelling of append_hex() only.
std::optional<unsigned> read_hex(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const std::size_t high = kHex.find(text[0]);
  const std::size_t low = kHex.find(text[1]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(high << 4 | low);
}

/// Returns the bytes of the first character. The text must be valid UTF-8.
std::string_view first_character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  return text.substr(0, byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4);
}

/// Returns a character from U+007F to U+009F, or nothing.
std::optional<unsigned> delete_control(std::string_view character) {
  if (character == "\x7F") return 0x7FU;
  if (character.size() == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) <= 0x9F) {
    return static_cast<unsigned char>(character[1]);
  }
  return std::nullopt;
}

std::string delete_control_text(unsigned value) {
  return value == 0x7F ? std::string("\x7F") : std::string{'\xC2', static_cast<char>(value)};
}

void append_escaped(std::string& out, std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (first <= kLowLast) {
    out.push_back(kLowLead);
    append_hex(out, first);
    return;
  }
  if (const std::optional<unsigned> control = delete_control(character)) {
    out.push_back(kDeleteLead);
    out.append(kHighest);
    append_hex(out, *control);
    return;
  }
  if (character == kHighest) {
    out.append(kNextHighest).append(kHighest);
    return;
  }
  for (const Follower& follower : kFollowers) {
    if (character.front() != follower.forbidden) continue;
    out.push_back(follower.allowed);
    out.append(kHighest);
    return;
  }
  out.append(character);
}

/// Removes the first character, with its escape, from `key`. Returns false if escape_key() never writes it.
bool take_unescaped(std::string_view& key, std::string& out) {
  const std::string_view character = first_character(key);
  key.remove_prefix(character.size());
  const auto first = static_cast<unsigned char>(character.front());
  if (character.front() == kLowLead) {
    const std::optional<unsigned> value = read_hex(key);
    if (!value || *value > kLowLast) return false;
    out.push_back(static_cast<char>(*value));
    key.remove_prefix(2);
    return true;
  }
  if (first <= kLowLast || character == kHighest || delete_control(character)) return false;
  for (const Follower& follower : kFollowers) {
    if (character.front() == follower.forbidden) return false;
  }
  if (!key.starts_with(kHighest)) {
    out.append(character);
    return true;
  }
  key.remove_prefix(kHighest.size());
  if (character == kNextHighest) {
    out.append(kHighest);
    return true;
  }
  if (character.front() == kDeleteLead) {
    const std::optional<unsigned> value = read_hex(key);
    if (!value || *value < 0x7F || *value > 0x9F) return false;
    out.append(delete_control_text(*value));
    key.remove_prefix(2);
    return true;
  }
  for (const Follower& follower : kFollowers) {
    if (character.front() != follower.allowed) continue;
    out.push_back(follower.forbidden);
    return true;
  }
  return false;
}

Status not_escaped(std::string_view key) {
  return service_error::invalid_input("the key " + quoted(key) + " was not made by escape_key()");
}

Status append_part(std::string& key, std::string_view part) {
  Result<std::string> escaped = escape_key(part);
  if (!escaped.ok()) return escaped.status();
  key.append(*escaped);
  return Status();
}

}  // namespace

Result<std::string> zero_padded(std::uint64_t number, std::size_t digits) {
  std::string text = padded(number, digits);
  if (text.size() <= digits) return text;
  return service_error::invalid_input(text + " has more than " + std::to_string(digits) + " digits");
}

std::string ascending_ticks(DateTime time) {
  return padded(std::min(time.ticks, limits::kDateTimeTicksMax), kTicksDigits);
}

std::string inverted_ticks(DateTime time) {
  return padded(limits::kDateTimeTicksMax - std::min(time.ticks, limits::kDateTimeTicksMax), kTicksDigits);
}

Result<DateTime> time_of_inverted_ticks(std::string_view text) {
  std::uint64_t ticks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ticks);
  const bool whole = text.size() == kTicksDigits && error == std::errc() && end == text.data() + text.size();
  if (whole && ticks <= limits::kDateTimeTicksMax) return DateTime{limits::kDateTimeTicksMax - ticks};
  return service_error::invalid_input(quoted(text) +
                                      " is not an inverted time; expected the 19 digits that inverted_ticks() returns");
}

Result<std::string> escape_key(std::string_view text) {
  if (!format::is_valid_utf8(text))
    return service_error::invalid_input("the text " + quoted(text) + " is not valid UTF-8");
  std::string key;
  key.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    append_escaped(key, character);
    text.remove_prefix(character.size());
  }
  return key;
}

Result<std::string> unescape_key(std::string_view key) {
  if (!format::is_valid_utf8(key))
    return service_error::invalid_input("the key " + quoted(key) + " is not valid UTF-8");
  std::string text;
  text.reserve(key.size());
  for (std::string_view left = key; !left.empty();) {
    if (!take_unescaped(left, text)) return not_escaped(key);
  }
  return text;
}

Result<std::string> composite_key(std::initializer_list<std::string_view> parts) {
  if (parts.size() == 0) return service_error::invalid_input("a composite key needs at least one part");
  std::string key;
  for (const std::string_view& part : parts) {
    if (&part != parts.begin()) key.push_back(kKeySeparator);
    if (Status appended = append_part(key, part); !appended.ok()) return appended;
  }
  return key;
}

Result<std::string> composite_prefix(std::initializer_list<std::string_view> parts) {
  Result<std::string> key = composite_key(parts);
  if (key.ok()) key->push_back(kKeySeparator);
  return key;
}

Result<std::vector<std::string>> split_composite_key(std::string_view key) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = key.find(kKeySeparator);
    Result<std::string> part = unescape_key(key.substr(0, end));
    if (!part.ok()) return part.status();
    parts.push_back(*std::move(part));
    if (end == std::string_view::npos) return parts;
    key.remove_prefix(end + 1);
  }
}

}  // namespace varve
