// Owns: the live table files by level, and finding the files that may contain a key or overlap a range.
// Must never: change after it was made. A new file set makes new levels, which share all parts that did not change.
//
// V1  level 0 is ordered newest first. If two of its files overlap in keys, all versions of one are above all
//     versions of the other, so that the first file with a key has the key's newest version.
// V3  A *flush* is a row of files of level 0 whose versions are mixed and whose keys are disjoint. They are ordered by
//     key. So a reader looks in one file of a flush. Level 0 is as full as it has flushes. Files of one memtable whose
//     versions are not mixed count as several.
// V2  levels 1 to 6 are ordered by key and their files are disjoint, boundary keys included: all versions of a key
//     in one level are in one file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/shared_sequence.h"
#include "engine/levels/level_file.h"
#include "engine/tables/value_file.h"
#include "varve/result.h"

namespace varve::engine {

inline constexpr std::uint32_t kLevelCount = 7;
inline constexpr std::uint32_t kLastLevel = kLevelCount - 1;

struct LevelFileBytes {
  std::uint64_t operator()(const LevelFilePtr& file) const noexcept { return file->entry.size_bytes; }
};
/// The files of one level, in its order.
using LevelSequence = SharedSequence<LevelFilePtr, LevelFileBytes>;

/// Costs no more than the search for a file.
inline std::uint64_t bytes_of(const LevelSequence::Span& files) noexcept {
  return files.weight();
}

/// A value; copies share their files. Any thread may read it.
class Levels {
 public:
  using Span = LevelSequence::Span;

  Levels() = default;
  /// Makes levels from `files` in any order. Errors: kCorruption (an unknown level, an inverted range, V1 or V2
  /// violated; the message names the files).
  static Result<Levels> make(LevelFiles files);
  /// Returns these levels without `removed`, which must be files of them, and with `added`. Costs what it changes,
  /// however many other files there are. Errors: as make().
  Result<Levels> with_change(const LevelFiles& removed, const LevelFiles& added) const;

  /// Sets the value files that the tables point into, and keeps them open. Called once, before the levels are shared.
  void set_value_files(ValueFiles files) noexcept { value_files_ = std::move(files); }
  const ValueFiles& value_files() const noexcept { return value_files_; }
  /// Returns null if there is no value file with this number.
  const ValueFile* value_file(std::uint64_t number) const noexcept {
    const std::shared_ptr<ValueFile>* const found = value_files_.look_up(number);
    return found == nullptr ? nullptr : found->get();
  }

  const LevelSequence& level(std::uint32_t level) const noexcept { return levels_[level]; }
  /// Returns the number of flushes in level 0. They have the numbers below it, the newest first.
  std::size_t flush_count() const noexcept { return flushes_.size(); }
  /// Returns the files of a flush. If it has several, all_of_flush() is the same list, for a cursor.
  Span flush(std::size_t flush) const noexcept;
  const LevelSequence& all_of_flush(std::size_t flush) const noexcept { return flushes_[flush].several; }
  /// Returns the file of the flush that may contain the key, or null if there is none.
  const LevelFile* find_in_flush(std::size_t flush, std::string_view key) const noexcept;
  std::uint64_t level_bytes(std::uint32_t level) const noexcept { return levels_[level].weight(); }
  std::size_t file_count() const noexcept;
  /// Returns whether there is a table file. Looks at the deepest level first, which nearly always has one.
  bool has_files() const noexcept {
    return std::any_of(levels_.rbegin(), levels_.rend(), [](const LevelSequence& level) { return !level.empty(); });
  }
  /// Returns the file that this entry describes: found by its level, its smallest key and its number. Null if there is
  /// none.
  LevelFilePtr file_of(const format::TableFileEntry& entry) const noexcept;

  /// For a level above 0: returns the file that may contain the key, or null if there is none.
  const LevelFile* find(std::uint32_t level, std::string_view key) const noexcept;
  /// For a level above 0: returns the index of the first file that ends at or after the key, or the number of files if
  /// there is none. A scan begins there.
  std::size_t first_at_or_after(std::uint32_t level, std::string_view key) const noexcept;

  /// For a level above 0: returns its files that overlap the range, valid as long as these levels.
  Span overlapping(std::uint32_t level, const KeyRange& range) const noexcept;
  /// Returns whether a file of any level overlaps the range. If not, no search for a key of the range finds a file.
  bool has_overlapping(const KeyRange& range) const noexcept;
  /// Returns the files of level 0 that overlap the range, in their order.
  LevelFiles level0_overlapping(const KeyRange& range) const;
  /// Returns the files of all levels that overlap the range, level 0 first.
  LevelFiles all_overlapping(const KeyRange& range) const;

 private:
  std::size_t index_of(const format::TableFileEntry& entry) const noexcept;
  const LevelFilePtr* first_of_flush(std::size_t flush, std::string_view key) const noexcept;
  Status add(const LevelFilePtr& file);
  Status add_to_level0(const LevelFilePtr& file);
  void arrange_level0(LevelFiles files);

  struct Flush {
    std::size_t end = 0;    // in level 0
    LevelSequence several;  // empty if the flush has one file
  };

  std::array<LevelSequence, kLevelCount> levels_;
  std::vector<Flush> flushes_;
  ValueFiles value_files_;
};

}  // namespace varve::engine
