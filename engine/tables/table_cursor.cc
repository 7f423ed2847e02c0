// Owns: the moves of a scan over a table (table_cursor.h).
// Must never: read a block twice in a row.
#include "engine/tables/table_cursor.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace varve::engine {

namespace {

/// Returns the bytes that `entries` entries take in the run on average, plus one block.
std::uint64_t bytes_of(const format::RunEntry& run, std::uint64_t entries) noexcept {
  constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 20;  // more than a window holds
  const std::uint64_t count = std::max<std::uint64_t>(run.entry_count, 1);
  const std::uint64_t blocks = std::max<std::uint64_t>(run.block_count, 1);
  return run.data_bytes / count * std::min(entries, kEntriesMax) + run.data_bytes / blocks;
}

}  // namespace

bool TableCursor::fail(const Status& status) {
  status_ = status;
  valid_ = false;
  return false;
}

/// Fails because the index partition lacks a required entry. Reports the partition's own error, or that it ends too
/// early.
bool TableCursor::fail_index() {
  const Status walked = index_.status();
  return fail((walked.ok() ? Status::corruption("the index ends before its run's largest key") : walked)
                  .in_file(table_->name, runs()[run_].index().offset));
}

bool TableCursor::open() {
  status_ = Status();
  valid_ = false;
  if (table_ != nullptr) return true;
  if (file_.open_already() == nullptr) {
    if (Status may = may_use_disk(cost_); !may.ok()) return fail(may);
  }
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
  if (Status may = may_use_disk(cost_); !may.ok()) return may;
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

bool TableCursor::begin_at_block(ReadAhead::Way way) {
  if (entries_expected_ == 0) return open_block();
  const format::RunEntry& run = runs()[run_];
  ahead_.expect(bytes_of(run, entries_expected_));
  return open_block(way);
}

/// Moves the index to the next entry, in this run or the next run. Returns false at the end of the file, or after a
/// failure.
bool TableCursor::next_index_entry(May may) {
  index_.next();
  if (index_.valid()) return true;
  if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
  std::size_t run = run_ + 1;
  if (may == May::kPassUnwanted) {
    const std::string_view bound = rule_->pass_below();
    const auto ends_before_bound = [&] { return bound.empty() || runs()[run].largest_key < bound; };
    while (run < runs().size() && may_pass_more() && ends_before_bound() && is_run_unwanted(run)) {
      count_skipped(runs()[run++].block_count);
    }
    if (!status_.ok()) return false;
  }
  if (run == runs().size() || !open_run(run)) return false;
  index_.seek_to_first();
  return index_.valid() || fail_index();
}

/// Moves to the first entry of the next block. Returns false at the end of the file, or after a failure.
bool TableCursor::next_block(May may) {
  if (rule_ == nullptr) may = May::kPassNothing;
  passed_before_ = passed_blocks_;
  if (!next_index_entry(may)) return false;
  if (may == May::kPassUnwanted && !pass_unwanted()) return false;
  if (!open_block(passed_blocks_ == passed_before_ ? ReadAhead::Way::kForward : ReadAhead::Way::kJump)) return false;
  data_.seek_to_first();
  return true;
}

/// Moves the index to the preceding entry, in this run or the preceding run. Returns false at the start of the file, or
/// after a failure.
bool TableCursor::previous_index_entry(May may) {
  index_.previous();
  if (index_.valid()) return true;
  if (Status walked = index_.status(); !walked.ok()) return fail(walked.in_file(table_->name));
  std::size_t behind = run_;  // the run to open is the one before this one
  if (may == May::kPassUnwanted) {
    const std::string_view bound = rule_->pass_above();
    while (behind > 0 && may_pass_more() && runs()[behind - 1].smallest_key > bound && is_run_unwanted(behind - 1)) {
      count_skipped(runs()[--behind].block_count);
    }
    if (!status_.ok()) return false;
  }
  if (behind == 0 || !open_run(behind - 1)) return false;
  index_.seek_to_last();
  return index_.valid() || fail_index();
}

/// Moves to the last entry of the preceding block. Returns false at the start of the file, or after a failure.
bool TableCursor::previous_block(May may) {
  if (rule_ == nullptr) may = May::kPassNothing;
  passed_before_ = passed_blocks_;
  if (!previous_index_entry(may)) return false;
  if (may == May::kPassUnwanted && !pass_unwanted_backward()) return false;
  if (!open_block(passed_blocks_ == passed_before_ ? ReadAhead::Way::kBackward : ReadAhead::Way::kJump)) return false;
  data_.seek_to_last();
  return true;
}

void TableCursor::count_skipped(std::uint64_t blocks) noexcept {
  passed_blocks_ += blocks;
  if (cost_ != nullptr) cost_->blocks_skipped += blocks;
}

// A scan skips an unwanted block if the block ends before the bound and no key of it continues in the next block.
// Scanning backward, the block must begin after the bound. After a failure, no block is unwanted.

/// Returns whether the run is unwanted. Does not check the bound.
bool TableCursor::is_run_unwanted(std::size_t run) {
  if (goes_on_behind(run)) return false;
  return !may_want(rule_->judge().may_want(runs()[run]));
}

/// Returns whether the current index entry's block is unwanted. Does not check the bound.
bool TableCursor::is_block_unwanted() {
  if (!index_.entry().has_statistics) return false;
  if (index_.separator() == runs()[run_].largest_key && goes_on_behind(run_)) return false;
  return !may_want(rule_->judge().may_want(runs()[run_], index_.entry()));
}

bool TableCursor::may_want(const Result<bool>& judged) {
  if (judged.ok()) return *judged;
  (void)fail(judged.status().in_file(table_->name));
  return true;
}

/// Skips unwanted blocks from the current index entry on. Returns false at the end of the file, or after a failure.
bool TableCursor::pass_unwanted() {
  const std::string_view bound = rule_->pass_below();
  while (may_pass_more() && (bound.empty() || index_.separator() < bound) && is_block_unwanted()) {
    count_skipped(1);
    if (!next_index_entry(May::kPassUnwanted)) return false;
  }
  return status_.ok();
}

bool TableCursor::pass_unwanted_backward() {
  const std::string_view bound = rule_->pass_above();
  while (may_pass_more() && is_block_unwanted() && begins_behind(bound)) {
    count_skipped(1);
    if (!previous_index_entry(May::kPassUnwanted)) return false;
  }
  return status_.ok();
}

/// Completes a move of data_: at the end of a block, moves on to the next block.
void TableCursor::settle(May may) {
  while (!data_.valid()) {
    if (Status walked = data_.status(); !walked.ok()) {
      (void)fail(walked.in_file(table_->name, block_offset_));
      return;
    }
    if (!next_block(may)) return;
  }
  valid_ = true;
}

/// Completes a move of data_: at the start of a block, moves back to the preceding block.
void TableCursor::settle_backward(May may) {
  while (!data_.valid()) {
    if (Status walked = data_.status(); !walked.ok()) {
      (void)fail(walked.in_file(table_->name, block_offset_));
      return;
    }
    if (!previous_block(may)) return;
  }
  valid_ = true;
}

void TableCursor::seek(std::string_view sort_key, CommitVersion at_most) {
  std::string kept;  // The key may point into the current entry.
  if (table_ != nullptr) sort_key = kept.assign(sort_key);
  if (!open()) return;
  const std::size_t run = table_->index.first_run_not_below(sort_key);
  if (run == runs().size() || !open_run(run)) return;
  index_.seek(sort_key, format::kCommitVersionMax);
  if (!index_.valid()) {
    (void)fail_index();
    return;
  }
  if (!begin_at_block(ReadAhead::Way::kForward)) return;
  data_.seek(sort_key, at_most);
  settle();
  // If a key has very many versions, whole blocks of it may be too new.
  while (valid_ && data_.key() == sort_key && data_.version() > at_most) {
    data_.seek(sort_key, at_most);
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
  if (!begin_at_block(ReadAhead::Way::kBackward)) return;
  data_.seek(target, format::kCommitVersionMax);
  if (data_.valid()) {
    data_.previous();
  } else if (data_.status().ok()) {
    data_.seek_to_last();  // The whole block is below the target.
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
  if (!begin_at_block(ReadAhead::Way::kBackward)) return;
  data_.seek_to_last();
  if (Status walked = data_.status(); !walked.ok()) {
    (void)fail(walked.in_file(table_->name, block_offset_));
    return;
  }
  valid_ = data_.valid();
}

bool TableCursor::goes_on_behind(std::size_t run) const noexcept {
  return run + 1 < runs().size() && runs()[run + 1].smallest_key == runs()[run].largest_key;
}

/// Returns whether the current index entry's block has only deletes, ends below the bound, and hides nothing in the
/// block after it.
bool TableCursor::is_block_passable(std::string_view bound) const noexcept {
  if (!index_.entry().only_deletes) return false;
  if (!bound.empty() && index_.separator() >= bound) return false;
  return index_.separator() != runs()[run_].largest_key || !goes_on_behind(run_);
}

bool TableCursor::pass_deletes(std::string_view bound) {
  assert(valid_);
  if (!is_block_passable(bound)) return false;
  valid_ = false;
  do {
    count_skipped(1);
    if (!next_index_entry()) return true;
  } while (is_block_passable(bound));
  if (!open_block()) return true;
  data_.seek_to_first();
  settle();
  return true;
}

bool TableCursor::is_block_passable_backward(std::string_view bound) {
  return index_.entry().only_deletes && begins_behind(bound);
}

/// Returns whether the current index entry's block begins after the bound. The end of the preceding block shows that.
bool TableCursor::begins_behind(std::string_view bound) {
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
  if (!is_block_passable_backward(bound)) return !valid_;  // A failed check has moved the cursor.
  valid_ = false;
  do {
    count_skipped(1);
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
  settle(May::kPassUnwanted);
}

void TableCursor::pass_key(std::string_view sort_key) {
  assert(valid_);
  std::size_t shared = 0;
  if (data_.step_to_other_key(&shared)) [[likely]]
    return;
  valid_ = false;
  data_.next();
  settle(May::kPassUnwanted);
  if (valid_ && data_.key() == sort_key) EntryCursor::pass_key(sort_key);
}

void TableCursor::previous() {
  assert(valid_);
  valid_ = false;
  data_.previous();
  settle_backward(May::kPassUnwanted);
}

}  // namespace varve::engine
