// Owns: the order of files within levels, its checks, and the binary searches over it.
#include "engine/levels/levels.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace varve::engine {
namespace {

std::string name_of(const LevelFile& file) {
  return "table file " + std::to_string(file.entry.number);
}

Status contradiction(const LevelFile& one, const LevelFile& other, std::string_view what) {
  return Status::corruption("level " + std::to_string(one.entry.level) + ": " + name_of(one) + " and " +
                            name_of(other) + " " + std::string(what))
      .at_place({FileKind::kTable, one.entry.number});
}

bool is_newer(const LevelFilePtr& left, const LevelFilePtr& right) noexcept {
  if (left->largest_version() != right->largest_version()) return left->largest_version() > right->largest_version();
  return left->entry.number > right->entry.number;
}

bool is_before_file(const LevelFilePtr& left, const LevelFilePtr& right) noexcept {
  if (left->entry.smallest_key != right->entry.smallest_key) {
    return left->entry.smallest_key < right->entry.smallest_key;
  }
  return left->entry.number < right->entry.number;
}

Status check_file(const LevelFile& file) {
  if (file.entry.level >= kLevelCount) {
    return Status::corruption(name_of(file) + " is in level " + std::to_string(file.entry.level) +
                              "; the last level is " + std::to_string(kLastLevel))
        .at_place({FileKind::kTable, file.entry.number});
  }
  if (file.entry.largest_key < file.entry.smallest_key) {
    return Status::corruption(name_of(file) + ": its largest key is below its smallest")
        .at_place({FileKind::kTable, file.entry.number});
  }
  if (file.largest_version() < file.smallest_version()) {
    return Status::corruption(name_of(file) + ": its largest version is below its smallest")
        .at_place({FileKind::kTable, file.entry.number});
  }
  return Status();
}

Status check_pair0(const LevelFile& newer, const LevelFile& older) {  // V1
  if (newer.smallest_version() > older.largest_version()) return Status();
  if (!range_of(newer).overlaps(range_of(older))) return Status();
  return contradiction(newer, older, "overlap in keys and in versions");
}

Status check_pair(const LevelFile& before, const LevelFile& after) {  // V2
  if (before.entry.largest_key < after.entry.smallest_key) return Status();
  return contradiction(before, after, "overlap in keys");
}

Status check_level0(const LevelFiles& files) {
  for (std::size_t newer = 0; newer < files.size(); ++newer) {
    for (std::size_t older = newer + 1; older < files.size(); ++older) {
      if (Status checked = check_pair0(*files[newer], *files[older]); !checked.ok()) return checked;
    }
  }
  return Status();
}

Status check_disjoint(const LevelFiles& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (Status checked = check_pair(*files[i - 1], *files[i]); !checked.ok()) return checked;
  }
  return Status();
}

/// Moves files[end] to its place among the files from `begin` to `end`, which are disjoint and sorted by key. Returns
/// false if it overlaps one of them. Then nothing has changed.
bool join_flush(LevelFiles& files, std::size_t begin, std::size_t end) {
  const auto first = files.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = files.begin() + static_cast<std::ptrdiff_t>(end);
  const auto place = std::lower_bound(first, last, *last, is_before_file);
  if (place != first && range_of(**(place - 1)).overlaps(range_of(**last))) return false;
  if (place != last && range_of(**place).overlaps(range_of(**last))) return false;
  std::rotate(place, last, last + 1);
  return true;
}

auto ends_before(std::string_view key) noexcept {
  return [key](const LevelFilePtr& file) { return file->entry.largest_key < key; };
}

}  // namespace

Result<Levels> Levels::make(LevelFiles files) {
  std::array<LevelFiles, kLevelCount> levels;
  for (LevelFilePtr& file : files) {
    if (Status checked = check_file(*file); !checked.ok()) return checked;
    levels[file->entry.level].push_back(std::move(file));
  }
  Levels made;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    std::sort(levels[level].begin(), levels[level].end(), level == 0 ? is_newer : is_before_file);
    const Status checked = level == 0 ? check_level0(levels[level]) : check_disjoint(levels[level]);
    if (!checked.ok()) return checked;
    if (level > 0) made.levels_[level] = LevelSequence(std::move(levels[level]));
  }
  made.arrange_level0(std::move(levels[0]));
  return made;
}

/// Sets level 0 to these files, and finds its flushes (V3). The order is right whichever neighbours count as a flush,
/// since their keys are disjoint.
void Levels::arrange_level0(LevelFiles files) {
  flushes_.clear();
  std::sort(files.begin(), files.end(), is_newer);
  for (std::size_t begin = 0; begin < files.size(); begin = flushes_.back().end) {
    CommitVersion oldest = files[begin]->smallest_version();
    std::size_t end = begin + 1;
    for (; end < files.size() && files[end]->largest_version() >= oldest; ++end) {
      const CommitVersion smallest = files[end]->smallest_version();
      if (!join_flush(files, begin, end)) break;
      oldest = std::min(oldest, smallest);
    }
    Flush& flush = flushes_.emplace_back();
    flush.end = end;
    if (end - begin == 1) continue;
    flush.several = LevelSequence(LevelFiles(files.begin() + static_cast<std::ptrdiff_t>(begin),
                                             files.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  levels_[0] = LevelSequence(std::move(files));
}

Result<Levels> Levels::with_change(const LevelFiles& removed, const LevelFiles& added) const {
  Levels changed = *this;
  const auto is_in_level0 = [](const LevelFilePtr& file) { return file->entry.level == 0; };
  const bool changes_level0 = std::any_of(removed.begin(), removed.end(), is_in_level0) ||
                              std::any_of(added.begin(), added.end(), is_in_level0);
  for (const LevelFilePtr& file : removed) {
    const std::size_t index = changed.index_of(file->entry);
    LevelSequence& level = changed.levels_[file->entry.level];
    assert(index < level.size());
    level.erase(index);
  }
  for (const LevelFilePtr& file : added) {
    if (Status done = changed.add(file); !done.ok()) return done;
  }
  if (changes_level0) changed.arrange_level0(changed.levels_[0]);
  return changed;
}

/// Inserts one file. The files around it are in order, so only its own pairs are checked.
Status Levels::add(const LevelFilePtr& file) {
  if (Status checked = check_file(*file); !checked.ok()) return checked;
  if (file->entry.level == 0) return add_to_level0(file);
  LevelSequence& level = levels_[file->entry.level];
  const std::size_t index =
      level.index_of_first([&](const LevelFilePtr& other) { return is_before_file(other, file); });
  if (index > 0) {
    if (Status checked = check_pair(*level[index - 1], *file); !checked.ok()) return checked;
  }
  if (index < level.size()) {
    if (Status checked = check_pair(*file, *level[index]); !checked.ok()) return checked;
  }
  level.insert(index, file);
  return Status();
}

/// Leaves the order to arrange_level0().
Status Levels::add_to_level0(const LevelFilePtr& file) {
  for (const LevelFilePtr& other : levels_[0]) {
    const Status checked = is_newer(other, file) ? check_pair0(*other, *file) : check_pair0(*file, *other);
    if (!checked.ok()) return checked;
  }
  levels_[0].insert(0, file);
  return Status();
}

std::size_t Levels::file_count() const noexcept {
  std::size_t count = 0;
  for (const LevelSequence& level : levels_) count += level.size();
  return count;
}

/// Returns the number of files of the level if the file is not there.
std::size_t Levels::index_of(const format::TableFileEntry& entry) const noexcept {
  const LevelSequence& level = levels_[entry.level];
  const auto is_it = [&entry](const LevelFilePtr& file) { return file->entry.number == entry.number; };
  if (entry.level == 0) {
    return static_cast<std::size_t>(std::find_if(level.begin(), level.end(), is_it) - level.begin());
  }
  const std::size_t index = first_at_or_after(entry.level, entry.smallest_key);
  return index < level.size() && is_it(level[index]) ? index : level.size();
}

LevelFilePtr Levels::file_of(const format::TableFileEntry& entry) const noexcept {
  if (entry.level >= kLevelCount) return nullptr;
  const std::size_t index = index_of(entry);
  return index < levels_[entry.level].size() ? levels_[entry.level][index] : nullptr;
}

const LevelFile* Levels::find(std::uint32_t level, std::string_view key) const noexcept {
  const LevelFilePtr* const file = levels_[level].find_first(ends_before(key));
  return file != nullptr && (*file)->entry.smallest_key <= key ? file->get() : nullptr;
}

std::size_t Levels::first_at_or_after(std::uint32_t level, std::string_view key) const noexcept {
  return levels_[level].index_of_first(ends_before(key));
}

Levels::Span Levels::overlapping(std::uint32_t level, const KeyRange& range) const noexcept {
  const std::size_t first = first_at_or_after(level, range.smallest);
  const std::size_t end = levels_[level].index_of_first(
      [&range](const LevelFilePtr& file) { return file->entry.smallest_key <= range.largest; });
  return levels_[level].span(first, std::max(first, end) - first);
}

Levels::Span Levels::flush(std::size_t flush) const noexcept {
  const std::size_t begin = flush == 0 ? 0 : flushes_[flush - 1].end;
  return levels_[0].span(begin, flushes_[flush].end - begin);
}

/// Returns the flush's only file, or the first one of several that ends at or after the key. Null if there is none.
const LevelFilePtr* Levels::first_of_flush(std::size_t flush, std::string_view key) const noexcept {
  const Flush& files = flushes_[flush];
  return files.several.empty() ? &levels_[0][files.end - 1] : files.several.find_first(ends_before(key));
}

const LevelFile* Levels::find_in_flush(std::size_t flush, std::string_view key) const noexcept {
  const LevelFilePtr* const file = first_of_flush(flush, key);
  return file != nullptr && range_of(**file).holds(key) ? file->get() : nullptr;
}

bool Levels::has_overlapping(const KeyRange& range) const noexcept {
  const auto overlaps = [&range](const LevelFilePtr* file) {
    return file != nullptr && range_of(**file).overlaps(range);
  };
  for (std::size_t number = 0; number < flush_count(); ++number) {
    if (overlaps(first_of_flush(number, range.smallest))) return true;
  }
  return std::any_of(levels_.begin() + 1, levels_.end(), [&](const LevelSequence& level) {
    return !level.empty() && overlaps(level.find_first(ends_before(range.smallest)));
  });
}

LevelFiles Levels::level0_overlapping(const KeyRange& range) const {
  LevelFiles found;
  for (std::size_t number = 0; number < flush_count(); ++number) {
    const Span files = flush(number);
    auto file = std::partition_point(files.begin(), files.end(), ends_before(range.smallest));
    for (; file != files.end() && (*file)->entry.smallest_key <= range.largest; ++file) found.push_back(*file);
  }
  return found;
}

LevelFiles Levels::all_overlapping(const KeyRange& range) const {
  LevelFiles found = level0_overlapping(range);
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    const Span files = overlapping(level, range);
    found.insert(found.end(), files.begin(), files.end());
  }
  return found;
}

}  // namespace varve::engine
