// Owns: varints, appending to byte strings, and the bounded reader (bytes.h).
// Must never: read a byte before checking that it lies inside the buffer.
#include "format/bytes/bytes.h"

#include <array>

#include "format/bytes/varint.h"

namespace varve::format {
namespace {

using internal::kVarintBits;
using internal::kVarintMore;
/// The greatest tenth byte of a varint. It holds bit 63 alone.
constexpr std::uint64_t kLastVarintByteMax = 1;

template <typename Unsigned>
bool read_fixed(std::string_view& rest, Unsigned* value) noexcept {
  if (rest.size() < sizeof(Unsigned)) return false;
  *value = internal::load<std::endian::little, Unsigned>(rest.data());
  rest.remove_prefix(sizeof(Unsigned));
  return true;
}

/// Number of bytes that are compared with zero at once.
constexpr std::size_t kZeroBlockBytes = 256;

bool is_zero_block(const char* at) noexcept {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kZeroBlockBytes; i += sizeof(all)) {
    all |= internal::load<std::endian::native, std::uint64_t>(at + i);
  }
  return all == 0;
}

}  // namespace

std::size_t find_first_written(std::string_view bytes, std::size_t from) noexcept {
  while (from < bytes.size() && bytes.size() - from >= kZeroBlockBytes && is_zero_block(bytes.data() + from)) {
    from += kZeroBlockBytes;
  }
  return bytes.find_first_not_of('\0', from);
}

std::size_t find_last_written(std::string_view bytes) noexcept {
  while (bytes.size() >= kZeroBlockBytes && is_zero_block(bytes.data() + bytes.size() - kZeroBlockBytes)) {
    bytes.remove_suffix(kZeroBlockBytes);
  }
  return bytes.find_last_not_of('\0');
}

void append_u16(std::string& out, std::uint16_t value) {
  std::array<char, sizeof(value)> bytes;
  store_u16(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

void append_u32(std::string& out, std::uint32_t value) {
  std::array<char, sizeof(value)> bytes;
  store_u32(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

void append_u64(std::string& out, std::uint64_t value) {
  std::array<char, sizeof(value)> bytes;
  store_u64(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

void append_varint(std::string& out, std::uint64_t value) {
  if (value < kVarintMore) {
    out.push_back(static_cast<char>(value));
    return;
  }
  std::array<char, kVarint64BytesMax> bytes;
  const char* end = store_varint(bytes.data(), value);
  out.append(bytes.data(), static_cast<std::size_t>(end - bytes.data()));
}

void append_sized(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

char* internal::store_long_varint(char* at, std::uint64_t value) noexcept {
  while (value >= kVarintMore) {
    *at++ = static_cast<char>(value | kVarintMore);
    value >>= kVarintBits;
  }
  *at++ = static_cast<char>(value);
  return at;
}

bool ByteReader::read_u8(std::uint8_t* value) noexcept {
  return read_fixed(rest_, value);
}
bool ByteReader::read_u64(std::uint64_t* value) noexcept {
  return read_fixed(rest_, value);
}

bool ByteReader::read_long_varint(std::uint64_t* value) noexcept {
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < rest_.size() && i < kVarint64BytesMax; ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(rest_[i]);
    if (i == kVarint64BytesMax - 1 && byte > kLastVarintByteMax) return false;
    read |= (byte & ~kVarintMore) << (i * kVarintBits);
    if (byte >= kVarintMore) continue;
    if (byte == 0 && i > 0) return false;  // a longer form of a smaller value
    *value = read;
    rest_.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool ByteReader::read_bytes(std::size_t count, std::string_view* bytes) noexcept {
  if (count > rest_.size()) return false;
  *bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return true;
}

bool ByteReader::read_sized(std::string_view* bytes) noexcept {
  const char* const end = rest_.data() + rest_.size();
  std::uint64_t size = 0;
  const char* const at = take_varint(rest_.data(), end, &size);
  if (at == nullptr || size > static_cast<std::uint64_t>(end - at)) return false;
  *bytes = {at, static_cast<std::size_t>(size)};
  rest_ = {bytes->data() + bytes->size(), static_cast<std::size_t>(end - at) - bytes->size()};
  return true;
}

}  // namespace varve::format
