// Owns: whether anything older may lie beneath what a job writes.
// Must never: say no when something may.
//
// A job that runs beside cannot make a "no" wrong: entries only ever go down, what lies beneath now lies beneath then,
// and two jobs that put files over the same keys of a level conflict.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "engine/levels/job.h"

namespace varve::engine {

/// Whether no file beneath `level` overlaps the range. For level 0 that is about levels 1 and deeper alone.
bool is_bottom_for(const Levels& levels, std::uint32_t level, const KeyRange& range) noexcept;
/// The same for one file where it stands, older files of level 0 included.
bool is_bottom_for(const Levels& levels, const LevelFile& file) noexcept;

/// For the one thread that executes a job. `levels`, those the job was picked from, outlive it.
class BottomCheck {
 public:
  BottomCheck(const Levels& levels, const Job& job);
  /// Whether no file outside the job may hold something older of this key: then a tombstone that every reader sees can
  /// go. Keys come in ascending order; the cost of a call is constant on average.
  bool is_bottom(std::string_view key) noexcept;

 private:
  LevelFiles older_;  // of level 0, where the job writes there
  const Levels& levels_;
  std::uint32_t level_;
  std::array<std::size_t, kLevelCount> places_{};  // the first file of each level that does not end before the key
};

}  // namespace varve::engine
