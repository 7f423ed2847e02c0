// Owns: the sums (dead_bytes.h).
// Must never: change what it sums up.
#include "engine/compaction/dead_bytes.h"

#include <map>
#include <string_view>

#include "engine/compaction/value_space.h"
#include "engine/tables/table_file.h"

namespace varve::engine {

namespace {

std::uint64_t bytes_under(const Memtable& memtable, std::string_view prefix, std::uint64_t enough) {
  std::uint64_t bytes = 0;
  Memtable::Cursor cursor(memtable);
  for (cursor.seek(prefix, format::kCommitVersionMax); cursor.valid() && bytes < enough; cursor.next()) {
    const Entry entry = cursor.entry();
    if (!entry.sort_key.starts_with(prefix)) break;
    bytes += entry.sort_key.size() + entry.value.size();
  }
  return bytes;
}

}  // namespace

std::uint64_t dead_bytes_in_memory(const ReadState& state, std::span<const format::DeadId> dead_ids,
                                   std::uint64_t enough) {
  std::uint64_t bytes = 0;
  for (const format::DeadId& dead : dead_ids) {
    if (bytes < enough) bytes += bytes_under(*state.active, dead.prefix, enough - bytes);
    for (const auto& memtable : state.sealed) {
      if (bytes < enough) bytes += bytes_under(*memtable, dead.prefix, enough - bytes);
    }
  }
  return bytes;
}

std::uint64_t dead_bytes_of(const std::vector<format::DirectoryEntry>& directory, const DeadRanges& dead,
                            std::uint64_t file_bytes) noexcept {
  std::uint64_t bytes = 0;
  bool all_dead = true;
  for (const format::DirectoryEntry& table : directory) {
    if (dead.holds(table.table)) {
      bytes += table.bytes;
    } else {
      all_dead = false;
    }
  }
  return all_dead ? file_bytes : bytes;
}

std::uint64_t dead_whole_file_bytes(const Levels& levels, const DeadRanges& dead) noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t level = 0; level < kLevelCount && !dead.empty(); ++level) {
    for (const LevelFilePtr& file : levels.level(level)) {
      if (!dead.covers(file->entry.first_table, file->entry.last_table)) continue;
      bytes += file->entry.size_bytes;
      for (const format::ValueFileUse& use : file->entry.value_files) bytes += use.bytes;
    }
  }
  return bytes;
}

std::uint64_t dead_table_file_bytes(const Levels& levels, const DeadRanges& dead) {
  std::uint64_t bytes = 0;
  for (std::uint32_t level = 0; level < kLevelCount && !dead.empty(); ++level) {
    for (const LevelFilePtr& file : levels.level(level)) {
      const format::TableFileEntry& entry = file->entry;
      if (!dead.touches(entry.first_table, entry.last_table)) continue;
      if (dead.covers(entry.first_table, entry.last_table)) {
        bytes += entry.size_bytes;
        continue;
      }
      const Result<std::vector<format::DirectoryEntry>> directory = read_directory(*file->table);
      if (directory.ok()) bytes += dead_bytes_of(*directory, dead, entry.size_bytes);
    }
  }
  return bytes;
}

std::uint64_t dead_value_file_bytes(const Levels& levels, const DeadRanges& dead) {
  std::map<std::uint64_t, std::uint64_t> used;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : levels.level(level)) {
      if (dead.covers(file->entry.first_table, file->entry.last_table)) continue;
      for (const format::ValueFileUse& use : file->entry.value_files) used[use.number] += use.bytes;
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [number, values] : levels.value_files()) {
    const std::uint64_t size = values->entry().size_bytes;
    if (is_wasteful(size, used[number], kWastefulPartAtRest)) bytes += size - used[number];
  }
  return bytes;
}

}  // namespace varve::engine
