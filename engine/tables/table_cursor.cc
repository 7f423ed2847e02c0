// Owns: the moves of a walk over a table (table_cursor.h).
// Must never: read a block twice in a row.
#include "engine/tables/table_cursor.h"

#include <cassert>
#include <string>
#include <utility>

namespace varve::engine {

bool TableCursor::fail(const Status& status) {
  status_ = status;
  valid_ = false;
  return false;
}

/// The index partition has no entry where one must be: what it says of that one, or that it ends too early.
bool TableCursor::fail_index() {
  const Status walked = index_.status();
  return fail((walked.ok() ? Status::corruption("the index ends before its run's largest key") : walked)
                  .in_file(table_->name, runs()[run_].index().offset));
}

bool TableCursor::open() {
  status_ = Status();
  valid_ = false;
  if (table_ != nullptr) return true;
  const Result<const OpenTable*> table = file_.open();
  if (!table.ok()) return fail(table.status());
  table_ = *table;
  return true;
}

Result<PinnedBlock> TableCursor::index_of(const format::RunEntry& run) {
  const BlockWanted wanted{table_, run.index(), format::BlockType::kIndexPartition, &run};
  if (PinnedBlock cached = blocks_.cache().pin(table_->cache_id, wanted.handle.offset); cached) {
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
    return cached;
  }
  if (cost_ != nullptr) ++cost_->blocks_read;
  return blocks_.read(wanted);
}

bool TableCursor::open_run(std::size_t run) {
  if (run == run_) return true;
  run_ = kNoRun;
  block_offset_ = 0;
  const format::RunEntry& entry = runs()[run];
  Result<PinnedBlock> block = index_of(entry);
  if (!block.ok()) return fail(block.status());
  if (Status opened = index_.open((*block)->content(), entry); !opened.ok()) {
    return fail(opened.in_file(table_->name, entry.index().offset));
  }
  index_block_ = *std::move(block);
  run_ = run;
  return true;
}

bool TableCursor::open_block(ReadAhead::Way way) {
  const format::RunEntry& run = runs()[run_];
  const format::BlockHandle handle = index_.block();
  if (handle.offset == block_offset_) return true;
  block_offset_ = 0;
  Result<PinnedBlock> block = ahead_.get({table_, handle, format::BlockType::kData, &run}, way);
  if (!block.ok()) return fail(block.status());
  if (Status opened = data_.open((*block)->content()); !opened.ok()) {
    return fail(opened.in_file(table_->name, handle.offset));
  }
  data_block_ = *std::move(block);
  block_offset_ = handle.offset;
  return true;
}

/// Of this run, or the next; false at the end of the file.
bool TableCursor::next_index_entry() {
  index_.next();
  if (index_.valid()) return true;
  if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
  if (run_ + 1 == runs().size()) return false;
  if (!open_run(run_ + 1)) return false;
  index_.seek_to_first();
  return index_.valid() || fail_index();
}

/// To the first entry of the next block; false at the end of the file.
bool TableCursor::next_block() {
  if (!next_index_entry() || !open_block(ReadAhead::Way::kForward)) return false;
  data_.seek_to_first();
  return true;
}

/// Of this run, or the one before; false at the beginning of the file.
bool TableCursor::previous_index_entry() {
  index_.previous();
  if (index_.valid()) return true;
  if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
  if (run_ == 0) return false;
  if (!open_run(run_ - 1)) return false;
  index_.seek_to_last();
  return index_.valid() || fail_index();
}

/// To the last entry of the block before; false at the beginning of the file.
bool TableCursor::previous_block() {
  if (!previous_index_entry() || !open_block(ReadAhead::Way::kBackward)) return false;
  data_.seek_to_last();
  return true;
}

/// After a move of data_: on to the next block at the end of one.
void TableCursor::settle() {
  while (!data_.valid()) {
    if (Status walked = data_.status(); !walked.ok()) {
      (void)fail(walked.in_file(table_->name, block_offset_));
      return;
    }
    if (!next_block()) return;
  }
  valid_ = true;
}

/// After a move of data_: back to the block before at the beginning of one.
void TableCursor::settle_backward() {
  while (!data_.valid()) {
    if (Status walked = data_.status(); !walked.ok()) {
      (void)fail(walked.in_file(table_->name, block_offset_));
      return;
    }
    if (!previous_block()) return;
  }
  valid_ = true;
}

void TableCursor::seek(std::string_view sort_key, CommitVersion at_most) {
  const std::string target(sort_key);  // It may be that of the entry at hand.
  if (!open()) return;
  const std::size_t run = table_->index.first_run_not_below(target);
  if (run == runs().size() || !open_run(run)) return;
  index_.seek(target, format::kCommitVersionMax);
  if (!index_.valid()) {
    (void)fail_index();
    return;
  }
  if (!open_block()) return;
  data_.seek(target, at_most);
  settle();
  // A key with very many versions: whole blocks of it may be too new.
  while (valid_ && data_.key() == target && data_.version() > at_most) {
    data_.seek(target, at_most);
    valid_ = false;
    settle();
  }
}

void TableCursor::seek_before(std::string_view sort_key) {
  const std::string target(sort_key);
  if (!open()) return;
  const std::size_t run = table_->index.first_run_not_below(target);
  if (run == runs().size()) return seek_to_last();
  if (!open_run(run)) return;
  index_.seek(target, format::kCommitVersionMax);
  if (!index_.valid()) {
    (void)fail_index();
    return;
  }
  if (!open_block()) return;
  data_.seek(target, format::kCommitVersionMax);
  if (data_.valid()) {
    data_.previous();
  } else if (data_.status().ok()) {
    data_.seek_to_last();  // All of the block is below the target.
  }
  settle_backward();
}

void TableCursor::seek_to_last() {
  if (!open() || !open_run(runs().size() - 1)) return;
  index_.seek_to_last();
  if (!index_.valid()) {
    (void)fail_index();
    return;
  }
  if (!open_block()) return;
  data_.seek_to_last();
  if (Status walked = data_.status(); !walked.ok()) {
    (void)fail(walked.in_file(table_->name, block_offset_));
    return;
  }
  valid_ = data_.valid();
}

bool TableCursor::goes_on_in_next_run() const noexcept {
  return run_ + 1 < runs().size() && runs()[run_ + 1].smallest_key == runs()[run_].largest_key;
}

/// Whether the block that the index is at is deletes alone, ends below the bound, and hides nothing in the one behind
/// it.
bool TableCursor::is_block_passable(std::string_view bound) const noexcept {
  if (!index_.entry().only_deletes) return false;
  if (!bound.empty() && index_.separator() >= bound) return false;
  return index_.separator() != runs()[run_].largest_key || !goes_on_in_next_run();
}

bool TableCursor::pass_deletes(std::string_view bound) {
  assert(valid_);
  if (!is_block_passable(bound)) return false;
  valid_ = false;
  do {
    if (cost_ != nullptr) ++cost_->blocks_skipped;
    if (!next_index_entry()) return true;
  } while (is_block_passable(bound));
  if (!open_block()) return true;
  data_.seek_to_first();
  settle();
  return true;
}

/// Whether the block that the index is at is deletes alone and begins behind the bound. Where it begins is told by
/// where the block before it ends.
bool TableCursor::is_block_passable_backward(std::string_view bound) {
  if (!index_.entry().only_deletes) return false;
  if (bound.empty()) return true;
  index_.previous();
  if (index_.valid()) {
    const bool is_behind = index_.separator() > bound;
    index_.next();
    return index_.valid() ? is_behind : fail(index_.status().in_file(table_->name));
  }
  index_.seek_to_first();
  if (!index_.valid()) return fail(index_.status().in_file(table_->name));
  return run_ > 0 && runs()[run_ - 1].largest_key > bound;
}

bool TableCursor::pass_deletes_backward(std::string_view bound) {
  assert(valid_);
  if (!is_block_passable_backward(bound)) return !valid_;  // After a failure it has moved.
  valid_ = false;
  do {
    if (cost_ != nullptr) ++cost_->blocks_skipped;
    if (!previous_index_entry()) return true;
  } while (is_block_passable_backward(bound));
  if (!status_.ok() || !open_block(ReadAhead::Way::kBackward)) return true;
  data_.seek_to_last();
  settle_backward();
  return true;
}

void TableCursor::next() {
  assert(valid_);
  valid_ = false;
  data_.next();
  settle();
}

void TableCursor::previous() {
  assert(valid_);
  valid_ = false;
  data_.previous();
  settle_backward();
}

}  // namespace varve::engine
