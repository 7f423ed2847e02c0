// Owns: one live table file for the levels, and the closed key ranges that such files span.
// Must never: change once it is shared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "format/log/manifest_edit.h"

namespace varve::engine {

using format::CommitVersion;
using format::TableId;

class TableFile;

/// `table` is the open file, for readers. No code in this folder uses it, and tests leave it empty.
struct LevelFile {
  format::TableFileEntry entry;
  std::shared_ptr<TableFile> table;

  /// An adopted version replaces every version inside the file.
  CommitVersion smallest_version() const noexcept { return entry.adopted_version.value_or(entry.smallest_version); }
  CommitVersion largest_version() const noexcept { return entry.adopted_version.value_or(entry.largest_version); }
};

using LevelFilePtr = std::shared_ptr<const LevelFile>;
using LevelFiles = std::vector<LevelFilePtr>;

/// Sort keys from `smallest` to `largest`, inclusive. The views must not outlive their keys.
struct KeyRange {
  std::string_view smallest;
  std::string_view largest;

  bool overlaps(const KeyRange& other) const noexcept { return smallest <= other.largest && other.smallest <= largest; }
  bool holds(std::string_view key) const noexcept { return smallest <= key && key <= largest; }
  /// Returns the smallest range that contains both ranges.
  KeyRange with(const KeyRange& other) const noexcept {
    return {std::min(smallest, other.smallest), std::max(largest, other.largest)};
  }
};

inline KeyRange range_of(const LevelFile& file) noexcept {
  return {file.entry.smallest_key, file.entry.largest_key};
}

/// Returns the range of at least one file.
template <typename Files>
KeyRange range_of_all(const Files& files) noexcept {
  KeyRange range = range_of(*files.front());
  for (const LevelFilePtr& file : files) range = range.with(range_of(*file));
  return range;
}

template <typename Files>
std::uint64_t bytes_of(const Files& files) noexcept {
  std::uint64_t bytes = 0;
  for (const LevelFilePtr& file : files) bytes += file->entry.size_bytes;
  return bytes;
}

}  // namespace varve::engine
