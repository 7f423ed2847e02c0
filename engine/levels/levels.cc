// Owns: the order of files within levels, its checks, and the binary searches over it.
#include "engine/levels/levels.h"

#include <algorithm>
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

Status check_level0(const LevelFiles& files) {  // V1; files are ordered newest first.
  for (std::size_t newer = 0; newer < files.size(); ++newer) {
    for (std::size_t older = newer + 1; older < files.size(); ++older) {
      if (files[newer]->smallest_version() > files[older]->largest_version()) continue;
      if (!range_of(*files[newer]).overlaps(range_of(*files[older]))) continue;
      return contradiction(*files[newer], *files[older], "overlap in keys and in versions");
    }
  }
  return Status();
}

Status check_disjoint(const LevelFiles& files) {  // V2; files are ordered by smallest key.
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i - 1]->entry.largest_key < files[i]->entry.smallest_key) continue;
    return contradiction(*files[i - 1], *files[i], "overlap in keys");
  }
  return Status();
}

}  // namespace

Result<Levels> Levels::make(LevelFiles files) {
  Levels made;
  for (LevelFilePtr& file : files) {
    if (Status checked = check_file(*file); !checked.ok()) return checked;
    ++made.file_count_;
    made.bytes_[file->entry.level] += file->entry.size_bytes;
    made.levels_[file->entry.level].push_back(std::move(file));
  }
  std::sort(made.levels_[0].begin(), made.levels_[0].end(), is_newer);
  if (Status checked = check_level0(made.levels_[0]); !checked.ok()) return checked;
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    std::sort(made.levels_[level].begin(), made.levels_[level].end(), is_before_file);
    if (Status checked = check_disjoint(made.levels_[level]); !checked.ok()) return checked;
  }
  return made;
}

const LevelFile* Levels::find(std::uint32_t level, std::string_view key) const noexcept {
  const std::size_t place = first_at_or_after(level, key);
  if (place == levels_[level].size()) return nullptr;
  const LevelFile* const file = levels_[level][place].get();
  return file->entry.smallest_key <= key ? file : nullptr;
}

std::size_t Levels::first_at_or_after(std::uint32_t level, std::string_view key) const noexcept {
  const LevelFiles& files = levels_[level];
  const auto ends_before = [](const LevelFilePtr& file, std::string_view wanted) {
    return file->entry.largest_key < wanted;
  };
  return static_cast<std::size_t>(std::lower_bound(files.begin(), files.end(), key, ends_before) - files.begin());
}

Levels::Span Levels::overlapping(std::uint32_t level, const KeyRange& range) const noexcept {
  const LevelFiles& files = levels_[level];
  const std::size_t first = first_at_or_after(level, range.smallest);
  const auto begins_after = [](std::string_view wanted, const LevelFilePtr& file) {
    return wanted < file->entry.smallest_key;
  };
  const auto end =
      std::upper_bound(files.begin() + static_cast<std::ptrdiff_t>(first), files.end(), range.largest, begins_after);
  return Span(files).subspan(first, static_cast<std::size_t>(end - files.begin()) - first);
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
