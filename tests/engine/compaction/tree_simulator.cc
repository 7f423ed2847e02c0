// Owns: the simulated executor.
#include "tests/engine/compaction/tree_simulator.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/keys/sort_key.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine {

double SimulatedCosts::write_amplification() const {
  return static_cast<double>(flushed_bytes + merged_bytes) / static_cast<double>(put_bytes);
}

double SimulatedCosts::rewrite_factor() const {
  return static_cast<double>(flushed_bytes + merged_bytes) / static_cast<double>(flushed_bytes);
}

std::string simulated_key(TableId table, std::uint64_t key) {
  std::string text(16, '\0');
  format::store_u64_big_endian(text.data(), table);
  format::store_u64_big_endian(text.data() + 8, key);
  return text;
}

void TreeSimulator::write(TableId table, std::uint64_t key, bool tombstone) {
  memtable_.push_back({table, key, ++version_, tombstone});
  if (tombstone) {
    model_.erase({table, key});
  } else {
    model_[{table, key}] = version_;
  }
  costs_.put_bytes += measures_.put_bytes;
  memtable_used_ += measures_.put_bytes;
  if (memtable_used_ >= measures_.memtable_bytes) flush();
}

void TreeSimulator::drop(TableId table) {
  format::DeadId dead;
  dead.prefix = format::encode_table(table);
  dead.drop_version = ++version_;
  dead_ids_.push_back(dead);
  dropped_.insert(table);
  model_.erase(model_.lower_bound({table, 0}), model_.lower_bound({table + 1, 0}));
}

void TreeSimulator::flush() {
  std::vector<SimulatedEntry> entries = std::exchange(memtable_, {});
  memtable_used_ = 0;
  const auto newest_first = [](const SimulatedEntry& left, const SimulatedEntry& right) {
    return std::tuple(left.table, left.key, right.version) < std::tuple(right.table, right.key, left.version);
  };
  std::sort(entries.begin(), entries.end(), newest_first);
  const auto same_key = [](const SimulatedEntry& left, const SimulatedEntry& right) {
    return left.table == right.table && left.key == right.key;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same_key), entries.end());
  const DeadRanges dead_ranges = dead();
  std::erase_if(entries, [&](const SimulatedEntry& entry) { return dead_ranges.holds(entry.table); });
  if (!entries.empty()) {
    costs_.flushed_bytes += entries.size() * measures_.stored_bytes;
    add_flushed(entries);
    install();
  }
  costs_.level0_flushes_max = std::max(costs_.level0_flushes_max, levels_.flush_count());
  if (compacting_) run(10'000);
}

/// Cuts the entries between files of the base, into files of about equal size.
void TreeSimulator::add_flushed(const std::vector<SimulatedEntry>& entries) {
  const std::uint32_t base = level_targets(levels_, measures_.shape).base;
  std::size_t place = 0;
  std::size_t files = 1;
  std::vector<SimulatedEntry> file;
  for (const SimulatedEntry& entry : entries) {
    const std::size_t next = levels_.first_at_or_after(base, simulated_key(entry.table, entry.key));
    if (next != place && files < measures_.flush_files_max &&
        file.size() >= entries.size() / measures_.flush_files_max) {
      add_file(0, std::exchange(file, {}));
      ++files;
    }
    place = next;
    file.push_back(entry);
  }
  add_file(0, std::move(file));
  costs_.files_of_flush_max = std::max(costs_.files_of_flush_max, files);
}

CommitVersion TreeSimulator::reclaimable() const {
  return snapshot_ == 0 ? version_ : snapshot_;
}

DeadRanges TreeSimulator::dead() const {
  return DeadRanges(dead_ids_, reclaimable());
}

std::map<std::uint64_t, std::uint64_t> TreeSimulator::dead_bytes(const DeadRanges& dead) const {
  std::map<std::uint64_t, std::uint64_t> bytes;
  if (dead.empty()) return bytes;
  for (const auto& [number, entry] : files_) {
    if (!dead.touches(entry.first_table, entry.last_table)) continue;
    const std::vector<SimulatedEntry>& entries = *contents_.at(number);
    const auto count =
        std::count_if(entries.begin(), entries.end(), [&](const SimulatedEntry& e) { return dead.holds(e.table); });
    if (count > 0) bytes[number] = static_cast<std::uint64_t>(count) * measures_.stored_bytes;
  }
  return bytes;
}

bool TreeSimulator::begin(bool idle) {
  std::vector<Job> jobs;
  for (const Running& running : running_) jobs.push_back(running.job);
  const DeadRanges dead_ranges = dead();
  const auto bytes = dead_bytes(dead_ranges);
  const PickInput input{levels_, jobs, quarantined_, dead_ranges, bytes, reclaimable(), idle, idle};
  std::optional<Job> job = pick_job(input, measures_.shape);
  if (!job) return false;
  for (const Job& other : jobs) EXPECT_FALSE(conflict(*job, other)) << describe();
  for (const std::uint64_t number : quarantined_) {
    EXPECT_TRUE(!job->takes(number) || job->kind == JobKind::kUnlink) << describe();
  }
  running_.push_back({*std::move(job), levels_});
  return true;
}

bool TreeSimulator::step(bool idle) {
  while (running_.size() < measures_.running_max && begin(idle)) {
  }
  if (running_.empty()) return false;
  const Running running = std::move(running_.front());
  running_.pop_front();
  finish(running);
  return true;
}

bool TreeSimulator::run(std::size_t steps_max, bool idle) {
  for (std::size_t steps = 0; steps < steps_max; ++steps) {
    if (!step(idle)) return true;
  }
  ADD_FAILURE() << "no end after " << steps_max << " steps\n" << describe();
  return false;
}

void TreeSimulator::finish(const Running& running) {
  const Job& job = running.job;
  switch (job.kind) {
    case JobKind::kUnlink:
      costs_.unlinked_files += job.inputs.size();
      for (const LevelFilePtr& file : job.inputs) remove_file(file->entry.number);
      break;
    case JobKind::kMove:
      ++costs_.moves;
      for (const LevelFilePtr& file : job.inputs) files_.at(file->entry.number).level = job.output_level;
      break;
    case JobKind::kMerge:
      ++costs_.merges;
      merge(running);
      break;
  }
  install();
}

std::vector<SimulatedEntry> TreeSimulator::merged_entries(const Running& running) {
  std::vector<SimulatedEntry> entries;
  for (const LevelFiles* files : {&running.job.inputs, &running.job.overlapped}) {
    for (const LevelFilePtr& file : *files) {
      const Content content = contents_.at(file->entry.number);
      entries.insert(entries.end(), content->begin(), content->end());
    }
  }
  std::sort(entries.begin(), entries.end(), [](const SimulatedEntry& left, const SimulatedEntry& right) {
    return std::tuple(left.table, left.key, right.version) < std::tuple(right.table, right.key, left.version);
  });
  return entries;
}

void TreeSimulator::merge(const Running& running) {
  const std::vector<SimulatedEntry> entries = merged_entries(running);
  const DeadRanges dead_ranges = dead();
  BottomCheck bottom(running.levels, running.job);
  OutputCuts cuts(running.levels, running.job, measures_.shape);
  for (const LevelFiles* files : {&running.job.inputs, &running.job.overlapped}) {
    for (const LevelFilePtr& file : *files) remove_file(file->entry.number);
  }
  std::vector<SimulatedEntry> output;
  std::uint64_t table_bytes = 0;
  const auto end_file = [&] {
    if (output.empty()) return;
    costs_.merged_bytes += output.size() * measures_.stored_bytes;
    add_file(running.job.output_level, std::exchange(output, {}));
  };
  const SimulatedEntry* last = nullptr;
  TableId written_table = 0;
  for (const SimulatedEntry& entry : entries) {
    const bool older = last != nullptr && last->table == entry.table && last->key == entry.key;
    // An older version stays only if not every reader sees the newer one yet.
    const bool hidden = older && last->version <= reclaimable();
    last = &entry;
    if (hidden || dead_ranges.holds(entry.table)) continue;
    const std::string key = simulated_key(entry.table, entry.key);
    if (entry.tombstone && entry.version <= reclaimable() && bottom.is_bottom(key)) continue;
    if (!older && !running.job.joins_level0() &&
        cuts.begins_new_file(key, output.size() * measures_.stored_bytes, table_bytes,
                             written_table == entry.table ? std::nullopt : std::optional(entry.table))) {
      end_file();
    }
    if (written_table != entry.table) table_bytes = 0;
    written_table = entry.table;
    table_bytes += measures_.stored_bytes;
    output.push_back(entry);
  }
  end_file();
}

void TreeSimulator::add_file(std::uint32_t level, std::vector<SimulatedEntry> entries) {
  format::TableFileEntry entry;
  entry.level = level;
  entry.number = next_number_++;
  entry.size_bytes = entries.size() * measures_.stored_bytes;
  entry.smallest_key = simulated_key(entries.front().table, entries.front().key);
  entry.largest_key = simulated_key(entries.back().table, entries.back().key);
  entry.first_table = entries.front().table;
  entry.last_table = entries.back().table;
  entry.entry_count = entries.size();
  entry.smallest_version = entries.front().version;
  for (const SimulatedEntry& one : entries) {
    entry.tombstone_count += one.tombstone ? 1 : 0;
    entry.smallest_version = std::min(entry.smallest_version, one.version);
    entry.largest_version = std::max(entry.largest_version, one.version);
  }
  contents_[entry.number] = std::make_shared<const std::vector<SimulatedEntry>>(std::move(entries));
  files_.emplace(entry.number, std::move(entry));
}

void TreeSimulator::remove_file(std::uint64_t number) {
  EXPECT_EQ(files_.erase(number), 1u);
  contents_.erase(number);
}

void TreeSimulator::install() {
  std::vector<format::TableFileEntry> entries;
  for (const auto& [number, entry] : files_) entries.push_back(entry);
  Result<Levels> levels = try_levels(entries);
  ASSERT_TRUE(levels.ok()) << levels.status().to_string() << "\n" << describe();
  levels_ = *std::move(levels);
}

std::uint64_t TreeSimulator::live_tombstones() const {
  std::uint64_t count = 0;
  for (const auto& [number, entry] : files_) count += entry.tombstone_count;
  return count;
}

std::uint64_t TreeSimulator::table_bytes(TableId table) const {
  std::uint64_t bytes = 0;
  for (const auto& [number, entries] : contents_) {
    for (const SimulatedEntry& entry : *entries) bytes += entry.table == table ? measures_.stored_bytes : 0;
  }
  return bytes;
}

/// Reads like a reader: level 0 newest first, then level by level. The first entry of a key is its value.
std::string TreeSimulator::difference_from_model() const {
  std::map<std::pair<TableId, std::uint64_t>, SimulatedEntry> seen;
  for (const SimulatedEntry& entry : memtable_) seen.insert_or_assign({entry.table, entry.key}, entry);
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : levels_.level(level)) {
      for (const SimulatedEntry& entry : *contents_.at(file->entry.number)) {
        if (!dropped_.contains(entry.table)) seen.insert({{entry.table, entry.key}, entry});
      }
    }
  }
  std::erase_if(seen, [](const auto& one) { return one.second.tombstone; });
  if (seen.size() != model_.size()) {
    return std::to_string(seen.size()) + " keys are read, " + std::to_string(model_.size()) + " were written";
  }
  for (const auto& [key, version] : model_) {
    const auto found = seen.find(key);
    if (found == seen.end()) return "key " + std::to_string(key.second) + " is lost";
    if (found->second.version != version) return "key " + std::to_string(key.second) + " is read at an old version";
  }
  return {};
}

std::string TreeSimulator::describe() const {
  std::string text;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    if (levels_.level(level).empty()) continue;
    text += "level " + std::to_string(level) + ": " + std::to_string(levels_.level(level).size()) + " files, " +
            std::to_string(levels_.level_bytes(level) >> 20) + " MiB\n";
  }
  return text;
}

}  // namespace varve::engine
