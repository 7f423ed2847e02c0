// Owns: spilling, and the passes of the merge (sorter.h).
#include "engine/load/sorter.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "engine/compaction/tree.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/table_scan.h"

namespace varve::engine {

namespace {

/// The entries of a row of files, with one open file at a time.
class RowStream final : public EntryStream {
 public:
  RowStream(const std::vector<format::TableFileEntry>& row, TableFiles& tables, std::atomic<std::uint64_t>& read_bytes)
      : row_(row), tables_(tables), read_bytes_(read_bytes) {
    open_next();
  }

  bool valid() const noexcept override { return scan_ != nullptr && scan_->valid(); }
  Entry entry() const noexcept override { return scan_->entry(); }
  void next() override {
    scan_->next();
    if (!scan_->valid() && scan_->status().ok()) open_next();
  }
  Status status() const override { return scan_ != nullptr ? scan_->status() : Status(); }

 private:
  void open_next() {
    if (place_ == row_.size()) return;
    scan_.reset();
    file_ = tables_.add(row_[place_++]);
    scan_ = std::make_unique<TableScan>(*file_, read_bytes_);
  }

  const std::vector<format::TableFileEntry>& row_;
  TableFiles& tables_;
  std::atomic<std::uint64_t>& read_bytes_;
  std::size_t place_ = 0;
  std::shared_ptr<TableFile> file_;
  std::unique_ptr<TableScan> scan_;
};

Status stopped_merge() {
  return {Code::kCancelled, "the merge was stopped"};
}

}  // namespace

Sorter::~Sorter() {
  if (spiller_) {
    spiller_->join();
    if (full_row_.ok()) sink_.tables.discard(*full_row_);
  }
  remove_rows(rows_.size());
}

void Sorter::take_row(std::vector<format::TableFileEntry> files) {
  if (files.empty()) return;
  UnaddedFiles unadded(tables_, files);  // if there is no memory for the row
  rows_.emplace_back();
  unadded.release();
  rows_.back() = std::move(files);
}

Status Sorter::take_all_of(Sorter& other) {
  if (!other.buffer_.empty()) {
    if (Status spilled = other.spill(); !spilled.ok()) return spilled;
  }
  if (Status spilled = other.await_spill(); !spilled.ok()) return spilled;
  other.buffer_.release();
  while (!other.rows_.empty()) {
    rows_.emplace_back();  // First, so that no file is lost for lack of memory.
    rows_.back() = std::move(other.rows_.front());
    other.rows_.pop_front();
  }
  return Status();
}

Status Sorter::add(std::string_view key, std::string_view value, Kind kind) {
  if (buffer_.is_full_for(key, value)) {
    if (Status spilled = spill(); !spilled.ok()) return spilled;
  }
  buffer_.add(key, value, kind);
  return Status();
}

/// Begins to write the entries of the buffer, after those before it. The caller adds to an empty one meanwhile.
Status Sorter::spill() {
  if (Status spilled = await_spill(); !spilled.ok()) return spilled;
  std::swap(buffer_, full_);
  Result<io::Thread> thread = sink_.env.scheduler.start("varve-sort", [this] { write_full(); });
  if (!thread.ok()) return thread.status();
  spiller_ = *std::move(thread);
  return Status();
}

/// Waits until the full buffer is a row. After an error the buffer stays full, and the next call writes it.
Status Sorter::await_spill() {
  if (full_.empty()) return Status();
  rows_.emplace_back();  // First, so that no file is lost for lack of memory.
  if (spiller_) {
    spiller_->join();
    spiller_.reset();
  } else {
    write_full();
  }
  written_bytes_ += std::exchange(full_row_bytes_, 0);
  if (!full_row_.ok()) {
    rows_.pop_back();
    return full_row_.status();
  }
  rows_.back() = *std::move(full_row_);
  full_.clear();
  return Status();
}

void Sorter::write_full() noexcept {
  try {
    full_row_ = write_row(full_);
  } catch (const std::bad_alloc&) {
    full_row_ = Status::out_of_memory();
  }
}

Result<Sorter::Row> Sorter::write_row(SortBuffer& buffer) {
  buffer.sort();
  // Spilled files are small, because a merge releases their space file by file, and soon.
  SortedFiles files(sink_, passing_table_options(), std::min(options_.file_bytes, tree_shape().file_bytes));
  for (SortBuffer::Stream stream(buffer, version_); stream.valid(); stream.next()) {
    if (Status added = files.add(stream.entry()); !added.ok()) return added;
  }
  Result<Row> row = files.finish();
  full_row_bytes_ += files.written_bytes();
  return row;
}

Status Sorter::keep_row(WriteBehind& written) {
  rows_.emplace_back();  // First, so that no file is lost for lack of memory.
  Result<Row> row = written.finish();
  written_bytes_ += written.written_bytes();
  if (!row.ok()) {
    rows_.pop_back();
    return row.status();
  }
  rows_.back() = *std::move(row);
  return Status();
}

/// Sorts the buffer, and merges rows until one merge can have all of them.
Status Sorter::prepare_merge(const std::function<bool()>& goes_on) {
  if (Status spilled = await_spill(); !spilled.ok()) return spilled;
  full_.release();
  buffer_.sort();
  while (rows_.size() >= options_.merge_width) {
    if (Status merged = merge_some_rows(goes_on); !merged.ok()) return merged;
  }
  return Status();
}

std::vector<std::unique_ptr<EntryStream>> Sorter::streams_of(std::size_t rows, bool with_buffer) {
  std::vector<std::unique_ptr<EntryStream>> streams;
  streams.reserve(rows + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    streams.push_back(std::make_unique<RowStream>(rows_[i], tables_, read_bytes_));
  }
  if (with_buffer) streams.push_back(std::make_unique<SortBuffer::Stream>(buffer_, version_));
  return streams;
}

Result<std::vector<std::unique_ptr<EntryStream>>> Sorter::streams(const std::function<bool()>& goes_on) {
  if (Status prepared = prepare_merge(goes_on); !prepared.ok()) return prepared;
  return streams_of(rows_.size(), true);
}

Status Sorter::merge_into(WriteBehind& out) {
  if (Status prepared = prepare_merge({}); !prepared.ok()) return prepared;
  if (Status merged = merge_rows(rows_.size(), true, out, {}); !merged.ok()) return merged;
  remove_rows(rows_.size());
  buffer_.release();
  return Status();
}

/// Merges the oldest rows into one, which becomes the last row. All rows have about equal sizes until each was merged
/// once. The last step merges only as many rows as necessary. The buffer needs a place in the final merge.
Status Sorter::merge_some_rows(const std::function<bool()>& goes_on) {
  assert(options_.merge_width >= 2);
  const std::size_t too_many = rows_.size() + 1 - options_.merge_width;
  const std::size_t count = std::min(rows_.size(), std::min(options_.merge_width, too_many + 1));
  const Result<std::unique_ptr<WriteBehind>> merged =
      WriteBehind::start(sink_, passing_table_options(), options_, version_);
  if (!merged.ok()) return merged.status();
  if (Status done = merge_rows(count, false, **merged, goes_on); !done.ok()) return done;
  if (Status kept = keep_row(**merged); !kept.ok()) return kept;
  remove_rows(count);
  return Status();
}

Status Sorter::merge_rows(std::size_t count, bool with_buffer, WriteBehind& out, const std::function<bool()>& goes_on) {
  constexpr std::uint64_t kEntriesBetweenLooks = 1024;
  MergeStream all(streams_of(count, with_buffer));
  for (std::uint64_t taken = 1; all.valid(); all.next(), ++taken) {
    if (goes_on && taken % kEntriesBetweenLooks == 0 && !goes_on()) return stopped_merge();
    const Entry entry = all.entry();
    if (Status added = out.add(entry.sort_key, entry.value, entry.kind); !added.ok()) return added;
  }
  return all.status();
}

void Sorter::remove_rows(std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    sink_.tables.discard(rows_.front());
    rows_.pop_front();
  }
}

}  // namespace varve::engine
