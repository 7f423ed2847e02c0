// Owns: expanding xz.
// Must never: take the memory that a file claims to need, if that is more than kXzMemoryMax.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <lzma.h>

#include "tools/varve/input/byte_input.h"

namespace varve::tool {

/// `xz -9` needs 65 MiB.
constexpr std::uint64_t kXzMemoryMax = std::uint64_t{256} << 20;

class XzInput final : public ByteInput {
 public:
  /// `name` is the file's name, for errors.
  XzInput(std::unique_ptr<ByteInput> below, std::string name);
  ~XzInput() override;

  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override { return below_->file_bytes_read(); }

 private:
  std::size_t end_as(lzma_ret result);

  std::unique_ptr<ByteInput> below_;
  std::string name_;
  std::vector<std::uint8_t> packed_;
  lzma_stream stream_;
  lzma_ret begun_;
};

}  // namespace varve::tool
