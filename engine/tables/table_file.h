// Owns: the table files in use, and (by value_file.h) the value files. A file is opened at its first read and closed.
// Once it has left the store, it is removed when its last user has gone.
// Must never: serve a file that the manifest does not name, or remove one that it does name.
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
#include "engine/tables/run_links.h"
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

/// Returns what the file contains of each table. Reads one block.
/// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
Result<std::vector<format::DirectoryEntry>> read_directory(const TableFile& file);

/// The part of an open table file that stays in memory; its descriptor may be closed and opened again. Never changes.
/// Thread-safe.
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
  std::unique_ptr<const RunLinks> links;  // destroyed before `index`, which it reads

  /// Returns the memory that the open file keeps, in bytes. The cache counts it beside its blocks.
  std::uint64_t memory_bytes() const noexcept;
  /// Returns the dictionary that the run names; null if it names none.
  const format::Dictionary* dictionary_of(const format::RunEntry& run) const noexcept;
};

/// Thread-safe.
class TableFile : public std::enable_shared_from_this<TableFile> {
 public:
  TableFile(TableFiles& files, format::TableFileEntry entry);
  ~TableFile();
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  /// Returns the manifest's entry from the time when the file was added. The file's level may have changed since.
  const format::TableFileEntry& entry() const noexcept { return entry_; }

  /// Opens the file if it is not open yet. The result is valid as long as this object. After a failure, the next call
  /// tries again.
  /// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory; all name the file.
  Result<const OpenTable*> open() const;

  /// Returns whether the block at `offset` is cached, without prolonging its stay. The file is open.
  bool caches(std::uint64_t offset) const noexcept;
  /// Pins the block at `offset` if it is cached; otherwise returns an empty pin. The file is open.
  PinnedBlock pin_cached(std::uint64_t offset) const noexcept;

  /// Returns null if the file is not open yet. Does no I/O.
  const OpenTable* open_already() const noexcept { return open_.load(std::memory_order_acquire); }

  /// Notes that the manifest no longer names the file. The file is removed after this object ends.
  void leave() noexcept { has_left_.store(true, std::memory_order_relaxed); }

 private:
  TableFiles& files_;
  const format::TableFileEntry entry_;
  const std::uint64_t memory_bytes_;  // of this file while it is not open
  std::atomic<bool> has_left_{false};

  mutable std::atomic<const OpenTable*> open_{nullptr};
  mutable io::Mutex opening_;
  mutable std::unique_ptr<const OpenTable> owned_ VARVE_GUARDED_BY(opening_);
};

/// Thread-safe.
class TableFiles {
 public:
  /// `on_garbage` is called when remove_garbage() has work. The caller may hold locks at that time.
  TableFiles(const io::Env& env, io::Directory& directory, std::shared_ptr<BlockCache> cache,
             std::shared_ptr<OpenFiles> open_files, std::function<void()> on_garbage);
  ~TableFiles();  // no file is left
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  std::shared_ptr<TableFile> add(const format::TableFileEntry& entry);
  std::shared_ptr<ValueFile> add(const format::ValueFileEntry& entry);

  // For a file that is being written:

  /// Assigns the cache id under which the file's blocks may be cached already. Throws std::bad_alloc.
  std::uint64_t name_blocks_of(std::uint64_t number);
  /// Notes that a file is about to be added. Its cached blocks take their places among the visited ones.
  void begin_blocks_of(std::uint64_t number) noexcept;
  /// Removes the blocks of a file that was given up from the cache. Does nothing if it has no cache id.
  void forget_blocks_of(std::uint64_t number) noexcept;
  /// Gives up complete files that were not added: removes their names and their cached blocks. If a name cannot be
  /// removed, the file is a stray, and the next open removes it.
  void discard(const std::vector<format::TableFileEntry>& files) noexcept;

  BlockCache& cache() const noexcept { return *cache_; }
  io::Scheduler& scheduler() const noexcept { return env_.scheduler; }

  /// Removes files that have left and have no users, and their cached blocks. Value files are removed through
  /// `removal`, since a holder of the names of log segments may know such a file as a segment.
  /// Errors: those of Directory::remove. Then the file is a stray that the next open removes.
  Status remove_garbage(NameRemoval& removal);

 private:
  friend class TableFile;
  friend class ValueFile;

  /// A file that has left and has no users. Often its last user is a reader, which must not wait for a search of the
  /// whole cache.
  struct Garbage {
    format::FileId file;
    std::uint64_t cache_id = 0;  // zero: none of its blocks was ever cached
  };

  enum class ReadFrom : std::uint8_t { kAnywhere, kPastCache };
  Result<std::unique_ptr<const OpenTable>> open(const format::TableFileEntry& entry);
  Result<std::unique_ptr<const OpenTable>> open_from(ReadFrom from, const format::TableFileEntry& entry);
  Result<std::unique_ptr<const OpenValueFile>> open(const format::ValueFileEntry& entry);
  /// Takes the cache id of a file that has one already. Returns zero if it has none.
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
  /// Cache ids by file number, for files that were not opened yet.
  std::map<std::uint64_t, std::uint64_t> fresh_ VARVE_GUARDED_BY(mutex_);
};

/// Gives up new files at its end (TableFiles::discard), unless it was released or the vector was moved away. So an error or
/// an exception between the end of a file and its edit leaves no file.
class UnaddedFiles {
 public:
  /// Both arguments outlive the object, or it is released.
  UnaddedFiles(TableFiles& tables, const std::vector<format::TableFileEntry>& files) noexcept
      : tables_(tables), files_(&files) {}
  ~UnaddedFiles() {
    if (files_ != nullptr) tables_.discard(*files_);
  }
  UnaddedFiles(const UnaddedFiles&) = delete;
  UnaddedFiles& operator=(const UnaddedFiles&) = delete;

  void release() noexcept { files_ = nullptr; }

 private:
  TableFiles& tables_;
  const std::vector<format::TableFileEntry>* files_;
};

}  // namespace varve::engine
