// Owns: the lines of a file or of standard input, numbered, and the end of reading when a person asks for it.
// Must never: take a read error for the end of the file, or keep more of one line than kLineBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/result.h"
#include "api/status.h"

namespace varve::tool {

/// An entity is at most 1 MiB as the service counts; its text can be longer, but not without end.
constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;

/// From now on SIGINT, SIGTERM and SIGHUP end the reading of lines instead of the process; a second one ends the
/// process. A closed pipe is then an error of the write and no signal.
void stop_reading_on_signals();
/// The signal that came, or 0.
int stop_signal() noexcept;

class Lines {
 public:
  /// `path`, or standard input where it is "-". Errors: kIoError, naming the path.
  static Result<Lines> open(const std::string& path);

  Lines(Lines&& other) noexcept;
  Lines& operator=(Lines&&) = delete;
  ~Lines();

  /// The next line without its line feed, or false at the end, at a signal, or at an error, which status() has. A byte
  /// order mark before the first line is left out.
  bool next(std::string* line);

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
  Status status_;
};

}  // namespace varve::tool
