// Owns: the lines of a file or of standard input, numbered, and the end of reading when a person asks for it.
// Must never: take a read error or a signal for the end of the file, return a line that is not whole, or keep more of
// one line than kLineBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/result.h"
#include "varve/status.h"

namespace varve::tool {

/// An entity is at most 1 MiB as the service counts; its text can be longer, but not without end.
constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

/// What one read asks for.
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

/// From now on SIGINT, SIGTERM and SIGHUP end the reading of lines instead of the process; a second one ends the
/// process. A closed pipe is then an error of the write and no signal. A signal that came before the call is forgotten.
void stop_reading_on_signals();

/// Why there are no more lines.
enum class InputEnd : std::uint8_t {
  kNone,       // There may be more.
  kEndOfFile,  // Everything was read: only then the last line may lack its line feed.
  kSignal,     // Lines::stop_signal() has its number.
  kError,      // Lines::status() has it.
};

class Lines {
 public:
  /// `path`, or standard input where it is "-". Errors: kIoError, naming the path.
  static Result<Lines> open(const std::string& path);

  Lines(Lines&& other) noexcept;
  Lines& operator=(Lines&&) = delete;
  ~Lines();

  /// The next whole line without its line feed, or false at the end(). A line that a signal or an error cut short is
  /// left out. A byte order mark before the first line is left out.
  bool next(std::string* line);

  InputEnd end() const noexcept { return end_of_input_; }
  /// The signal that ended the reading, or 0. A signal behind the end of the file ends nothing.
  int stop_signal() const noexcept { return stop_signal_; }

  /// Of the line that next() gave last: from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// It was longer than kLineBytesMax and what came behind that was skipped.
  bool too_long() const noexcept { return too_long_; }
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// Zero where it is not known.
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
