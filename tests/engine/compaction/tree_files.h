// Owns: table file entries for tests of the tree, made from a few parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/compaction/picker.h"
#include "engine/levels/levels.h"

namespace varve::engine {

/// Returns an entry with one MiB, 100 entries, no tombstones, and its number as the only version.
inline format::TableFileEntry file_entry(std::uint64_t number, std::uint32_t level, std::string smallest,
                                         std::string largest) {
  format::TableFileEntry entry;
  entry.number = number;
  entry.level = level;
  entry.smallest_key = std::move(smallest);
  entry.largest_key = std::move(largest);
  entry.size_bytes = std::uint64_t{1} << 20;
  entry.entry_count = 100;
  entry.smallest_version = entry.largest_version = number;
  entry.first_table = entry.last_table = 1;
  return entry;
}

inline Result<Levels> try_levels(const std::vector<format::TableFileEntry>& entries) {
  LevelFiles files;
  for (const format::TableFileEntry& entry : entries)
    files.push_back(std::make_shared<const LevelFile>(LevelFile{entry, {}}));
  return Levels::make(std::move(files));
}

inline Levels levels_of(const std::vector<format::TableFileEntry>& entries) {
  Result<Levels> levels = try_levels(entries);
  EXPECT_TRUE(levels.ok()) << levels.status().to_string();
  return levels.ok() ? *std::move(levels) : Levels();
}

template <typename Files>
std::vector<std::uint64_t> numbers_of(const Files& files) {
  std::vector<std::uint64_t> numbers;
  for (const LevelFilePtr& file : files) numbers.push_back(file->entry.number);
  return numbers;
}

}  // namespace varve::engine
