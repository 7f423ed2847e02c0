// Owns: the search for older entries.
#include "engine/compaction/bottom_check.h"

#include <algorithm>

namespace varve::engine {

bool is_bottom_for(const Levels& levels, std::uint32_t level, const KeyRange& range) noexcept {
  for (std::uint32_t below = level + 1; below < kLevelCount; ++below) {
    if (!levels.overlapping(below, range).empty()) return false;
  }
  return true;
}

bool is_bottom_for(const Levels& levels, const LevelFile& file) noexcept {
  const KeyRange range = range_of(file);
  if (!is_bottom_for(levels, file.entry.level, range)) return false;
  if (file.entry.level > 0) return true;
  const LevelSequence& files = levels.level(0);
  const auto is_older = [&](const LevelFilePtr& other) {
    return other->entry.number != file.entry.number && other->smallest_version() <= file.largest_version() &&
           range_of(*other).overlaps(range);
  };
  return std::none_of(files.begin(), files.end(), is_older);
}

BottomCheck::BottomCheck(const Levels& levels, const Job& job) : levels_(levels), level_(job.output_level) {
  const KeyRange range = job.range();
  if (level_ == 0) {
    CommitVersion newest = 0;
    for (const LevelFilePtr& file : job.inputs) newest = std::max(newest, file->largest_version());
    for (const LevelFilePtr& file : levels.level(0)) {
      if (job.takes(file->entry.number) || file->smallest_version() > newest) continue;
      if (range_of(*file).overlaps(range)) older_.push_back(file);
    }
  }
  for (std::uint32_t below = level_ + 1; below < kLevelCount; ++below) {
    places_[below] = levels.first_at_or_after(below, range.smallest);
  }
}

bool BottomCheck::is_bottom(std::string_view key) noexcept {
  for (std::uint32_t below = level_ + 1; below < kLevelCount; ++below) {
    const LevelSequence& files = levels_.level(below);
    std::size_t& place = places_[below];
    while (place < files.size() && files[place]->entry.largest_key < key) ++place;
    if (place < files.size() && files[place]->entry.smallest_key <= key) return false;
  }
  return std::none_of(older_.begin(), older_.end(),
                      [key](const LevelFilePtr& file) { return range_of(*file).holds(key); });
}

}  // namespace varve::engine
