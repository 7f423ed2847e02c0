// Owns: text in UTF-16 as UTF-8.
// Must never: guess what a damaged character was.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/varve/input/byte_input.h"

namespace varve::tool {

enum class TextEncoding : std::uint8_t { kUtf8, kUtf16Little, kUtf16Big, kUtf32 };

/// Returns the encoding that the first bytes of a text show: by a byte order mark, or by the zero bytes that two ASCII
/// characters have in it.
TextEncoding encoding_of(std::string_view first_bytes) noexcept;

class Utf16Input final : public ByteInput {
 public:
  /// `name` is the file's name, for errors.
  Utf16Input(std::unique_ptr<ByteInput> below, bool is_little, std::string name)
      : below_(std::move(below)), is_little_(is_little), name_(std::move(name)) {}

  /// Errors: kInvalidArgument, with the offset in the input (half of a surrogate pair, half of a unit).
  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override { return below_->file_bytes_read(); }

 private:
  bool expand();
  void append(std::uint32_t code_point);

  std::unique_ptr<ByteInput> below_;
  bool is_little_;
  std::string name_;
  std::string units_;  // bytes that are not converted yet
  std::string text_;   // converted and not given yet
  std::size_t given_ = 0;
  std::uint64_t offset_ = 0;  // of units_
  Status fault_;
};

}  // namespace varve::tool
