// Owns: the texts and bars of store_text.h.
// Must never: round a level with data to nothing.
#include "tools/varve/text/store_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

constexpr std::uint64_t kBarCells = 32;
constexpr std::uint64_t kEighths = 8;
constexpr std::array<const char*, kEighths> kPartCells{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

/// Returns `part` of `whole` as cells and eighths of a cell, at least one eighth.
std::string bar_of(std::uint64_t part, std::uint64_t whole, std::uint64_t lighter_of_thousand) {
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  const auto eighths = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * kBarCells * kEighths));
  const std::uint64_t full = eighths / kEighths;
  const std::uint64_t lighter = full * lighter_of_thousand / 1000;
  std::string bar;
  for (std::uint64_t cell = 0; cell < full; ++cell) bar += cell < full - lighter ? "█" : "▒";
  bar += kPartCells[eighths % kEighths];
  const std::uint64_t drawn = full + (eighths % kEighths == 0 ? 0 : 1);
  return bar + std::string(kBarCells - drawn, ' ');
}

std::uint64_t written_bytes_of(const Statistics& statistics) noexcept {
  return statistics.log_bytes + statistics.fill_bytes + statistics.flushed_bytes + statistics.compaction_written_bytes;
}

}  // namespace

std::string how_it_was_left(const RecoveryStatistics& recovery) {
  if (recovery.clean) return "closed cleanly";
  std::string text = "not closed; recovered to its last whole commit";
  if (recovery.commits_from_buffer > 0)
    text += ", " + with_commas(recovery.commits_from_buffer) + " commits from the log buffer";
  if (recovery.torn_bytes > 0) text += ", a torn tail of " + bytes_text(recovery.torn_bytes) + " left out";
  return text;
}

std::string clock_ahead_text(const Statistics& statistics) {
  const auto seconds = static_cast<std::uint64_t>(statistics.clock_ahead.count());
  if (seconds == 0) return std::string();
  constexpr std::uint64_t kDay = 24 * 3600;
  const std::string how_far =
      seconds < 2 * kDay ? counted(seconds, "second", "seconds") : counted(seconds / kDay, "day", "days");
  return "the store's is " + how_far +
         " ahead of this machine's, which once ran ahead; new Timestamps stay ahead until the machine catches up";
}

std::uint64_t table_files_of(const Statistics& statistics) noexcept {
  std::uint64_t files = 0;
  for (const LevelStatistics& level : statistics.levels) files += level.files;
  return files;
}

std::uint64_t table_bytes_of(const Statistics& statistics) noexcept {
  std::uint64_t bytes = 0;
  for (const LevelStatistics& level : statistics.levels) bytes += level.bytes;
  return bytes;
}

double space_amplification(const Statistics& statistics) noexcept {
  const auto lowest = std::find_if(statistics.levels.rbegin(), statistics.levels.rend(),
                                   [](const LevelStatistics& level) { return level.bytes > 0; });
  if (lowest == statistics.levels.rend()) return 0;
  if (lowest + 1 == statistics.levels.rend() && lowest->files > 1) return 0;
  return static_cast<double>(table_bytes_of(statistics)) / static_cast<double>(lowest->bytes);
}

double write_amplification(const Statistics& statistics) noexcept {
  if (statistics.batch_bytes == 0) return 0;
  return static_cast<double>(written_bytes_of(statistics)) / static_cast<double>(statistics.batch_bytes);
}

std::string written_text(const Statistics& statistics) {
  return bytes_text(written_bytes_of(statistics)) + " written for " + bytes_text(statistics.batch_bytes) +
         " of changes, " + times_text(write_amplification(statistics)) + " times: log " +
         bytes_text(statistics.log_bytes) + ", zeros ahead of it " + bytes_text(statistics.fill_bytes) +
         ", table files " + bytes_text(statistics.flushed_bytes + statistics.compaction_written_bytes);
}

std::string times_text(double times) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", times);
  return text.data();
}

std::string picture_of_levels(const Statistics& statistics) {
  std::uint64_t largest = 0;
  for (const LevelStatistics& level : statistics.levels) largest = std::max(largest, level.bytes);
  std::string picture;
  for (std::size_t number = 0; number < statistics.levels.size(); ++number) {
    const LevelStatistics& level = statistics.levels[number];
    if (level.files == 0) continue;
    const std::uint64_t lighter = level.entries == 0 ? 0 : level.deletions * 1000 / level.entries;
    std::string size = bytes_text(level.bytes);
    size.insert(0, size.size() < 9 ? 9 - size.size() : 0, ' ');
    picture += "  level " + std::to_string(number) + "  " + bar_of(level.bytes, largest, lighter) + size + " in " +
               counted(level.files, "file", "files") + ", " + counted(level.entries, "entry", "entries");
    if (level.deletions > 0) picture += ", " + with_commas(level.deletions) + " of them deletions";
    picture += "\n";
  }
  return picture;
}

}  // namespace varve::tool
