// Owns: one live table file for the levels, and the closed key ranges that such files span.
// Must never: change once it is shared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/key_span.h"
#include "format/log/manifest_edit.h"

namespace varve::engine {

using format::CommitVersion;
using format::TableId;

class TableFile;

/// The bounds of a KeySpan, with memory of their own.
struct MergedSpan {
  std::string from;
  std::string to;

  KeySpan view() const noexcept { return {from, to}; }
};

/// Adds a span to spans that neither overlap nor touch. Joins it with those that it overlaps or touches.
inline void add_span(std::vector<MergedSpan>& spans, const KeySpan& added) {
  MergedSpan whole{std::string(added.from), std::string(added.to)};
  std::erase_if(spans, [&whole](const MergedSpan& other) {
    if (!whole.to.empty() && whole.to < other.from) return false;
    if (!other.to.empty() && other.to < whole.from) return false;
    whole.from = std::min(whole.from, other.from);
    whole.to = whole.to.empty() || other.to.empty() ? std::string() : std::max(whole.to, other.to);
    return true;
  });
  spans.push_back(std::move(whole));
}

/// `table` is the open file, for readers. No code in this folder uses it, and tests leave it empty.
struct LevelFile {
  format::TableFileEntry entry;
  std::shared_ptr<TableFile> table;
  /// For a file of level 0, parts that a merge has published already (job_run.h). Readers of these keys find all in the
  /// level below, and pass the file.
  std::vector<MergedSpan> merged = {};

  bool is_merged(std::string_view key) const noexcept {
    return std::any_of(merged.begin(), merged.end(), [key](const MergedSpan& span) { return span.view().holds(key); });
  }
  /// Returns whether one of the parts has all keys of the span.
  bool is_merged(const KeySpan& span) const noexcept {
    return std::any_of(merged.begin(), merged.end(),
                       [&span](const MergedSpan& each) { return each.view().holds(span); });
  }

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
