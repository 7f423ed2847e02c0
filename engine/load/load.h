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
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/commit/write_watch.h"
#include "engine/load/load_options.h"
#include "engine/load/sorter.h"
#include "engine/load/write_behind.h"
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

/// A load. One thread at a time may use it. It must not outlive the engine, but may end after Engine::close(): its
/// files are then removed.
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

  /// Adds a put. The key is a framed sort key of the table (asserted). An error ends the load: every later call returns
  /// the same error. Errors: kExists (the key was added before; found now or by install(); the message names it),
  /// kTooLarge, kNoSpace and others of io, kClosed, kOutOfMemory.
  Status add(std::string_view sort_key, std::string_view value);

  /// Finishes the load's files and installs them in the store, after all entries were added. Errors: those of add();
  /// kBusy (Tree::install).
  Status install();
  bool is_installed() const noexcept { return stage_ == Stage::kInstalled; }
  /// If it is false, there is nothing to adopt.
  bool has_entries() const noexcept { return progress_.entities > 0; }

  /// Called by Engine::commit() with the result of the adopting commit.
  void end(const Status& committed) noexcept;
  /// Removes everything the load made. Does nothing after the end of the load.
  void abandon() noexcept;

  LoadProgress progress() const noexcept;

 private:
  enum class Stage : std::uint8_t { kAdding, kInstalled, kEnded };

  TableSink sink() const noexcept;
  Status check_open() const;
  Status add_checked(std::string_view sort_key, std::string_view value);
  Status begin_files();
  Status begin_sorting();
  Result<std::vector<format::TableFileEntry>> finish_files();
  Status install_files(std::vector<format::TableFileEntry> files);
  Status fail(const Status& status) noexcept;
  void make_dead() noexcept;
  void count_written(std::uint64_t bytes) noexcept;

  const LoadParts parts_;
  const LoadOptions options_;
  Stage stage_ = Stage::kAdding;
  Status failure_;
  format::TableId table_ = 0;
  CommitVersion version_ = 0;
  std::optional<WriteWatches::Watch> watch_;
  std::unique_ptr<WriteBehind> files_;  // receives entries in order, and the final merge
  std::unique_ptr<Sorter> sorter_;      // receives entries once one was out of order
  LoadProgress progress_;
};

}  // namespace varve::engine
