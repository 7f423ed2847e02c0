// Owns: one load of a table, separate from the log: its files, from the first entry to their adoption or removal.
// Must never: let a reader see an entry before the adopting commit, or leave files if there is no adoption.
//
// B1  all entries have the version of the commit that began the load, and the table id that this commit assigned. No
//     other file, and not the log, has an entry of this table; the load's files have no entry of another table.
// B2  files are durable, names included, before the manifest names them; the same edit marks the id as loading. The
//     commit that adopts the id comes after that edit. So an adopted table is complete, and a loading id without an
//     adoption is dead when the store is opened.
// B3  if a load ends without an adoption while the store is open, it removes its files. If they are installed, one edit
//     makes its id dead instead: compaction releases the files, and may have merged them with others.
// B4  after an adoption with an unknown outcome nothing is changed: the next open decides by the log.
//
// While keys ascend, entries are written directly to the files that will be installed. The first entry that is out of
// order turns the files written so far into the first row of a final merge (sorter.h).
//
// Several threads may add entries at the same time, each to a lane of its own (load_lane.h). If the keys of each lane
// ascended, and no two lanes overlap, the files of all lanes are installed as they are. Otherwise the final merge has
// the rows of all lanes, and finds a key that two lanes have.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/commit/write_watch.h"
#include "engine/load/load_lane.h"
#include "engine/load/load_options.h"
#include "varve/statistics.h"

namespace varve::engine {

class CommitQueue;
class Compactor;
class TableFiles;
class Tree;

/// Totals of all loads of a store since it was opened. Any thread may use them.
struct LoadCounters {
  std::atomic<std::uint64_t> loads{0};          // adopted ones
  std::atomic<std::uint64_t> entries{0};        // of adopted loads
  std::atomic<std::uint64_t> written_bytes{0};  // of all loads
};

/// The parts of an open store that a load uses. Once `closed` is true, the load uses none of the other parts.
struct LoadParts {
  const std::atomic<bool>& closed;
  Tree& tree;
  CommitQueue& queue;
  Compactor& compactor;
  TableFiles& table_files;
  LoadCounters& counters;
};

/// A load. One thread at a time may use it, except that each lane may have a thread of its own. It must not outlive the
/// engine, but may end after Engine::close(): its files are then removed.
///
///   load = *engine.begin_load();
///   load->watch(old_table);                                 // if a table is to be replaced
///   ... a `sync` commit raises the counter of ids ...
///   load->begin(table, *version);
///   ... load->add(key, value) ...
///   load->install();
///   request.batch = catalog row, and adopt(table) if load->has_entries(); request.load = load.get();
///   engine.commit(std::move(request));
class Load {
 public:
  Load(const LoadParts& parts, const LoadOptions& options);
  /// Calls abandon().
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Records writes to this table from now on. The caller calls it before the commit that begins the load: every view
  /// that includes that commit includes all earlier writes.
  void watch(format::TableId table);
  const WriteWatches::Watch* watched() const noexcept { return watch_ ? &*watch_ : nullptr; }

  /// `version` is the version of the commit that assigned `table`. It must be durable.
  void begin(format::TableId table, CommitVersion version);
  format::TableId table() const noexcept { return table_; }

  /// Adds a put. The key is a framed sort key of the table (asserted). The value of a kPutExpiring begins with its end;
  /// the store allows ends (Engine::allow_ends). An error ends the load: every later call returns
  /// the same error. Errors: kExists (the key was added before; found now or by install(); the message names it),
  /// kTooLarge, kNoSpace and others of io, kClosed, kOutOfMemory.
  Status add(std::string_view sort_key, std::string_view value, Kind kind = Kind::kPut) {
    return add(first_, sort_key, value, kind);
  }
  /// Returns another lane. It lives until the end of the load. Any thread may call this and the next function, before
  /// install(). Errors: those of an earlier add(), kClosed, kOutOfMemory.
  Result<LoadLane*> add_lane();
  /// As add(), to this lane.
  Status add(LoadLane& lane, std::string_view sort_key, std::string_view value, Kind kind = Kind::kPut);

  /// Finishes the load's files and installs them in the store, after all entries were added. Errors: those of add();
  /// kBusy (Tree::install has no level).
  Status install();
  bool is_installed() const noexcept { return stage_ == Stage::kInstalled; }
  /// If it is false, there is nothing to adopt.
  bool has_entries() const noexcept { return progress().entities > 0; }

  /// Called by Engine::commit() with the result of the adopting commit.
  void end(const Status& committed) noexcept;
  /// Removes everything the load made. Does nothing after the end of the load.
  void abandon() noexcept;

  /// Any thread may call it.
  LoadProgress progress() const noexcept VARVE_EXCLUDES(mutex_);

 private:
  enum class Stage : std::uint8_t { kAdding, kInstalled, kEnded };

  class Rows;

  TableSink sink() const noexcept;
  Status check_open() const VARVE_EXCLUDES(mutex_);
  std::vector<LoadLane*> lanes() VARVE_EXCLUDES(mutex_);
  Result<std::vector<format::TableFileEntry>> finish_files();
  Result<std::vector<format::TableFileEntry>> merge(Rows& rows, const std::vector<LoadLane*>& lanes);
  void end_lanes() noexcept VARVE_EXCLUDES(mutex_);
  Status install_files(std::vector<format::TableFileEntry> files);
  Status fail(const Status& status) noexcept;
  Status fail(LoadLane& lane, const Status& status) noexcept VARVE_EXCLUDES(mutex_);
  void make_dead() noexcept;
  void count_merged(std::uint64_t bytes) noexcept;

  const LoadParts parts_;
  const LoadOptions options_;
  const LoadOptions lane_options_;  // of lanes beside the first one
  std::atomic<Stage> stage_{Stage::kAdding};
  format::TableId table_ = 0;
  CommitVersion version_ = 0;
  std::optional<WriteWatches::Watch> watch_;
  LoadLane first_;

  mutable io::Mutex mutex_;
  /// The other lanes. Only the thread that uses the load ends them.
  std::vector<std::unique_ptr<LoadLane>> more_ VARVE_GUARDED_BY(mutex_);
  std::atomic<bool> has_failed_{false};
  Status failure_ VARVE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> merged_bytes_{0};  // written by the final merge
  bool lanes_have_ended_ = false;
};

}  // namespace varve::engine
