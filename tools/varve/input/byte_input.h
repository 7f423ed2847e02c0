// Owns: the bytes of an input from its begin to its end, and the reason of the end.
// Must never: treat a read error or a signal as the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "varve/status.h"

namespace varve::tool {

/// The reason why there is no more input.
enum class InputEnd : std::uint8_t {
  kNone,       // There may be more.
  kEndOfFile,  // Everything was read. Only then the last line may lack its line feed.
  kSignal,     // stop_signal() returns its number.
  kError,      // status() returns the error.
};

class ByteInput {
 public:
  ByteInput() = default;
  ByteInput(const ByteInput&) = delete;
  ByteInput& operator=(const ByteInput&) = delete;
  virtual ~ByteInput() = default;

  /// Reads some bytes, at most `size`. Returns 0 at the end(), and only then.
  virtual std::size_t read(char* bytes, std::size_t size) = 0;
  /// Returns how many bytes of the file were read. A packed file has fewer bytes than its text.
  virtual std::uint64_t file_bytes_read() const noexcept = 0;

  InputEnd end() const noexcept { return end_; }
  int stop_signal() const noexcept { return stop_signal_; }
  const Status& status() const noexcept { return status_; }

 protected:
  /// Each function notes the end, and returns 0.
  std::size_t end_of_file() noexcept { return end_with(InputEnd::kEndOfFile); }
  std::size_t end_by_signal(int number) noexcept {
    stop_signal_ = number;
    return end_with(InputEnd::kSignal);
  }
  std::size_t end_by_error(Status status) {
    status_ = std::move(status);
    return end_with(InputEnd::kError);
  }
  /// Ends as `below` ended.
  std::size_t end_like(const ByteInput& below) {
    stop_signal_ = below.stop_signal_;
    status_ = below.status_;
    return end_with(below.end_);
  }

 private:
  std::size_t end_with(InputEnd end) noexcept {
    end_ = end;
    return 0;
  }

  InputEnd end_ = InputEnd::kNone;
  int stop_signal_ = 0;
  Status status_;
};

}  // namespace varve::tool
