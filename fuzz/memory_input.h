// Owns: bytes in memory as an input, given in pieces of one size.
// Must never: give more than it has.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tools/varve/input/byte_input.h"

namespace varve::fuzz {

class MemoryInput final : public tool::ByteInput {
 public:
  MemoryInput(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

  std::size_t read(char* bytes, std::size_t size) override {
    const std::size_t given = std::min({size, piece_, bytes_.size() - used_});
    if (given == 0) return end_of_file();
    std::memcpy(bytes, bytes_.data() + used_, given);
    used_ += given;
    return given;
  }
  std::uint64_t file_bytes_read() const noexcept override { return used_; }

 private:
  std::string_view bytes_;
  std::size_t piece_;
  std::size_t used_ = 0;
};

}  // namespace varve::fuzz
