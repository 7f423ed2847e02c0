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
    made.levels_[level] = LevelSequence(std::move(levels[level]));
  }
  return made;
}

Result<Levels> Levels::with_change(const LevelFiles& removed, const LevelFiles& added) const {
  Levels changed = *this;
  for (const LevelFilePtr& file : removed) {
    const std::size_t index = changed.index_of(file->entry);
    LevelSequence& level = changed.levels_[file->entry.level];
    assert(index < level.size());
    level.erase(index);
  }
  for (const LevelFilePtr& file : added) {
    if (Status done = changed.add(file); !done.ok()) return done;
  }
  return changed;
}

/// Inserts one file. The files around it are in order, so only its own pairs are checked.
Status Levels::add(const LevelFilePtr& file) {
  if (Status checked = check_file(*file); !checked.ok()) return checked;
  LevelSequence& level = levels_[file->entry.level];
  const auto is_before = file->entry.level == 0 ? is_newer : is_before_file;
  const std::size_t index = level.index_of_first([&](const LevelFilePtr& other) { return is_before(other, file); });
  if (file->entry.level == 0) {
    for (std::size_t other = 0; other < level.size(); ++other) {
      const Status checked = other < index ? check_pair0(*level[other], *file) : check_pair0(*file, *level[other]);
      if (!checked.ok()) return checked;
    }
  } else {
    if (index > 0) {
      if (Status checked = check_pair(*level[index - 1], *file); !checked.ok()) return checked;
    }
    if (index < level.size()) {
      if (Status checked = check_pair(*file, *level[index]); !checked.ok()) return checked;
    }
  }
  level.insert(index, file);
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

namespace {

auto ends_before(std::string_view key) noexcept {
  return [key](const LevelFilePtr& file) { return file->entry.largest_key < key; };
}

}  // namespace

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

LevelFiles Levels::level0_overlapping(const KeyRange& range) const {
  LevelFiles found;
  for (const LevelFilePtr& file : levels_[0]) {
    if (range_of(*file).overlaps(range)) found.push_back(file);
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
