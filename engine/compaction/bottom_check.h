// Owns: the check whether anything older may be beneath the output of a job.
// Must never: answer no if something may be there.
//
// A concurrent job cannot make a "no" wrong. Entries only move down, so an entry beneath now stays beneath. Two jobs
// that write files over overlapping keys of a level conflict.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "engine/levels/job.h"

namespace varve::engine {

/// Returns whether no file beneath `level` overlaps the range. For level 0, it checks only levels 1 and deeper.
bool is_bottom_for(const Levels& levels, std::uint32_t level, const KeyRange& range) noexcept;
/// Checks the same for one file at its place, and also checks older files of level 0.
bool is_bottom_for(const Levels& levels, const LevelFile& file) noexcept;

/// Used by the one thread that executes a job. `levels` are the levels from which the job was picked; they outlive it.
class BottomCheck {
 public:
  BottomCheck(const Levels& levels, const Job& job);
  /// Returns whether no file outside the job may contain an older entry of this key. Then a tombstone that every reader
  /// sees can be dropped. Keys come in ascending order. The average cost of a call is constant.
  bool is_bottom(std::string_view key) noexcept;

 private:
  LevelFiles older_;  // files of level 0, if the job writes there
  const Levels& levels_;
  std::uint32_t level_;
  std::array<std::size_t, kLevelCount> places_{};  // the first file of each level that does not end before the key
};

}  // namespace varve::engine
