// Owns: looking at the first bytes of an input, which are read again later.
// Must never: wait for more bytes than the question needs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/varve/input/byte_input.h"

namespace varve::tool {

class PeekedInput final : public ByteInput {
 public:
  explicit PeekedInput(std::unique_ptr<ByteInput> below) : below_(std::move(below)) {}

  /// Returns the bytes of the first read, and of further reads while `is_unclear` asks for them.
  std::string_view peek(bool (*is_unclear)(std::string_view));

  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override { return below_->file_bytes_read(); }

 private:
  std::unique_ptr<ByteInput> below_;
  std::string first_;
  std::size_t used_ = 0;
};

}  // namespace varve::tool
