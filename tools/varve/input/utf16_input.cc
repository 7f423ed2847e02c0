#include "tools/varve/input/utf16_input.h"

#include <algorithm>
#include <cstring>

namespace varve::tool {

namespace {

constexpr std::size_t kReadOfUnits = std::size_t{64} << 10;

bool is_high(std::uint32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(std::uint32_t unit) noexcept {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

TextEncoding encoding_of(std::string_view first_bytes) noexcept {
  using namespace std::string_view_literals;
  if (first_bytes.starts_with("\xFF\xFE\0\0"sv) || first_bytes.starts_with("\0\0\xFE\xFF"sv))
    return TextEncoding::kUtf32;
  if (first_bytes.starts_with("\xFF\xFE")) return TextEncoding::kUtf16Little;
  if (first_bytes.starts_with("\xFE\xFF")) return TextEncoding::kUtf16Big;
  if (first_bytes.size() < 4) return TextEncoding::kUtf8;
  const auto is_zero = [first_bytes](std::size_t at) { return first_bytes[at] == '\0'; };
  if (!is_zero(0) && is_zero(1) && !is_zero(2) && is_zero(3)) return TextEncoding::kUtf16Little;
  if (is_zero(0) && !is_zero(1) && is_zero(2) && !is_zero(3)) return TextEncoding::kUtf16Big;
  return TextEncoding::kUtf8;
}

void Utf16Input::append(std::uint32_t code_point) {
  if (code_point < 0x80) {
    text_ += static_cast<char>(code_point);
    return;
  }
  if (code_point < 0x800) {
    text_ += static_cast<char>(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    text_ += static_cast<char>(0xE0 | code_point >> 12);
    text_ += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
  } else {
    text_ += static_cast<char>(0xF0 | code_point >> 18);
    text_ += static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    text_ += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
  }
  text_ += static_cast<char>(0x80 | (code_point & 0x3F));
}

/// Converts the whole characters of units_. Returns false at a character that is damaged.
bool Utf16Input::expand() {
  const auto unit_at = [this](std::size_t at) {
    const std::uint32_t first = static_cast<unsigned char>(units_[at]);
    const std::uint32_t second = static_cast<unsigned char>(units_[at + 1]);
    return is_little_ ? first | second << 8 : first << 8 | second;
  };
  std::size_t at = 0;
  bool good = true;
  while (units_.size() - at >= 2) {
    const std::uint32_t unit = unit_at(at);
    if (is_high(unit) && units_.size() - at < 4) break;
    const bool is_pair = is_high(unit) && is_low(unit_at(at + 2));
    if ((is_high(unit) || is_low(unit)) && !is_pair) {
      good = false;
      break;
    }
    append(is_pair ? 0x10000 + ((unit - 0xD800) << 10) + (unit_at(at + 2) - 0xDC00) : unit);
    at += is_pair ? 4 : 2;
  }
  units_.erase(0, at);
  offset_ += at;
  return good;
}

std::size_t Utf16Input::read(char* bytes, std::size_t size) {
  while (given_ == text_.size()) {
    if (end() != InputEnd::kNone) return 0;
    if (!fault_.ok()) return end_by_error(fault_);
    text_.clear();
    given_ = 0;
    const std::size_t before = units_.size();
    units_.resize(before + kReadOfUnits);
    const std::size_t got = below_->read(units_.data() + before, kReadOfUnits);
    units_.resize(before + got);
    const bool is_cut = got == 0 && below_->end() == InputEnd::kEndOfFile && !units_.empty();
    if (!expand() || is_cut) {
      fault_ = Status::invalid_argument(name_ + ": the text is UTF-16, but byte " + std::to_string(offset_) +
                                        " begins no character");
    } else if (got == 0) {
      return end_like(*below_);
    }
  }
  const std::size_t taken = std::min(size, text_.size() - given_);
  std::memcpy(bytes, text_.data() + given_, taken);
  given_ += taken;
  return taken;
}

}  // namespace varve::tool
