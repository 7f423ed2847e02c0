// Owns: the arithmetic of rests (back_off.h).
#include "engine/compaction/back_off.h"

#include <algorithm>

namespace varve::engine {

std::chrono::nanoseconds BackOff::failed(Key key, std::chrono::nanoseconds now, Code why) {
  Rest& rest = resting_[key];
  const bool is_first = rest.length.count() == 0 || why == Code::kNoSpace;
  rest.length = is_first ? kFirst : std::min(2 * rest.length, kLongest);
  rest.until = now + rest.length;
  rest.is_over = false;
  return rest.length;
}

bool BackOff::rests(Key key, std::chrono::nanoseconds now) const noexcept {
  const auto found = resting_.find(key);
  return found != resting_.end() && !found->second.is_over && now < found->second.until;
}

std::set<std::uint64_t> BackOff::resting(FileKind kind, std::chrono::nanoseconds now) const {
  std::set<std::uint64_t> numbers;
  for (const auto& [key, rest] : resting_) {
    if (key.first == kind && rests(key, now)) numbers.insert(key.second);
  }
  return numbers;
}

void BackOff::wake_all() noexcept {
  for (auto& [key, rest] : resting_) rest.is_over = true;
}

}  // namespace varve::engine
