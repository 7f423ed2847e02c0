// Owns: reading the numbered lines of an input.
// Must never: return an incomplete line, or keep more of one line than kLineBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/input/byte_input.h"
#include "tools/varve/input/stop_signal.h"
#include "varve/result.h"
#include "varve/status.h"

namespace varve::tool {

/// The most bytes of a line. An entity has at most 1 MiB as the service counts. Its text can be longer, but not without
/// limit.
constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

/// The bytes of one read.
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

class Lines {
 public:
  /// Opens the file at `path`, or standard input if it is "-". Errors: kIoError, which names the path.
  static Result<Lines> open(const std::string& path);
  explicit Lines(std::unique_ptr<ByteInput> input);

  /// Reads the next whole line without its line feed. Returns false at the end(). A line that a signal or an error cut
  /// is left out. A byte order mark before the first line is removed.
  bool next(std::string* line);

  /// Takes some bytes, without regard to lines, and does not count lines. Returns nothing at the end().
  std::string_view take_bytes();
  /// Returns the next bytes without taking them: the whole first line if it has at most 1 MiB, and further bytes of the
  /// same read. A byte order mark is left out.
  std::string_view peek();

  InputEnd end() const noexcept { return end_of_input_; }
  /// Returns the signal that ended the reading, or 0. A signal after the end of the file has no effect.
  int stop_signal() const noexcept { return input_->stop_signal(); }

  /// Returns the number of the last line, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Returns whether the last line was longer than kLineBytesMax. Its remaining bytes were skipped.
  bool too_long() const noexcept { return too_long_; }
  /// Returns how many bytes of the file were used.
  std::uint64_t bytes_read() const noexcept { return input_->file_bytes_read(); }
  const Status& status() const noexcept { return input_->status(); }

 private:
  bool fill();
  bool read_at_end();
  void skip_mark();
  void append(std::string* line, std::size_t size);

  std::unique_ptr<ByteInput> input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
  bool begun_ = false;
  bool too_long_ = false;
  InputEnd end_of_input_ = InputEnd::kNone;
};

}  // namespace varve::tool
