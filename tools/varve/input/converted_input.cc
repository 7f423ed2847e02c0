#include "tools/varve/input/converted_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace varve::tool {

namespace {

constexpr std::size_t kRawBytes = std::size_t{64} << 10;
constexpr std::size_t kEncodingBytesMax = 40;

const auto kNoConverter = reinterpret_cast<::iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr)

/// A name may not choose iconv's ways to replace characters, which come after slashes.
bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kEncodingBytesMax && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':';
  });
}

}  // namespace

Status check_encoding(const std::string& encoding) {
  const ::iconv_t converter = is_plain_name(encoding) ? ::iconv_open("UTF-8", encoding.c_str()) : kNoConverter;
  if (converter != kNoConverter) {
    ::iconv_close(converter);
    return Status();
  }
  return Status::invalid_argument("\"" + encoding.substr(0, kEncodingBytesMax) +
                                  "\" is no encoding; use auto, utf-8, utf-16, latin1, windows-1252 or another name " +
                                  "that `iconv -l` prints");
}

ConvertedInput::ConvertedInput(std::unique_ptr<ByteInput> below, const std::string& encoding, std::string name)
    : below_(std::move(below)),
      encoding_(encoding),
      name_(std::move(name)),
      converter_(::iconv_open("UTF-8", encoding.c_str())) {
  if (converter_ == kNoConverter) fault_ = check_encoding(encoding).in_file(name_);
}

ConvertedInput::~ConvertedInput() {
  if (converter_ != kNoConverter) ::iconv_close(converter_);
}

void ConvertedInput::fail_at_offset() {
  fault_ = Status::invalid_argument(name_ + ": byte " + std::to_string(offset_) + " begins no character of " +
                                    encoding_ + "; name another encoding by --encoding");
}

/// Converts the whole characters of raw_.
void ConvertedInput::expand() {
  std::array<char, kRawBytes> room;
  char* from = raw_.data();
  std::size_t left = raw_.size();
  while (left > 0) {
    char* to = room.data();
    std::size_t free = room.size();
    const std::size_t result = ::iconv(converter_, &from, &left, &to, &free);
    const int error = errno;
    text_.append(room.data(), static_cast<std::size_t>(to - room.data()));
    if (result != static_cast<std::size_t>(-1) || error == E2BIG) continue;
    offset_ += raw_.size() - left;
    raw_.erase(0, raw_.size() - left);
    if (error != EINVAL) fail_at_offset();  // EINVAL: the character's other bytes follow
    return;
  }
  offset_ += raw_.size();
  raw_.clear();
}

std::size_t ConvertedInput::read(char* bytes, std::size_t size) {
  while (given_ == text_.size()) {
    if (end() != InputEnd::kNone) return 0;
    if (!fault_.ok()) return end_by_error(fault_);
    text_.clear();
    given_ = 0;
    const std::size_t before = raw_.size();
    raw_.resize(before + kRawBytes);
    const std::size_t got = below_->read(raw_.data() + before, kRawBytes);
    raw_.resize(before + got);
    if (got == 0 && below_->end() == InputEnd::kEndOfFile && !raw_.empty()) {
      fail_at_offset();
    } else if (got == 0) {
      return end_like(*below_);
    } else {
      expand();
    }
  }
  const std::size_t taken = std::min(size, text_.size() - given_);
  std::memcpy(bytes, text_.data() + given_, taken);
  given_ += taken;
  return taken;
}

}  // namespace varve::tool
