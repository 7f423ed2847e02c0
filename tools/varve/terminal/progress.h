// Owns: one line on a terminal that shows the progress of long work.
// Must never: write to other files than a terminal, or slow the work down.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

/// Returns a number such as "63,666".
std::string with_commas(std::uint64_t number);
/// Returns a count such as "1 file" or "63,666 files".
std::string counted(std::uint64_t number, std::string_view one, std::string_view several);
/// Returns a size such as "53.3 MB".
std::string bytes_text(std::uint64_t bytes);
/// Returns a duration such as "1.24 s" or "310 us".
std::string duration_text(std::chrono::nanoseconds duration);

class Progress {
 public:
  /// `total_bytes` is zero if it is not known. No estimate is shown then.
  Progress(std::string_view unit, std::uint64_t total_bytes);
  ~Progress();
  void update(std::uint64_t count, std::uint64_t bytes);
  /// Runs `work` on the calling thread. Meanwhile another thread calls the second function and shows its text.
  Status while_running(const std::function<Status()>& work, const std::function<std::string()>& tell);
  /// Removes the line, so that other text can be printed.
  void clear();
  std::chrono::nanoseconds elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);
  std::string unit_;
  std::uint64_t total_bytes_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point begun_;
  Clock::time_point next_;
};

}  // namespace varve::tool
