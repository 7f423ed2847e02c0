// Owns: a tree whose files are lists of entries in memory, so that picker, cuts and checks can be run for gigabytes.
// Method: the simulator does every step of an executor without bytes: flush, merge, move, unlink, edits of the file
// set.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/compaction/bottom_check.h"
#include "engine/compaction/output_cuts.h"
#include "engine/compaction/picker.h"

namespace varve::engine {

struct SimulatedEntry {
  TableId table = 0;
  std::uint64_t key = 0;
  CommitVersion version = 0;
  bool tombstone = false;
};

struct SimulatedCosts {
  std::uint64_t put_bytes = 0;      // bytes that callers wrote
  std::uint64_t flushed_bytes = 0;  // bytes written to level 0
  std::uint64_t merged_bytes = 0;   // bytes that merges wrote
  std::uint64_t merges = 0;
  std::uint64_t moves = 0;
  std::uint64_t unlinked_files = 0;
  std::size_t level0_flushes_max = 0;
  std::size_t files_of_flush_max = 0;

  /// Returns the bytes written to table files per byte put.
  double write_amplification() const;
  /// Returns the bytes written to table files per byte of level 0, so that compression has no effect.
  double rewrite_factor() const;
};

/// Returns a key. In a table keys have the order of their numbers.
std::string simulated_key(TableId table, std::uint64_t key);

class TreeSimulator {
 public:
  struct Measures {
    TreeShape shape;
    std::uint64_t memtable_bytes = std::uint64_t{64} << 20;
    std::uint64_t put_bytes = 4096;     // of an entry as the caller wrote it
    std::uint64_t stored_bytes = 2458;  // of the entry in a table file
    std::size_t running_max = 1;        // concurrent jobs
    std::size_t flush_files_max = 1;    // of one flush, cut between files of the base
  };
  explicit TreeSimulator(const Measures& measures) : measures_(measures) {}

  void put(TableId table, std::uint64_t key) { write(table, key, false); }
  void erase(TableId table, std::uint64_t key) { write(table, key, true); }
  void drop(TableId table);
  void flush();

  /// Begins all jobs that can begin, then ends the oldest running job. Returns false if there was nothing to do.
  bool step(bool idle = false);
  /// Runs steps until there is nothing to do. Gives up after `steps_max`.
  bool run(std::size_t steps_max, bool idle = false);
  /// Sets whether each flush is followed by merges as in `step`, or all merges are left for later.
  void set_compacting(bool on) { compacting_ = on; }
  void quarantine(std::uint64_t file) { quarantined_.insert(file); }
  /// Holds a snapshot. Tombstones above its version stay.
  void hold_snapshot(CommitVersion version) { snapshot_ = version; }

  const Levels& levels() const { return levels_; }
  const SimulatedCosts& costs() const { return costs_; }
  CommitVersion last_version() const { return version_; }
  std::uint64_t live_tombstones() const;
  std::uint64_t table_bytes(TableId table) const;
  /// Returns an empty text, or the first difference between the files and the written entries.
  std::string difference_from_model() const;
  std::string describe() const;

 private:
  using Content = std::shared_ptr<const std::vector<SimulatedEntry>>;
  struct Running {
    Job job;
    Levels levels;
  };

  void write(TableId table, std::uint64_t key, bool tombstone);
  CommitVersion reclaimable() const;
  DeadRanges dead() const;
  std::map<std::uint64_t, std::uint64_t> dead_bytes(const DeadRanges& dead) const;
  bool begin(bool idle);
  void finish(const Running& running);
  void merge(const Running& running);
  void add_flushed(const std::vector<SimulatedEntry>& entries);
  std::vector<SimulatedEntry> merged_entries(const Running& running);
  void add_file(std::uint32_t level, std::vector<SimulatedEntry> entries);
  void remove_file(std::uint64_t number);
  void install();

  Measures measures_;
  bool compacting_ = true;
  CommitVersion version_ = 0;
  CommitVersion snapshot_ = 0;
  std::uint64_t next_number_ = 1;
  std::uint64_t memtable_used_ = 0;
  std::vector<SimulatedEntry> memtable_;
  std::map<std::pair<TableId, std::uint64_t>, CommitVersion> model_;  // of flushed and unflushed puts
  std::vector<format::DeadId> dead_ids_;
  std::set<TableId> dropped_;
  std::map<std::uint64_t, format::TableFileEntry> files_;
  std::map<std::uint64_t, Content> contents_;
  std::set<std::uint64_t> quarantined_;
  Levels levels_;
  std::deque<Running> running_;
  SimulatedCosts costs_;
};

}  // namespace varve::engine
