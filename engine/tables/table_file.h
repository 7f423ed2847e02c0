// Owns: the table files (and, by value_file.h, the value files) that are in use: opened when first read, closed and,
// once they left the store, removed when nobody uses them any more.
// Must never: serve a file that is not the one the manifest names, or remove one that it does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/name_removal.h"
#include "engine/cache/block_cache.h"
#include "engine/tables/open_files.h"
#include "engine/tables/value_file.h"
#include "format/bytes/compression.h"
#include "format/log/file_header.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_index.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class TableFiles;
class TableFile;

/// What the file holds of each table. Reads one block.
/// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
Result<std::vector<format::DirectoryEntry>> read_directory(const TableFile& file);

/// An open table file: what of it is kept in memory; its descriptor comes and goes. Never changes; any thread.
struct OpenTable {
  OpenTable(std::unique_ptr<HeldFile> held, format::TableIndex pinned) noexcept
      : file(std::move(held)), index(std::move(pinned)) {}

  std::unique_ptr<HeldFile> file;
  format::TableIndex index;
  /// In the order of the properties.
  std::vector<std::shared_ptr<const format::Dictionary>> dictionaries;
  std::uint64_t cache_id = 0;
  std::uint64_t seed = 0;
  NamedFile name;

  /// The one that the run names; null if it names none.
  const format::Dictionary* dictionary_of(const format::RunEntry& run) const noexcept;
};

/// Any thread.
class TableFile : public std::enable_shared_from_this<TableFile> {
 public:
  TableFile(TableFiles& files, format::TableFileEntry entry);
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  /// As the manifest named it when it came; its level may have changed since.
  const format::TableFileEntry& entry() const noexcept { return entry_; }

  /// Opens the file if it is not open yet. Valid as long as this. A failure is told again at the next call only after
  /// another attempt. Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
  Result<const OpenTable*> open() const;

  /// Whether the block at `offset` lies in the cache, without any effect on how long it stays there. The file is open.
  bool caches(std::uint64_t offset) const noexcept;
  /// That block, or an empty one. The file is open.
  PinnedBlock pin_cached(std::uint64_t offset) const noexcept;

  /// Null if it is not open yet. Does no I/O.
  const OpenTable* open_already() const noexcept { return open_.load(std::memory_order_acquire); }

  /// The manifest names it no more: it is removed when this ends.
  void leave() noexcept { has_left_.store(true, std::memory_order_relaxed); }

 private:
  TableFiles& files_;
  const format::TableFileEntry entry_;
  std::atomic<bool> has_left_{false};

  mutable std::atomic<const OpenTable*> open_{nullptr};
  mutable io::Mutex opening_;
  mutable std::unique_ptr<const OpenTable> owned_ VARVE_GUARDED_BY(opening_);
};

/// Any thread.
class TableFiles {
 public:
  /// `on_garbage` is called, perhaps under locks of the caller, when there is something for remove_garbage() to do.
  TableFiles(const io::Env& env, io::Directory& directory, std::shared_ptr<BlockCache> cache,
             std::shared_ptr<OpenFiles> open_files, std::function<void()> on_garbage);
  ~TableFiles();  // no file is left
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  std::shared_ptr<TableFile> add(const format::TableFileEntry& entry);
  std::shared_ptr<ValueFile> add(const format::ValueFileEntry& entry);

  // A file that is being written:

  /// Under what its blocks may be put into the cache already. Throws std::bad_alloc.
  std::uint64_t name_blocks_of(std::uint64_t number);
  /// It was given up: its blocks leave the cache. Nothing happens where it has none.
  void forget_blocks_of(std::uint64_t number) noexcept;
  /// The files were given up when they were whole, before they were added: names and blocks. A name that stays is a
  /// stray, which the next open removes.
  void discard(const std::vector<format::TableFileEntry>& files) noexcept;

  BlockCache& cache() const noexcept { return *cache_; }
  OpenFiles& open_files() const noexcept { return *open_files_; }
  io::Scheduler& scheduler() const noexcept { return env_.scheduler; }

  /// Removes the files that have left and that nobody uses any more, and their blocks from the cache; value files by
  /// `removal`, since one who holds the names of log segments may know it as one. Errors: those of Directory::remove,
  /// after which the file is a stray that the next open removes.
  Status remove_garbage(NameRemoval& removal);

 private:
  friend class TableFile;
  friend class ValueFile;

  /// A file that has left and that nobody uses any more. Often it is a reader that used it last, who is not to wait for
  /// a walk over the cache.
  struct Garbage {
    format::FileId file;
    std::uint64_t cache_id = 0;  // zero: none of its blocks was ever cached
  };

  Result<std::unique_ptr<const OpenTable>> open(const format::TableFileEntry& entry);
  Result<std::unique_ptr<const OpenValueFile>> open(const format::ValueFileEntry& entry);
  /// Of a file that has one already; zero if it has none.
  std::uint64_t take_name_of(std::uint64_t number) noexcept;
  void ended(const format::TableFileEntry& entry, bool has_left, std::uint64_t cache_id) noexcept;
  void ended(const format::ValueFileEntry& entry, bool has_left, std::uint64_t cache_id) noexcept;
  void ended(format::FileId file, bool has_left, std::uint64_t cache_id) noexcept;
  void erase_blocks(std::uint64_t cache_id) noexcept;

  const io::Env& env_;
  io::Directory& directory_;
  const std::shared_ptr<BlockCache> cache_;
  const std::shared_ptr<OpenFiles> open_files_;
  const std::function<void()> on_garbage_;
  io::Mutex mutex_;
  std::vector<Garbage> garbage_ VARVE_GUARDED_BY(mutex_);
  /// Cache names by file number, of files that were not opened yet.
  std::map<std::uint64_t, std::uint64_t> fresh_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
