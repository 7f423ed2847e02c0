// Owns: reading a file, a pipe or standard input, and stopping when the user interrupts.
// Must never: wait for input when a signal has asked for the end.
#pragma once

#include <memory>
#include <string>

#include "tools/varve/input/byte_input.h"
#include "varve/result.h"

namespace varve::tool {

class FileInput final : public ByteInput {
 public:
  /// Opens the file at `path`, or standard input if it is "-". Errors: kIoError, which names the path.
  static Result<std::unique_ptr<FileInput>> open(const std::string& path);
  ~FileInput() override;

  std::size_t read(char* bytes, std::size_t size) override;
  std::uint64_t file_bytes_read() const noexcept override { return bytes_read_; }
  /// Returns the size of a regular file in bytes, and 0 for every other input.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// Returns whether the file can be opened and read again.
  /// Returns the path, or "standard input".
  const std::string& name() const noexcept { return name_; }

 private:
  explicit FileInput(std::string name) : name_(std::move(name)) {}
  Status failed(const char* what) const;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace varve::tool
