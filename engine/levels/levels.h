// Owns: the live table files by level, and who of them may hold a key or overlap a range.
// Must never: change after it was made; a new file set makes new levels.
//
// V1  level 0 stands newest first. Where two of its files overlap in keys, all versions of one are above all of the
//     other's, so that the first file that holds a key holds its newest version.
// V2  levels 1 to 6 stand by key and are disjoint, boundary keys included: all versions of a key that one level holds
//     are in one file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "engine/levels/level_file.h"
#include "engine/tables/value_file.h"
#include "varve/result.h"

namespace varve::engine {

inline constexpr std::uint32_t kLevelCount = 7;
inline constexpr std::uint32_t kLastLevel = kLevelCount - 1;

/// A value; copies share their files. Any thread may read.
class Levels {
 public:
  using Span = std::span<const LevelFilePtr>;

  Levels() = default;
  /// `files` in any order. Errors: kCorruption (a level that is not there, a range that is inverted, V1 or V2 broken;
  /// the message names the files).
  static Result<Levels> make(LevelFiles files);
  /// The same from the entries of a file set, without open tables.
  static Result<Levels> make(const std::map<std::uint64_t, format::TableFileEntry>& tables);

  /// What the files point into; told once, before the levels are shared. They keep it open.
  void set_value_files(ValueFiles files) noexcept { value_files_ = std::move(files); }
  const ValueFiles& value_files() const noexcept { return value_files_; }
  /// Null where there is none of this number.
  const ValueFile* value_file(std::uint64_t number) const noexcept {
    const auto found = value_files_.find(number);
    return found == value_files_.end() ? nullptr : found->second.get();
  }

  const LevelFiles& level(std::uint32_t level) const noexcept { return levels_[level]; }
  std::uint64_t level_bytes(std::uint32_t level) const noexcept { return bytes_[level]; }
  std::size_t file_count() const noexcept { return file_count_; }

  /// The one file of a level above 0 that may hold the key; null where there is none.
  const LevelFile* find(std::uint32_t level, std::string_view key) const noexcept;
  /// Of a level above 0: the place of the first file that ends at or after the key; the level's size where there is
  /// none. A scan begins there.
  std::size_t first_at_or_after(std::uint32_t level, std::string_view key) const noexcept;

  /// Of a level above 0: its files that overlap the range. Valid as long as these levels.
  Span overlapping(std::uint32_t level, const KeyRange& range) const noexcept;
  /// Of level 0, newest first.
  LevelFiles level0_overlapping(const KeyRange& range) const;
  /// Of all levels, level 0 first.
  LevelFiles all_overlapping(const KeyRange& range) const;

 private:
  std::array<LevelFiles, kLevelCount> levels_;
  std::array<std::uint64_t, kLevelCount> bytes_{};
  ValueFiles value_files_;
  std::size_t file_count_ = 0;
};

}  // namespace varve::engine
