// Owns: the iteration from block to block, and the gaps between them (salvaged_table.h).
// Must never: return a key before recording the gap that precedes it.
#include "engine/repair/salvaged_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "format/keys/sort_key.h"
#include "format/log/file_header.h"
#include "format/table/index_cursor.h"

namespace varve::engine {

SalvagedTable::SalvagedTable(const TableSource& source, Salvage& salvage) : source_(source), salvage_(salvage) {
  Result<std::optional<SalvagedIndex>> opened = open_salvaged(source_, salvage_);
  if (!opened.ok()) {
    status_ = opened.status();
    return;
  }
  table_ = *std::move(opened);
  if (!table_) return;
  is_whole_ = table_->is_whole;
  if (open_region()) {
    settle();
  } else {
    end();
  }
}

bool SalvagedTable::fail(const Status& status) {
  status_ = status.in_file(source_.name);
  valid_ = false;
  return false;
}

/// Counts the file, which was read to its end.
void SalvagedTable::end() {
  if (!status_.ok()) return;
  is_whole_ ? ++salvage_.figures.report.table_files.whole : ++salvage_.figures.report.table_files.damaged;
}

SalvagedTable::Region SalvagedTable::region_of(const format::RunEntry& run) const {
  Region region;
  region.begin = run.offset;
  region.end = run.offset + run.data_bytes;
  region.smallest_key = run.smallest_key;
  region.largest_key = run.largest_key;
  region.smallest_version = run.smallest_version;
  region.largest_version = run.largest_version;
  region.dictionary = table_->dictionary_of(run);
  return region;
}

SalvagedTable::Region SalvagedTable::whole_region() const {
  Region region;
  region.begin = format::kFileHeaderBytes;
  region.end = source_.is_named ? source_.entry.size_bytes : table_->file->size_bytes();
  if (!source_.has_bounds) return region;
  region.smallest_key = source_.entry.smallest_key;
  region.largest_key = source_.entry.largest_key;
  region.smallest_version = source_.entry.smallest_version;
  region.largest_version = source_.entry.largest_version;
  return region;
}

bool SalvagedTable::open_region() {
  if (scan_) salvage_.figures.report.read_bytes += scan_->read_bytes();
  scan_.reset();
  if (table_->index) {
    const std::vector<format::RunEntry>& runs = table_->index->runs();
    if (next_run_ == runs.size()) return false;
    const format::RunEntry& run = runs[next_run_++];
    if (!read_partitions(run)) return false;
    region_ = region_of(run);
  } else {
    if (next_run_++ > 0) return false;
    region_ = whole_region();
  }
  scan_.emplace(*table_->file, table_->seed, region_.begin, region_.end);
  scan_end_ = region_.begin;
  return true;
}

/// Reads the partitions. Rows are found without them, but their damage is recorded. Returns false after an error that
/// ends the repair.
bool SalvagedTable::read_partitions(const format::RunEntry& run) {
  blocks_.clear();
  (void)read_partition(run.filter(), format::BlockType::kFilterPartition);
  if (!status_.ok()) return false;
  const std::optional<std::string> index = read_partition(run.index(), format::BlockType::kIndexPartition);
  if (index) list_blocks(*index, run);
  return status_.ok();
}

/// Returns nothing if the partition does not verify, or after an error.
std::optional<std::string> SalvagedTable::read_partition(const format::BlockHandle& handle, format::BlockType type) {
  Status why = Status::corruption("lies past the end of the file");
  if (handle.end() <= table_->file->size_bytes()) {
    std::string bytes(handle.bytes, '\0');
    why = table_->file->read_exactly(handle.offset, std::as_writable_bytes(std::span(bytes)));
    if (why.ok()) {
      Result<std::string> content =
          format::decode_block(bytes, {table_->seed, handle.offset}, type, decompressor_, nullptr);
      if (content.ok()) return *std::move(content);
      why = content.status();
    }
  }
  if (!is_damage(why)) {
    (void)fail(why);
    return std::nullopt;
  }
  is_whole_ = false;
  salvage_.note(why.in_file(source_.name, handle.offset));
  return std::nullopt;
}

void SalvagedTable::list_blocks(std::string_view index_content, const format::RunEntry& run) {
  format::IndexCursor index;
  Status why = index.open(index_content, run);
  if (why.ok()) {
    for (index.seek_to_first(); index.valid(); index.next()) {
      blocks_.push_back({std::string(index.separator()), index.block(), index.entry()});
      blocks_.back().entry.unknown_fields = {};  // It points into memory freed here.
    }
    why = index.status();
  }
  if (why.ok()) return;
  blocks_.clear();
  is_whole_ = false;
  salvage_.note(why.in_file(source_.name, run.index().offset));
}

// -- Gaps -------------------------------------------------------------------------------------------------------------

void SalvagedTable::open_gap(std::uint64_t offset, std::uint64_t bytes, const Status& why) {
  is_whole_ = false;
  if (gap_) {
    gap_->bytes = offset + bytes - gap_->offset;
    return;
  }
  gap_ = Loss{source_.name, offset, bytes, std::string(why.message())};
  gap_->smallest_key = region_.smallest_key;
  if (has_last_ && (!gap_->smallest_key || *gap_->smallest_key <= last_key_)) {
    gap_->smallest_key = last_key_;
    gap_->excludes_smallest = true;  // The newest version of a key comes first.
  }
  gap_->smallest_version = region_.smallest_version;
  gap_->largest_version = region_.largest_version;
}

void SalvagedTable::close_gap(const std::optional<std::string>& largest_key, GapEnd end) {
  if (!gap_) return;
  Loss loss = *std::exchange(gap_, std::nullopt);
  loss.largest_key = largest_key;
  bound_by_index(loss, end);
  salvage_.note(Status::corruption(loss.what).in_file(loss.file, loss.offset));
  salvage_.losses.add(std::move(loss));
}

/// Narrows the loss with the index partition, if it verifies: it describes the gap's blocks better than the
/// neighbouring blocks do.
void SalvagedTable::bound_by_index(Loss& loss, GapEnd end) const {
  const IndexedBlock* last = nullptr;
  for (const IndexedBlock& block : blocks_) {
    if (block.handle.end() <= loss.offset || loss.offset + loss.bytes <= block.handle.offset) continue;
    const format::BlockEntry& entry = block.entry;
    loss.smallest_version =
        last == nullptr ? entry.smallest_version : std::min(loss.smallest_version, entry.smallest_version);
    loss.largest_version =
        last == nullptr ? entry.largest_version : std::max(loss.largest_version, entry.largest_version);
    loss.entries_max += entry.entry_count;
    last = &block;
  }
  // If the separator is below the next key, the block before it does not contain that key.
  if (last != nullptr && end == GapEnd::kNextKey) loss.excludes_largest = last->separator < *loss.largest_key;
}

// -- Blocks -----------------------------------------------------------------------------------------------------------

/// Moves to the next data block that has an entry. Returns false at the end of the file, and after an error.
bool SalvagedTable::open_block() {
  for (;;) {
    const Result<std::optional<FoundBlock>> found = scan_->next();
    if (!found.ok()) return fail(found.status());
    const std::uint64_t begin = *found ? (*found)->handle.offset : region_.end;
    if (begin > scan_end_) {
      const bool is_all_there = !*found && !table_->index && has_last_ && region_.largest_key == last_key_;
      if (!is_all_there) open_gap(scan_end_, begin - scan_end_, Status::corruption("does not verify"));
    }
    if (!*found) {
      close_gap(region_.largest_key, GapEnd::kRegion);
      if (!open_region()) return false;
      continue;
    }
    scan_end_ = (*found)->handle.end();
    if ((*found)->type == format::BlockType::kData && begin_block(**found)) return true;
    if (!status_.ok()) return false;
  }
}

bool SalvagedTable::begin_block(const FoundBlock& block) {
  block_ = block.handle;
  const Result<format::BlockFrame> frame =
      format::open_block(block.frame, {table_->seed, block_.offset}, format::BlockType::kData);
  Status why = frame.status();
  if (why.ok()) {
    block_content_.resize(frame->raw_bytes);
    why = format::read_block(*frame, decompressor_, region_.dictionary, block_content_);
  }
  if (why.ok()) why = data_.open(block_content_);
  if (why.ok()) {
    data_.seek_to_first();
    return true;
  }
  if (!is_damage(why)) return fail(why);
  open_gap(block_.offset, block_.bytes, why);
  return false;
}

bool SalvagedTable::accepts(std::string_view key, CommitVersion version) const noexcept {
  if (!format::is_framed(key)) return false;
  if (source_.has_bounds && (key < source_.entry.smallest_key || key > source_.entry.largest_key)) return false;
  if (!has_last_) return true;
  const int compared = key.compare(last_key_);
  return compared > 0 || (compared == 0 && version < last_version_);
}

/// Moves to an entry that may be returned: the present one, or the first of a later block.
void SalvagedTable::settle() {
  valid_ = false;
  for (;;) {
    if (data_.valid()) {
      if (accepts(data_.key(), data_.version())) break;
      open_gap(block_.offset, block_.bytes, Status::corruption("contains keys out of order"));
    } else if (Status walked = data_.status(); !walked.ok()) {
      if (!is_damage(walked)) {
        (void)fail(walked);
        return;
      }
      open_gap(block_.offset, block_.bytes, walked);
    }
    if (!open_block()) return end();
  }
  close_gap(std::string(data_.key()), GapEnd::kNextKey);
  last_key_.assign(data_.key());
  last_version_ = data_.version();
  has_last_ = true;
  valid_ = true;
}

void SalvagedTable::next() {
  data_.next();
  settle();
}

}  // namespace varve::engine
