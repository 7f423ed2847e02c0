// Owns: one line on a terminal that shows how far long work has come.
// Must never: write to something that is no terminal, or slow the work down.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::tool {

/// "63,666".
std::string with_commas(std::uint64_t number);
/// "1 file", "63,666 files".
std::string counted(std::uint64_t number, std::string_view one, std::string_view several);
/// "53.3 MB".
std::string bytes_text(std::uint64_t bytes);
/// "1.24 s", "310 us".
std::string duration_text(std::chrono::nanoseconds duration);

class Progress {
 public:
  /// `total_bytes` is zero when it is not known: then there is no estimate.
  Progress(std::string_view unit, std::uint64_t total_bytes);
  ~Progress();
  void update(std::uint64_t count, std::uint64_t bytes);
  /// Runs `work` on the calling thread, and meanwhile shows what `tell` says, which is called on another one.
  Status while_running(const std::function<Status()>& work, const std::function<std::string()>& tell);
  /// Takes its line away, so that something else can be printed.
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
