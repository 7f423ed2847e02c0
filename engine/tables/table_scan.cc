// Owns: the way from run to run and from block to block (table_scan.h).
// Must never: hold more than one run.
#include "engine/tables/table_scan.h"

#include <cassert>
#include <span>
#include <utility>

#include "format/block.h"

namespace varve::engine {

TableScan::TableScan(const TableFile& file, std::atomic<std::uint64_t>& read_bytes)
    : file_(file), read_bytes_(read_bytes) {
  const Result<const OpenTable*> table = file_.open();
  if (!table.ok()) {
    status_ = table.status();
    return;
  }
  table_ = *table;
  if (!open_run(0) || !open_block()) return;
  settle();
}

bool TableScan::fail(const Status& status) {
  status_ = status;
  valid_ = false;
  return false;
}

std::string_view TableScan::frame_at(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return std::string_view(run_bytes_).substr(offset, bytes);
}

bool TableScan::open_run(std::size_t run) {
  const format::RunEntry& entry = table_->index.runs()[run];
  run_ = run;
  run_bytes_.resize(entry.bytes());
  if (Status read = table_->file->read_exactly(entry.offset, std::as_writable_bytes(std::span(run_bytes_)));
      !read.ok()) {
    return fail(read);
  }
  read_bytes_.fetch_add(entry.bytes(), std::memory_order_relaxed);
  const format::BlockHandle handle = entry.index();
  Result<std::string> content =
      format::decode_block(frame_at(handle.offset - entry.offset, handle.bytes), {table_->seed, handle.offset},
                           format::BlockType::kIndexPartition, decompressor_, nullptr);
  if (!content.ok()) return fail(content.status().in_file(table_->name, handle.offset));
  index_content_ = *std::move(content);
  if (Status opened = index_.open(index_content_, entry); !opened.ok()) {
    return fail(opened.in_file(table_->name, handle.offset));
  }
  index_.seek_to_first();
  return true;
}

/// The block that the index is at. False at the end of the file too.
bool TableScan::open_block() {
  while (!index_.valid()) {
    if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
    if (run_ + 1 == table_->index.runs().size()) return false;
    if (!open_run(run_ + 1)) return false;
  }
  const format::RunEntry& run = table_->index.runs()[run_];
  const format::BlockHandle handle = index_.block();
  const std::uint64_t offset = handle.offset;
  const Result<format::BlockFrame> frame =
      format::open_block(frame_at(offset - run.offset, handle.bytes), {table_->seed, offset}, format::BlockType::kData);
  if (!frame.ok()) return fail(frame.status().in_file(table_->name, offset));
  block_content_.resize(frame->raw_bytes);
  if (Status decoded = format::read_block(*frame, decompressor_, table_->dictionary_of(run), block_content_);
      !decoded.ok()) {
    return fail(decoded.in_file(table_->name, offset));
  }
  if (Status opened = data_.open(block_content_); !opened.ok()) return fail(opened.in_file(table_->name, offset));
  data_.seek_to_first();
  return true;
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
  valid_ = true;
}

void TableScan::next() {
  assert(valid_);
  data_.next();
  settle();
}

}  // namespace varve::engine
