// Owns: reading the numbered lines of a file or of standard input, and stopping when the user interrupts.
// Must never: treat a read error or a signal as the end of the file, return an incomplete line, or keep more of one
// line than kLineBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/result.h"
#include "varve/status.h"

namespace varve::tool {

/// The most bytes of a line. An entity has at most 1 MiB as the service counts. Its text can be longer, but not without
/// limit.
constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

/// The bytes of one read.
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

/// From now on SIGINT, SIGTERM and SIGHUP end the reading of lines instead of the process. A second one ends the
/// process. A closed pipe is then a write error and no signal. A signal before the call is forgotten.
void stop_reading_on_signals();

/// The reason why there are no more lines.
enum class InputEnd : std::uint8_t {
  kNone,       // There may be more lines.
  kEndOfFile,  // Everything was read. Only then the last line may lack its line feed.
  kSignal,     // Lines::stop_signal() returns its number.
  kError,      // Lines::status() returns the error.
};

class Lines {
 public:
  /// Opens the file at `path`, or standard input if it is "-". Errors: kIoError, which names the path.
  static Result<Lines> open(const std::string& path);

  Lines(Lines&& other) noexcept;
  Lines& operator=(Lines&&) = delete;
  ~Lines();

  /// Reads the next whole line without its line feed. Returns false at the end(). A line that a signal or an error cut
  /// is left out. A byte order mark before the first line is removed.
  bool next(std::string* line);

  InputEnd end() const noexcept { return end_of_input_; }
  /// Returns the signal that ended the reading, or 0. A signal after the end of the file has no effect.
  int stop_signal() const noexcept { return stop_signal_; }

  /// Returns the number of the last line, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Returns whether the last line was longer than kLineBytesMax. Its remaining bytes were skipped.
  bool too_long() const noexcept { return too_long_; }
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// Returns the size of the input in bytes, or zero if it is not known.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  const Status& status() const noexcept { return status_; }

 private:
  explicit Lines(std::string path) : path_(std::move(path)) {}
  bool fill();
  bool end_with(InputEnd end) noexcept;
  void append(std::string* line, std::size_t size);
  Status failed(const char* what) const;

  std::string path_;
  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t total_bytes_ = 0;
  bool too_long_ = false;
  InputEnd end_of_input_ = InputEnd::kNone;
  int stop_signal_ = 0;
  Status status_;
};

}  // namespace varve::tool
