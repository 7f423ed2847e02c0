// Owns: one load of a table beside the log: its files, from the first entry to their adoption or their end.
// Must never: let a reader see an entry before the adopting commit, or leave anything behind when there is none.
//
// B1  all entries have the version of the commit that began the load, and the table id that commit drew: no other
//     table, and no entry of this one, is in any other file or in the log.
// B2  files are durable, names included, before the manifest names them; the same edit calls the id loading. The commit
//     that adopts the id comes after that edit. So an adopted table is whole, and a loading id without an adoption is
//     dead when the store is opened.
// B3  a load that ends without an adoption while the store is open removes its files, or, once they are installed, has
//     its id made dead by one edit: compaction lets the files go, and may have merged them with others.
// B4  after an adoption of unknown outcome nothing is touched: the next open decides by the log.
//
// While keys ascend, entries go straight to the files that will be installed. The first one that does not makes what
// was written so far the first of the rows that are merged in the end (sorter.h).
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

namespace varve::engine {

class CommitQueue;
class Compactor;
class TableFiles;
class Tree;

/// What all loads of a store did since it was opened. Any thread.
struct LoadCounters {
  std::atomic<std::uint64_t> loads{0};          // that were adopted
  std::atomic<std::uint64_t> entries{0};        // of adopted loads
  std::atomic<std::uint64_t> written_bytes{0};  // of all loads
};

/// The parts of an open store that a load uses. Once `closed` is true, the load touches none of the others.
struct LoadParts {
  const std::atomic<bool>& closed;
  Tree& tree;
  CommitQueue& queue;
  Compactor& compactor;
  TableFiles& table_files;
  LoadCounters& counters;
};

/// One thread at a time. It must not outlive the engine, but may end after Engine::close(): what it wrote is gone then.
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
  /// abandon().
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// From now on writes to this table are noticed. Call it before the commit that begins the load: what was written
  /// before is in every view in which that commit is.
  void watch(format::TableId table);
  const WriteWatches::Watch* watched() const noexcept { return watch_ ? &*watch_ : nullptr; }

  /// `version` is that of the commit, durable by now, that drew `table`.
  void begin(format::TableId table, CommitVersion version);
  format::TableId table() const noexcept { return table_; }

  /// A put. The key is a framed sort key of the table (asserted). An error ends the load: every later call answers it.
  /// Errors: kExists (the key was given before; found now or by install(); the message names it), kTooLarge, kNoSpace
  /// and others of io, kClosed, kOutOfMemory.
  Status add(std::string_view sort_key, std::string_view value);

  /// Everything was added: ends the files and makes them the store's. Errors: as add(); kBusy (Tree::install).
  Status install();
  bool is_installed() const noexcept { return stage_ == Stage::kInstalled; }
  /// Without any there is nothing to adopt.
  bool has_entries() const noexcept { return figures_.entries > 0; }

  /// By Engine::commit: how the adopting commit ended.
  void end(const Status& committed) noexcept;
  /// Gives everything back. Nothing happens after the end.
  void abandon() noexcept;

  LoadFigures figures() const noexcept;

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
  std::unique_ptr<WriteBehind> files_;  // where entries go that come in order, and where they are merged
  std::unique_ptr<Sorter> sorter_;      // where they go once one did not
  LoadFigures figures_;
};

}  // namespace varve::engine
