// Owns: a row of table files written from entries in ascending order of keys, cut at a size.
// Must never: take a key twice, or leave files behind that nobody took.
//
// What came first in the row is learned from (TableOptions::learns_dictionary), by the thread that adds it. Once that
// is done, entries may come as runs that were made apart, by other threads, each of them in its turn.
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

/// kExists, naming the key.
Status given_twice(std::string_view sort_key);

/// One thread at a time. After an error nothing but destruction is allowed.
class SortedFiles {
 public:
  /// What `sink` refers to outlives this.
  SortedFiles(const TableSink& sink, format::TableOptions options, std::uint64_t file_bytes)
      : sink_(sink), table_(std::move(options)), file_bytes_(file_bytes) {}
  /// Removes what was not taken.
  ~SortedFiles();
  SortedFiles(const SortedFiles&) = delete;
  SortedFiles& operator=(const SortedFiles&) = delete;

  /// Less than zero if the key may be added next, zero if it was the last one added.
  int compare_with_last(std::string_view key) const noexcept { return std::string_view(last_key_).compare(key); }
  /// The key is not below the last one (asserted). Errors: kExists (the same key again, named); those of TableWriter
  /// and of the manifest's numbers; kClosed (the store is closing).
  Status add(const Entry& entry);

  /// Nothing, until what entries are compressed with is settled for all files to come; then what runs are to be made
  /// with that append() takes.
  std::optional<format::TableOptions> settled() const;
  /// A run of entries behind the last one (asserted). Errors: as add().
  Status append(format::RunMaker& maker, const format::MadeRun& run);
  /// The file that is being written, if the next one is to begin: the caller's to end, on any thread, and its entry to
  /// give to take(). Null: none.
  std::unique_ptr<TableWriter> cut();
  /// Finished files, each anywhere in the order; all of them, or when memory ends none.
  void take(std::vector<format::TableFileEntry>& files);

  /// All files in the order of keys, durable but for their names; their level is not set. The caller's to name or to
  /// remove.
  Result<std::vector<format::TableFileEntry>> finish();

  /// Bytes of the files that it finished itself.
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  Status begin_file();
  Status end_file();
  bool is_full() const noexcept { return writer_ && writer_->estimated_bytes() >= file_bytes_; }
  bool is_stopping() const noexcept { return sink_.stopping.load(std::memory_order_relaxed); }
  void carry_on_dictionary();

  /// Asking for a file's size costs more than an entry's compare.
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
