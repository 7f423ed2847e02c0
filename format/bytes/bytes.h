// Owns: little-endian integers, varints and a reader that cannot read past its end.
// Must never: throw on hostile input. A buffer that is too short is recognised by its length alone.
//
// Byte strings are std::string_view throughout format/ and engine/. Its comparison has memcmp order, which is the order
// of keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace varve::format {

inline std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Searches for the end of zero filling. The bytes are nearly all zero: std::string compares one byte at a time, these
// functions compare many.

/// Returns the offset of the first byte at or after `from` that is not zero, or npos if all bytes are zero.
std::size_t find_first_written(std::string_view bytes, std::size_t from = 0) noexcept;
/// Returns the offset of the last byte that is not zero, or npos if all bytes are zero.
std::size_t find_last_written(std::string_view bytes) noexcept;

inline constexpr std::size_t kVarint64BytesMax = 10;

namespace internal {

template <typename Unsigned>
Unsigned byte_swapped(Unsigned value) noexcept {
  if constexpr (sizeof(Unsigned) == 1) return value;
  if constexpr (sizeof(Unsigned) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(Unsigned) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(Unsigned) == 8) return __builtin_bswap64(value);
}

template <std::endian Order, typename Unsigned>
void store(char* at, Unsigned value) noexcept {
  if constexpr (Order != std::endian::native) value = byte_swapped(value);
  std::memcpy(at, &value, sizeof(value));
}

template <std::endian Order, typename Unsigned>
Unsigned load(const char* at) noexcept {
  Unsigned value = 0;
  std::memcpy(&value, at, sizeof(value));
  if constexpr (Order != std::endian::native) value = byte_swapped(value);
  return value;
}

}  // namespace internal

// Stores and loads integers without a bounds check: the caller has checked that the bytes lie inside its buffer.
// Integers are little-endian unless the name says otherwise. The functions are inline because each is one instruction,
// and a call would be five.
inline void store_u16(char* at, std::uint16_t value) noexcept {
  internal::store<std::endian::little>(at, value);
}
inline void store_u32(char* at, std::uint32_t value) noexcept {
  internal::store<std::endian::little>(at, value);
}
inline void store_u64(char* at, std::uint64_t value) noexcept {
  internal::store<std::endian::little>(at, value);
}
inline void store_u32_big_endian(char* at, std::uint32_t value) noexcept {
  internal::store<std::endian::big>(at, value);
}
inline void store_u64_big_endian(char* at, std::uint64_t value) noexcept {
  internal::store<std::endian::big>(at, value);
}
inline std::uint16_t load_u16(const char* at) noexcept {
  return internal::load<std::endian::little, std::uint16_t>(at);
}
inline std::uint32_t load_u32(const char* at) noexcept {
  return internal::load<std::endian::little, std::uint32_t>(at);
}
inline std::uint64_t load_u64(const char* at) noexcept {
  return internal::load<std::endian::little, std::uint64_t>(at);
}
inline std::uint32_t load_u32_big_endian(const char* at) noexcept {
  return internal::load<std::endian::big, std::uint32_t>(at);
}
inline std::uint64_t load_u64_big_endian(const char* at) noexcept {
  return internal::load<std::endian::big, std::uint64_t>(at);
}

void append_u16(std::string& out, std::uint16_t value);
void append_u32(std::string& out, std::uint32_t value);
void append_u64(std::string& out, std::uint64_t value);
void append_varint(std::string& out, std::uint64_t value);
/// Appends the length as a varint, then the bytes.
void append_sized(std::string& out, std::string_view bytes);

namespace internal {
constexpr unsigned kVarintBits = 7;
/// The bit of a varint's byte that says that another byte follows. Values below 128 take one byte: most tags and sizes
/// do.
constexpr std::uint64_t kVarintMore = 0x80;
char* store_long_varint(char* at, std::uint64_t value) noexcept;
}  // namespace internal

inline std::size_t varint_bytes(std::uint64_t value) noexcept {
  if (value < internal::kVarintMore) return 1;
  return (static_cast<std::size_t>(std::bit_width(value)) + internal::kVarintBits - 1) / internal::kVarintBits;
}
/// Stores a varint in a buffer that has at least varint_bytes(value) bytes. Returns the address after the varint.
inline char* store_varint(char* at, std::uint64_t value) noexcept {
  if (value >= internal::kVarintMore) return internal::store_long_varint(at, value);
  *at = static_cast<char>(value);
  return at + 1;
}

/// Reads bytes from front to back. If the bytes left are too few, a read returns false and changes neither its output
/// nor the position. A varint must have its shortest form, so that each value has one encoding.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : rest_(bytes), start_(bytes.data()) {}

  [[nodiscard]] bool read_u8(std::uint8_t* value) noexcept;
  [[nodiscard]] bool read_u64(std::uint64_t* value) noexcept;
  [[nodiscard]] bool read_varint(std::uint64_t* value) noexcept {
    const std::uint64_t first = rest_.empty() ? internal::kVarintMore : static_cast<unsigned char>(rest_.front());
    if (first >= internal::kVarintMore) return read_long_varint(value);
    *value = first;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool read_bytes(std::size_t count, std::string_view* bytes) noexcept;
  /// Reads bytes that append_sized() wrote. The view points into the reader's buffer.
  [[nodiscard]] bool read_sized(std::string_view* bytes) noexcept;

  bool at_end() const noexcept { return rest_.empty(); }
  std::string_view rest() const noexcept { return rest_; }
  std::size_t offset() const noexcept { return static_cast<std::size_t>(rest_.data() - start_); }

 private:
  /// Reads a varint of any length.
  bool read_long_varint(std::uint64_t* value) noexcept;

  std::string_view rest_;
  const char* start_;
};

}  // namespace varve::format
