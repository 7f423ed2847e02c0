// Owns: the rules for names and keys (names.h).
// Must never: make a rule depend on the locale.
#include "varve/names.h"

#include <algorithm>
#include <array>
#include <span>

#include "api/model/ascii.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/model/unicode_ranges.h"
#include "api/model/usual_text.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr bool is_ascii(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x80;
}

std::string at_byte(std::size_t index) {
  return " at byte " + std::to_string(index);
}

/// Returns whether D-11 forbids the character at `index` of valid UTF-8. U+0080 to U+009F are the bytes C2 80 to C2 9F.
bool is_forbidden_in_key(std::string_view key, std::size_t index) noexcept {
  const auto byte = static_cast<unsigned char>(key[index]);
  if (byte < 0x20 || byte == 0x7F) return true;
  if (byte == '/' || byte == '\\' || byte == '#' || byte == '?') return true;
  return byte == 0xC2 && static_cast<unsigned char>(key[index + 1]) < 0xA0;
}

/// Removes the first character from valid UTF-8 and returns it.
std::uint32_t take_character(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  static constexpr std::array<std::uint32_t, 5> kLeadMask = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t character = lead & kLeadMask[bytes];
  for (std::size_t i = 1; i < bytes; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(bytes);
  return character;
}

bool is_within(std::span<const CharacterRange> ranges, std::uint32_t character) noexcept {
  const auto above =
      std::upper_bound(ranges.begin(), ranges.end(), character,
                       [](std::uint32_t sought, const CharacterRange& range) { return sought < range.first; });
  return above != ranges.begin() && character <= std::prev(above)->last;
}

bool is_identifier(std::string_view name) noexcept {
  bool first = true;
  while (!name.empty()) {
    const char lead = name.front();
    if (is_ascii(lead)) {
      if (!is_letter(lead) && lead != '_' && (first || !is_digit(lead))) return false;
      name.remove_prefix(1);
    } else {
      const std::span<const CharacterRange> allowed =
          first ? std::span<const CharacterRange>(kNameStartRanges) : std::span<const CharacterRange>(kNameRanges);
      if (!is_within(allowed, take_character(name))) return false;
    }
    first = false;
  }
  return !first;
}

}  // namespace

Status check_account_name(std::string_view name) {
  const bool length_fits =
      name.size() >= limits::kAccountNameCharactersMin && name.size() <= limits::kAccountNameCharactersMax;
  if (length_fits && std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || is_digit(c); })) {
    return Status();
  }
  return service_error::invalid_resource_name("the account name " + quoted(name) +
                                              " must be 3 to 24 lower-case letters and digits");
}

Status check_table_name(std::string_view name) {
  if (lower_case(name) == "tables")
    return service_error::invalid_input("the table name 'tables' is reserved; choose another name");
  if (!format::is_valid_utf8(name)) {
    return service_error::invalid_input("the table name " + quoted(name) + " is not valid UTF-8");
  }
  const std::size_t characters = format::utf16_length(name);
  if (characters < limits::kTableNameCharactersMin || characters > limits::kTableNameCharactersMax) {
    return service_error::out_of_range_input("the table name " + quoted(name) + " has " + std::to_string(characters) +
                                             " characters; 3 to 63 are allowed");
  }
  const bool legal = is_letter(name.front()) &&
                     std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
  if (legal) return Status();
  return service_error::invalid_resource_name("the table name " + quoted(name) +
                                              " must be a letter followed by letters and digits");
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Status check_key_characters(std::string_view key, std::string_view which, KeyUse use) {
  if (is_plain_key(key)) return Status();
  if (!format::is_valid_utf8(key)) {
    return service_error::invalid_input(std::string(which) + " " + quoted(key) + " is not valid UTF-8");
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (!is_forbidden_in_key(key, i)) continue;
    const std::string message = std::string(which) + " " + quoted(key) + " has a forbidden character" + at_byte(i) +
                                "; /, \\, #, ? and control characters are not allowed in keys";
    const bool separator = key[i] == '/' || key[i] == '\\';
    return separator && use != KeyUse::kInsert ? service_error::invalid_input(message)
                                               : service_error::out_of_range_input(message);
  }
  return Status();
}

bool is_key_too_long(std::string_view key, const StoreLimits& limits) noexcept {
  if (key.size() > StoreLimits::kKeyBytesMax) return true;
  return key.size() > limits.key_code_units_max && format::utf16_length(key) > limits.key_code_units_max;
}

Status check_written_key(std::string_view key, std::string_view which, KeyUse use, const StoreLimits& limits) {
  if (key.size() <= std::min<std::size_t>(limits.key_code_units_max, StoreLimits::kKeyBytesMax) && is_plain_key(key)) {
    return Status();  // Each of its bytes is a code unit.
  }
  if (Status checked = check_key_characters(key, which, use); !checked.ok()) return checked;
  if (!is_key_too_long(key, limits)) return Status();
  return service_error::property_value_too_large(
      std::string(which) + " " + quoted(key) + " has " + std::to_string(format::utf16_length(key)) +
      " UTF-16 code units; at most " + std::to_string(limits.key_code_units_max) + " are allowed");
}

Status check_property_name(std::string_view name) {
  const bool length_fits = name.size() <= limits::kPropertyNameCodeUnitsMax;
  if (length_fits && is_ascii_identifier(name)) return Status();
  if (!format::is_valid_utf8(name)) {
    return service_error::invalid_input("the property name " + quoted(name) + " is not valid UTF-8");
  }
  if (!length_fits && format::utf16_length(name) > limits::kPropertyNameCodeUnitsMax) {
    return service_error::property_name_too_long("the property name " + quoted(name) + " has " +
                                                 std::to_string(format::utf16_length(name)) +
                                                 " UTF-16 code units; at most 255 are allowed");
  }
  if (is_identifier(name)) return Status();
  return service_error::property_name_invalid("the property name " + quoted(name) +
                                              " must be an identifier: a letter or _, then letters, digits and _");
}

}  // namespace varve
