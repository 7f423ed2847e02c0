// Owns: sorting entries that come in any order: two buffers, the sorted rows of files that they spill to, and their merge.
// Must never: have more files open at once than the merge width, or leave a spilled file.
//
// A thread sorts and writes one buffer while the caller fills the other.
// Spilled files are table files with numbers of their own that no manifest names. However the process ends, the next
// open removes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/load/load_options.h"
#include "engine/load/sort_buffer.h"
#include "engine/load/sorted_files.h"
#include "engine/load/write_behind.h"
#include "engine/tables/table_file.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Sorts entries. One thread at a time may use it. After an error of another function than streams(), only destruction is
/// allowed.
class Sorter {
 public:
  /// All arguments must outlive the sorter.
  Sorter(const TableSink& sink, TableFiles& tables, const LoadOptions& options, CommitVersion version)
      : sink_(sink),
        tables_(tables),
        options_(options),
        version_(version),
        buffer_(options.sort_buffer_bytes / 2),
        full_(options.sort_buffer_bytes / 2) {}
  /// Removes the spilled files.
  ~Sorter();
  Sorter(const Sorter&) = delete;
  Sorter& operator=(const Sorter&) = delete;

  /// Takes ownership of files with ascending keys, which form one row of the merge.
  void take_row(std::vector<format::TableFileEntry> files);
  /// Takes everything that another sorter of the same load has. Errors: those of spilling.
  Status take_all_of(Sorter& other);
  /// Adds a put. The value of a kPutExpiring begins with its end. Errors: those of Scheduler::start(); those of spilling
  /// (SortedFiles), also of an earlier call.
  Status add(std::string_view key, std::string_view value, Kind kind = Kind::kPut);
  /// Returns what merges to all entries, after all were added: at most merge_width streams. The sorter outlives them, and is
  /// not used before they are gone. `goes_on` is called now and then, unless it is empty. Errors: those of WriteBehind and
  /// of reading spilled files; kCancelled (`goes_on` returned false). Then the sorter has all entries, and this may be
  /// called again.
  Result<std::vector<std::unique_ptr<EntryStream>>> streams(const std::function<bool()>& goes_on);
  /// Adds all entries to `out`, in order. Errors: those of WriteBehind and of reading spilled files.
  Status merge_into(WriteBehind& out);

  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  using Row = std::vector<format::TableFileEntry>;

  Status spill();
  Status await_spill();
  void write_full() noexcept;
  Result<Row> write_row(SortBuffer& buffer);
  Status prepare_merge(const std::function<bool()>& goes_on);
  std::vector<std::unique_ptr<EntryStream>> streams_of(std::size_t rows, bool with_buffer);
  Status merge_some_rows(const std::function<bool()>& goes_on);
  Status merge_rows(std::size_t count, bool with_buffer, WriteBehind& out, const std::function<bool()>& goes_on);
  Status keep_row(WriteBehind& written);
  void remove_rows(std::size_t count) noexcept;

  const TableSink sink_;
  TableFiles& tables_;
  const LoadOptions options_;
  const CommitVersion version_;
  SortBuffer buffer_;
  /// The buffer that is being spilled, or waits for another attempt. The thread uses it until it ends, and what follows.
  SortBuffer full_;
  Result<Row> full_row_ = Row();
  std::uint64_t full_row_bytes_ = 0;
  std::optional<io::Thread> spiller_;

  std::deque<Row> rows_;
  std::uint64_t written_bytes_ = 0;
  std::atomic<std::uint64_t> read_bytes_{0};
};

}  // namespace varve::engine
