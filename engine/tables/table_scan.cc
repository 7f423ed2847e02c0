// Owns: the moves from run to run and from block to block (table_scan.h).
// Must never: hold more than one run.
#include "engine/tables/table_scan.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "format/block/block.h"
#include "format/bytes/bytes.h"
#include "io/aligned_buffer.h"

namespace varve::engine {
namespace {

/// A part of a file that a direct read can read.
struct Sectors {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
};

Sectors sectors_of(const format::RunEntry& run, std::uint64_t file_bytes) noexcept {
  const std::uint64_t begin = io::round_down_to_sector(run.offset);
  const std::uint64_t end = run.offset + run.bytes();
  // The last sector of a file may be incomplete.
  return {begin, std::min(io::round_up_to_sector(end), std::max(end, file_bytes)) - begin};
}

}  // namespace

TableScan::TableScan(const TableFile& file, std::atomic<std::uint64_t>& read_bytes, KeySpan span, RunReads* reads)
    : file_(file), read_bytes_(read_bytes), span_(span), reads_(reads) {
  const Result<const OpenTable*> table = file_.open();
  if (!table.ok()) {
    status_ = table.status();
    return;
  }
  table_ = *table;
  begin();
}

void TableScan::begin() {
  const std::vector<format::RunEntry>& runs = table_->index.runs();
  const auto first = std::partition_point(runs.begin(), runs.end(),
                                          [this](const format::RunEntry& run) { return run.largest_key < span_.from; });
  if (first == runs.end() || !open_run(static_cast<std::size_t>(first - runs.begin()))) return;
  const bool begins_inside = span_.from <= first->smallest_key;
  if (!begins_inside) {
    at_run_start_ = false;
    index_.seek(span_.from, format::kCommitVersionMax);
  }
  if (!open_block()) return;
  if (!begins_inside) data_.seek(span_.from, format::kCommitVersionMax);
  settle();
}

/// Returns the current run, unless the run before or after it continues the versions of one of its keys.
std::optional<format::RunSource> TableScan::whole_run() const {
  if (!valid_ || !at_run_start_ || !run_ends_inside_) return std::nullopt;
  const std::vector<format::RunEntry>& runs = table_->index.runs();
  const format::RunEntry& run = runs[run_];
  if (run_ > 0 && runs[run_ - 1].largest_key == run.smallest_key) return std::nullopt;
  if (run_ + 1 < runs.size() && runs[run_ + 1].smallest_key == run.largest_key) return std::nullopt;
  const format::Dictionary* const dictionary = table_->dictionary_of(run);
  return format::RunSource{&run, table_->seed, run_bytes_,
                           dictionary == nullptr ? std::string_view() : dictionary->bytes()};
}

/// Uses a second cursor over the same index bytes, since index_ must stay at the first block.
void TableScan::show_cached(const ShowCachedBlock& show) const {
  assert(at_run_start_);
  const format::RunEntry& run = table_->index.runs()[run_];
  const auto look = [&](format::BlockType type, const format::BlockHandle& place) {
    const PinnedBlock block = file_.pin_cached(place.offset);
    if (block) show(type, {place.offset - run.offset, place.bytes}, block->content());
  };
  format::IndexCursor index;
  if (!index.open(index_content_, run).ok()) return;  // It was opened before.
  for (index.seek_to_first(); index.valid(); index.next()) look(format::BlockType::kData, index.block());
  look(format::BlockType::kFilterPartition, run.filter());
  look(format::BlockType::kIndexPartition, run.index());
}

void TableScan::pass_run() {
  assert(at_run_start_);
  valid_ = false;
  if (run_ + 1 == table_->index.runs().size()) return;
  if (!open_run(run_ + 1) || !open_block()) return;
  read_ahead();  // The caller passes whole runs as fast as they are read.
  settle();
}

bool TableScan::fail(const Status& status) {
  status_ = status.at_place({FileKind::kTable, file_.entry().number});
  valid_ = false;
  return false;
}

std::string_view TableScan::frame_at(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return run_bytes_.substr(offset, bytes);
}

/// Returns false if the span ends before the run, or after a failure.
bool TableScan::open_run(std::size_t run) {
  const format::RunEntry& entry = table_->index.runs()[run];
  if (span_.ends_before(entry.smallest_key)) return false;
  run_ = run;
  run_ends_inside_ = !span_.ends_before(entry.largest_key);
  wants_ahead_ = reads_ != nullptr && run_ends_inside_ && run + 1 < table_->index.runs().size();
  if (Status read = read_run(entry); !read.ok()) return fail(read);
  read_bytes_.fetch_add(entry.bytes(), std::memory_order_relaxed);
  Result<std::string> content = decode_index(entry);
  if (!content.ok() && reread_run(content.status())) content = decode_index(entry);
  if (!content.ok()) return fail(content.status().in_file(table_->name, entry.index().offset));
  index_content_ = *std::move(content);
  if (Status opened = index_.open(index_content_, entry); !opened.ok()) {
    return fail(opened.in_file(table_->name, entry.index().offset));
  }
  index_.seek_to_first();
  at_run_start_ = true;
  return true;
}

/// Reads the run with its first and last whole sectors, as a direct read requires. So nothing is copied.
Status TableScan::read_run(const format::RunEntry& run) {
  is_reread_ = false;
  const Sectors sectors = sectors_of(run, table_->file->size_bytes());
  if (!ahead_.take(sectors.begin, sectors.bytes, run_memory_)) {
    if (run_memory_.bytes().size() < sectors.bytes) {
      Result<io::PageMemory> memory = io::PageMemory::map(sectors.bytes);
      if (!memory.ok()) return memory.status();
      run_memory_ = *std::move(memory);
    }
    const Status read = table_->file->read_exactly(sectors.begin, run_memory_.bytes().first(sectors.bytes));
    if (!read.ok()) return read;
  }
  run_bytes_ = format::as_text(run_memory_.bytes().subspan(run.offset - sectors.begin, run.bytes()));
  return Status();
}

/// Reads the current run once more after damage, past any cache of the file system. Returns whether it has been read.
bool TableScan::reread_run(const Status& damage) noexcept {
  if (damage.code() != Code::kCorruption || std::exchange(is_reread_, true)) return false;
  const Sectors sectors = sectors_of(table_->index.runs()[run_], table_->file->size_bytes());
  return table_->file->read_past_cache(sectors.begin, run_memory_.bytes().first(sectors.bytes)).ok();
}

Result<std::string> TableScan::decode_index(const format::RunEntry& run) {
  const format::BlockHandle handle = run.index();
  return format::decode_block(frame_at(handle.offset - run.offset, handle.bytes), {table_->seed, handle.offset},
                              format::BlockType::kIndexPartition, decompressor_, nullptr);
}

/// Begins to read the next run, if the span has it.
void TableScan::read_ahead() noexcept {
  if (!std::exchange(wants_ahead_, false)) return;
  const format::RunEntry& next = table_->index.runs()[run_ + 1];
  if (span_.ends_before(next.smallest_key)) return;
  const Sectors sectors = sectors_of(next, table_->file->size_bytes());
  ahead_.begin(*reads_, *table_->file, sectors.begin, sectors.bytes);
}

/// Opens the block of the current index entry. Returns false at the end of the span, or after a failure.
bool TableScan::open_block() {
  while (!index_.valid()) {
    if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
    if (run_ + 1 == table_->index.runs().size()) return false;
    if (!open_run(run_ + 1)) return false;
  }
  const format::BlockHandle handle = index_.block();
  Status decoded = decode_block(handle);
  if (!decoded.ok() && reread_run(decoded)) decoded = decode_block(handle);
  if (decoded.ok()) decoded = data_.open(block_content_);
  if (!decoded.ok()) return fail(decoded.in_file(table_->name, handle.offset));
  data_.seek_to_first();
  block_is_cached_ = file_.caches(handle.offset);
  return true;
}

/// Decodes a data block of the current run into block_content_.
Status TableScan::decode_block(const format::BlockHandle& handle) {
  const format::RunEntry& run = table_->index.runs()[run_];
  const Result<format::BlockFrame> frame = format::open_block(frame_at(handle.offset - run.offset, handle.bytes),
                                                              {table_->seed, handle.offset}, format::BlockType::kData);
  if (!frame.ok()) return frame.status();
  block_content_.resize(frame->raw_bytes);
  return format::read_block(*frame, decompressor_, table_->dictionary_of(run), block_content_);
}

void TableScan::settle() {
  valid_ = false;
  while (!data_.valid()) {
    if (Status walked = data_.status(); !walked.ok()) {
      (void)fail(walked.in_file(table_->name));
      return;
    }
    index_.next();
    if (!open_block()) return;
  }
  valid_ = run_ends_inside_ || !span_.ends_before(data_.key());
}

void TableScan::next() {
  assert(valid_);
  at_run_start_ = false;
  if (wants_ahead_) read_ahead();
  data_.next();
  settle();
}

}  // namespace varve::engine
