// Owns: text in an encoding that the user names, as UTF-8 (iconv).
// Must never: leave out or replace a character.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <iconv.h>

#include "tools/varve/input/byte_input.h"
#include "varve/result.h"

namespace varve::tool {

/// Returns whether text in the encoding can be converted. Errors: kInvalidArgument, with names that are known.
Status check_encoding(const std::string& encoding);

class ConvertedInput final : public ByteInput {
 public:
  /// `encoding` passed check_encoding(). `name` is the file's name, for errors.
  ConvertedInput(std::unique_ptr<ByteInput> below, const std::string& encoding, std::string name);
  ~ConvertedInput() override;

  /// Errors: kInvalidArgument, with the offset in the input (bytes that begin no character).
  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override { return below_->file_bytes_read(); }

 private:
  void expand();
  void fail_at_offset();

  std::unique_ptr<ByteInput> below_;
  std::string encoding_;
  std::string name_;
  ::iconv_t converter_;
  std::string raw_;   // bytes that are not converted yet
  std::string text_;  // converted and not given yet
  std::size_t given_ = 0;
  std::uint64_t offset_ = 0;  // of raw_
  Status fault_;
};

}  // namespace varve::tool
