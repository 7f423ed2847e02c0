#include "tools/varve/terminal/progress.h"

#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "tools/varve/terminal/colour.h"
#include "tools/varve/terminal/pager.h"

namespace varve::tool {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view several) {
  return with_commas(number) + " " + std::string(number == 1 ? one : several);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1000 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
  return text.data();
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const auto ns = static_cast<double>(duration.count());
  std::array<char, 32> text{};
  if (ns >= 1e9) {
    std::snprintf(text.data(), text.size(), "%.2f s", ns / 1e9);
  } else if (ns >= 1e6) {
    std::snprintf(text.data(), text.size(), "%.1f ms", ns / 1e6);
  } else {
    std::snprintf(text.data(), text.size(), "%.0f us", ns / 1e3);
  }
  return text.data();
}

Progress::Progress(std::string_view unit, std::uint64_t total_bytes)
    : unit_(unit),
      total_bytes_(total_bytes),
      terminal_(isatty(STDERR_FILENO) == 1 && has_terminal_commands()),
      begun_(Clock::now()),
      next_(begun_) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::update(std::uint64_t count, std::uint64_t bytes) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  if (seconds < 0.05) return;
  std::string line = with_commas(count) + " " + unit_ + ", " +
                     with_commas(static_cast<std::uint64_t>(static_cast<double>(count) / seconds)) + "/s, " +
                     bytes_text(bytes);
  if (total_bytes_ > 0 && bytes > 0) {
    const double left = seconds * (static_cast<double>(total_bytes_) / static_cast<double>(bytes) - 1);
    line += " of " + bytes_text(total_bytes_) + ", about " +
            duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9))) + " left";
  }
  show(line);
}

void Progress::show(const std::string& line) {
  if (has_running_pager()) return;
  const bool is_faint = has_colours(STDERR_FILENO);
  const std::string text = is_faint ? command_of(Look::kFaint) + line + command_of(Look::kPlain) : line;
  std::fputs(("\r\033[K  " + text).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

Status Progress::while_running(const std::function<Status()>& work, const std::function<std::string()>& tell) {
  if (!terminal_) return work();
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread teller([&] {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return done; })) show(tell());
  });
  const Status status = work();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_one();
  teller.join();
  return status;
}

std::chrono::nanoseconds Progress::elapsed() const {
  return Clock::now() - begun_;
}

}  // namespace varve::tool
