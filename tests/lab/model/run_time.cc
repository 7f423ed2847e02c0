// Owns: the time of a run (run.h): the clock that decides which entities have ended.
// Must never: let an end pass in the middle of an operation. The answer would depend on the moment.
//
// Readers judge ends at max(clock, newest version, highest end that was judged as passed). The clock is the wall clock,
// unless it jumped ahead by more than an hour since the open: then it is the time of the open plus the time since.
#include <algorithm>

#include "api/core/store_core.h"
#include "tests/lab/model/run.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kHour = 3600 * io::kTicksPerSecond;
/// A clock may move by this much between two looks at it.
constexpr std::uint64_t kMoved = io::kTicksPerMillisecond;
/// A version that was given but lost, and the durable ceiling above it, may be higher than the newest version by this much.
constexpr std::uint64_t kCeiling = io::kTicksPerSecond;
/// No operation takes longer.
constexpr std::uint64_t kNear = 20 * io::kTicksPerSecond;

}  // namespace

void Run::note_clock_at_open() {
  wall_at_open_ = machine_->clock.wall();
  monotonic_at_open_ = machine_->clock.monotonic();
  seen_end_ = 0;
}

std::uint64_t Run::clock_time() {
  const auto elapsed = static_cast<std::uint64_t>((machine_->clock.monotonic() - monotonic_at_open_).count()) / 100;
  const std::uint64_t wall = machine_->clock.wall();
  return wall > wall_at_open_ + elapsed + kHour ? wall_at_open_ + elapsed : wall;
}

void Run::ask_time() {
  time_ = version_;
  if (next_end(*state_, 0) == kNoEnd) return;
  const std::uint64_t before = clock_time();
  const Result<Snapshot> snapshot = store_->snapshot();
  if (!snapshot.ok()) return broken("a snapshot: " + snapshot.status().to_string());
  time_ = StoreCore::time_of(*snapshot);
  const std::uint64_t after = clock_time();
  if (time_ < std::max(version_, seen_end_)) broken("the time of readers went back");
  const auto elapsed = static_cast<std::uint64_t>((machine_->clock.monotonic() - monotonic_at_open_).count()) / 100;
  const std::uint64_t turn = wall_at_open_ + elapsed + kHour;
  const std::uint64_t wall = machine_->clock.wall();
  const bool is_at_the_turn = wall + kMoved > turn && wall < turn + kMoved;  // An hour is an hour give or take a tick.
  const bool is_behind = time_ + kMoved < std::min(before, after);
  if (is_behind && !is_at_the_turn) broken("the time of readers is behind the clock");
  const std::uint64_t highest = std::max({before, after, highest_ + kCeiling, latest_time_ + kNear});
  if (time_ > highest + kMoved && !is_at_the_turn) broken("the time of readers is ahead of the clock");
  latest_time_ = std::max(latest_time_, time_);
}

void Run::pass_near_ends() {
  const std::uint64_t before = time_;
  ask_time();
  for (std::uint64_t end = next_end(*state_, time_); end != kNoEnd && end <= time_ + kNear && !failed();
       end = next_end(*state_, time_)) {
    // The versions may be ahead of the clock.
    const std::uint64_t missing = end - std::min({clock_time(), time_, end}) + 1;
    machine_->clock.advance(std::chrono::nanoseconds(missing * 100));
    count("ends passed");
    ask_time();
  }
  if (time_ > before && before != 0) {
    count("entities that ended", living(*state_, before)->entities() - living(*state_, time_)->entities());
  }
}

void Run::jump_clock(const Numbers& numbers) {
  const auto ticks = static_cast<io::Ticks>(numbers[0] % 10'000) * 60 * io::kTicksPerSecond;
  const io::Ticks now = machine_->clock.wall();
  const bool is_back = numbers[1] % 2 == 1;
  if (is_back && next_end(*state_, 0) <= time_) {
    // What readers have seen as ended stays so while the store is open.
    compare_store(*store_, *state_, "before the clock goes back");
    for (std::uint64_t end = next_end(*state_, 0); end <= time_; end = next_end(*state_, end)) seen_end_ = end;
    count("clocks set back over ends");
  }
  latest_time_ = std::max(latest_time_, clock_time());
  machine_->clock.set_wall(is_back ? now - ticks : now + ticks);
  count("clock jumps");
}

}  // namespace varve::lab
