// Owns: iterating over an index partition (index_cursor.h).
// Must never: return a block outside its run.
#include "format/table/index_cursor.h"

#include <cassert>
#include <utility>

namespace varve::format {

Status IndexCursor::open(std::string_view content, const RunEntry& run) {
  valid_ = false;
  failed_ = Status();
  run_ = &run;
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) return block.status();
  if (block->base_version() != run.smallest_version) {
    return Status::corruption("index partition: its base version is not the smallest of its run");
  }
  entries_.open(*block);
  return Status();
}

void IndexCursor::load() {
  valid_ = false;
  if (!entries_.valid() || !failed_.ok()) return;
  if (Status decoded = decode_block_entry(entries_.value(), run_->smallest_version, entry_); !decoded.ok()) {
    failed_ = std::move(decoded);
    return;
  }
  if (entry_.offset > run_->data_bytes || entry_.bytes > run_->data_bytes - entry_.offset) {
    failed_ = Status::corruption("index partition: a block lies outside its run");
    return;
  }
  valid_ = true;
}

void IndexCursor::seek_to_first() {
  entries_.seek_to_first();
  load();
}

void IndexCursor::seek_to_last() {
  entries_.seek_to_last();
  load();
}

void IndexCursor::seek(std::string_view key, CommitVersion newest) {
  entries_.seek(key);
  load();
  // Skips a block without reading it if its separator is the key and all its versions are too new. Such a block may
  // also contain smaller keys, but the caller does not search for those.
  while (valid_ && entry_.smallest_version > newest && may_continue(key)) next();
}

void IndexCursor::next() {
  assert(valid_);
  entries_.next();
  load();
}

void IndexCursor::previous() {
  assert(valid_);
  entries_.previous();
  load();
}

Status IndexCursor::status() const {
  return failed_.ok() ? entries_.status() : failed_;
}

}  // namespace varve::format
