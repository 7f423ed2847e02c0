// Owns: the form of rows of our own (stored_row.h).
// Must never: read past the end of a key.
#include "api/model/stored_row.h"

#include <algorithm>
#include <cassert>

#include "api/model/base64.h"

namespace varve {
namespace {

/// Digits in the order of their characters, so that texts of equal length sort like the bytes that they encode.
constexpr Base64Alphabet kSorted{"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"};

}  // namespace

// Six bits a character, from the highest one on. The last has four bits, and two that are zero.
NumberText::NumberText(std::uint64_t number) noexcept {
  for (std::size_t i = 0; i + 1 < kCharacters; ++i) text_[i] = kSorted.digits[number >> (58 - 6 * i) & 63];
  text_.back() = kSorted.digits[number << 2 & 63];
}

std::optional<std::uint64_t> parse_number_text(std::string_view text) noexcept {
  static constexpr std::array<std::uint8_t, 256> kValues = kSorted.values();
  if (text.size() != NumberText::kCharacters) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == Base64Alphabet::kNoDigit) return std::nullopt;
    if (i + 1 < text.size()) {
      number = number << 6 | value;
    } else if ((value & 3) == 0) {
      return number << 4 | value >> 2;
    }
  }
  return std::nullopt;
}

KindAndNumber::KindAndNumber(char kind, std::uint64_t number) noexcept {
  text_[0] = kind;
  const NumberText text(number);
  const std::string_view digits = text;
  std::copy(digits.begin(), digits.end(), text_.begin() + 1);
}

std::optional<std::uint64_t> parse_kind_and_number(char kind, std::string_view part) noexcept {
  if (part.empty() || part.front() != kind) return std::nullopt;
  return parse_number_text(part.substr(1));
}

std::string stored_row_key(format::TableId table, std::string_view first, std::string_view second) {
  format::SortKeyBuffer key;
  const Status encoded = key.encode(table, first, second);
  assert(encoded.ok());
  (void)encoded;
  return std::string(key.key());
}

std::optional<KeyParts> key_parts_of(std::string_view key) noexcept {
  if (!format::is_framed(key)) return std::nullopt;
  const std::string_view partition = format::partition_of(key);
  return KeyParts{partition.substr(sizeof(format::TableId), partition.size() - sizeof(format::TableId) - 1),
                  key.substr(partition.size(), key.size() - partition.size() - 1)};
}

Ticks RowReader::time(std::string_view name) {
  const auto found = find(name, format::PropertyType::kDateTime);
  return found ? found->as_date_time_ticks() : 0;
}

std::uint32_t RowReader::count(std::string_view name) {
  const auto found = find(name, format::PropertyType::kInt32);
  if (found && found->as_int32() < 0) is_whole_ = false;
  return found ? static_cast<std::uint32_t>(found->as_int32()) : 0;
}

std::int64_t RowReader::number(std::string_view name) {
  const auto found = find(name, format::PropertyType::kInt64);
  return found ? found->as_int64() : 0;
}

std::uint64_t RowReader::length(std::string_view name) {
  const std::int64_t found = number(name);
  if (found < 0) is_whole_ = false;
  return found < 0 ? 0 : static_cast<std::uint64_t>(found);
}

Guid RowReader::guid(std::string_view name) {
  const auto found = find(name, format::PropertyType::kGuid);
  return found ? Guid{found->as_guid()} : Guid();
}

std::string_view RowReader::text(std::string_view name) {
  const auto found = find(name, format::PropertyType::kString);
  return found ? found->value : std::string_view();
}

std::string_view RowReader::bytes(std::string_view name) {
  const auto found = find(name, format::PropertyType::kBinary);
  return found ? found->value : std::string_view();
}

bool RowReader::boolean(std::string_view name) {
  const auto found = find(name, format::PropertyType::kBoolean);
  return found && found->as_boolean();
}

Status RowReader::status(std::string_view what) const {
  if (is_whole_) return Status();
  return Status::corruption("a property of a " + std::string(what) + " is missing or invalid");
}

std::optional<format::PropertyView> RowReader::find(std::string_view name, format::PropertyType type) {
  std::optional<format::PropertyView> found = row_.find(name);
  if (!found || found->type != type) {
    is_whole_ = false;
    return std::nullopt;
  }
  return found;
}

}  // namespace varve
