// Owns: a row of table files, written from entries in ascending order of keys, and divided by size.
// Must never: accept a key twice, or leave files that the caller did not take.
//
// The row learns a dictionary from its first entries (TableOptions::learns_dictionary), in the thread that adds them.
// After that, other threads may make runs separately, and append each in its turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"
#include "engine/compaction/rewrite.h"
#include "engine/tables/table_writer.h"

namespace varve::engine {

/// Returns kExists, naming the key.
Status given_twice(std::string_view sort_key);

/// A row of files. One thread at a time may use it. After an error, only destruction is allowed.
class SortedFiles {
 public:
  /// The objects that `sink` refers to must outlive this object.
  SortedFiles(const TableSink& sink, format::TableOptions options, std::uint64_t file_bytes)
      : sink_(sink), table_(std::move(options)), file_bytes_(file_bytes) {}
  /// Removes the files that were not taken.
  ~SortedFiles();
  SortedFiles(const SortedFiles&) = delete;
  SortedFiles& operator=(const SortedFiles&) = delete;

  /// Returns a number below zero if the key may be added next, and zero if it equals the last added key.
  int compare_with_last(std::string_view key) const noexcept { return std::string_view(last_key_).compare(key); }
  /// Adds an entry whose key is not below the last one (asserted). Errors: kExists (the same key again; the message
  /// names it); those of TableWriter and of the manifest's numbers; kClosed (the store is closing).
  Status add(const Entry& entry);

  /// Returns nothing until the compression of all later files is settled. Then returns the options for making the runs
  /// that append() accepts.
  std::optional<format::TableOptions> settled() const;
  /// Appends a run whose keys follow the last entry (asserted). Errors: those of add().
  Status append(format::RunMaker& maker, const format::MadeRun& run);
  /// Returns the present file if the next one should begin, or null. The caller finishes the file, on any thread, and
  /// passes its entry to take().
  std::unique_ptr<TableWriter> cut();
  /// Takes finished files, in any order. If memory ends, takes none of them.
  void take(std::vector<format::TableFileEntry>& files);

  /// Returns all files in the order of keys, durable except for their names, and without a level. The caller names or
  /// removes them.
  Result<std::vector<format::TableFileEntry>> finish();

  /// Returns the bytes of the files that this object itself finished.
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  Status begin_file();
  Status end_file();
  bool is_full() const noexcept { return writer_ && writer_->estimated_bytes() >= file_bytes_; }
  bool is_stopping() const noexcept { return sink_.stopping.load(std::memory_order_relaxed); }
  void carry_on_dictionary();

  /// The size is checked once in this many entries, because the check costs more than comparing a key.
  static constexpr std::uint64_t kEntriesBetweenLooks = 32;

  const TableSink sink_;
  format::TableOptions table_;
  const std::uint64_t file_bytes_;
  std::unique_ptr<TableWriter> writer_;
  std::vector<format::TableFileEntry> files_;
  std::string last_key_;
  std::uint64_t entries_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace varve::engine
