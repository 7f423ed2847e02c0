// Owns: the steps of a search in one table (table_lookup.h).
// Must never: conclude more from a block than its own content shows.
#include "engine/tables/table_lookup.h"

#include <cassert>

#include "format/block/filter.h"
#include "format/table/index_cursor.h"

namespace varve::engine {

void TableLookup::begin(const LookupKey& key, const OpenTable& table, KnownBlocks* known, bool asks_filter) noexcept {
  key_ = &key;
  asks_filter_ = asks_filter;
  table_ = &table;
  known_ = known;
  state_ = State::kBegin;
  blocks_passed_ = 0;
  if (!status_.ok()) status_ = Status();
}

void TableLookup::begin_in(const LookupKey& key, const KnownBlocks::Known& known) noexcept {
  begin(key, *known.table, nullptr);
  run_ = known.run;
  (void)want(State::kData, known.handle, format::BlockType::kData);
}

LookupStep TableLookup::advance(const CachedBlock* block) {
  switch (state_) {
    case State::kBegin: {
      const format::RunEntry* const run = table_->index.run_of(key_->sort_key);
      if (run == nullptr) return LookupStep::kAbsent;
      run_ = static_cast<std::size_t>(run - table_->index.runs().data());
      if (!asks_filter_) return want(State::kIndex, run->index(), format::BlockType::kIndexPartition);
      return want(State::kFilter, run->filter(), format::BlockType::kFilterPartition);
    }
    case State::kFilter: return take_filter(*block);
    case State::kIndex: return take_index(*block);
    case State::kData: return take_data(*block);
  }
  return LookupStep::kAbsent;
}

LookupStep TableLookup::want(State state, format::BlockHandle handle, format::BlockType type) noexcept {
  state_ = state;
  wanted_ = {table_, handle, type, &table_->index.runs()[run_]};
  return LookupStep::kWantsBlock;
}

LookupStep TableLookup::fail(const Status& status) {
  status_ = status.in_file(table_->name, wanted_.handle.offset);
  return LookupStep::kFailed;
}

LookupStep TableLookup::take_filter(const CachedBlock& block) {
  const Result<format::FilterView> filter = format::FilterView::parse(block.content());
  if (!filter.ok()) return fail(filter.status());
  if (!filter->may_contain(key_->hash)) return LookupStep::kAbsent;
  return want(State::kIndex, wanted_.run->index(), format::BlockType::kIndexPartition);
}

LookupStep TableLookup::take_index(const CachedBlock& block) {
  format::IndexCursor cursor;
  if (Status opened = cursor.open(block.content(), *wanted_.run); !opened.ok()) return fail(opened);
  cursor.seek(key_->sort_key, format::kCommitVersionMax);
  for (std::size_t passed = 0; passed < blocks_passed_ && cursor.valid(); ++passed) cursor.next();
  if (Status read = cursor.status(); !read.ok()) return fail(read);
  if (!cursor.valid()) return next_block();
  if (known_ != nullptr && blocks_passed_ == 0) {
    known_->note(*table_, run_, cursor.block(), key_->sort_key, cursor.separator());
  }
  return want(State::kData, cursor.block(), format::BlockType::kData);
}

/// Handles a run without further blocks of the key. The next run may continue with its versions.
LookupStep TableLookup::next_block() {
  if (blocks_passed_ == 0) return fail(Status::corruption("the index ends before its run's largest key"));
  if (run_ + 1 >= table_->index.runs().size()) return LookupStep::kAbsent;
  const format::RunEntry& next = table_->index.runs()[run_ + 1];
  if (next.smallest_key != key_->sort_key) return LookupStep::kAbsent;
  ++run_;
  blocks_passed_ = 0;
  return want(State::kIndex, next.index(), format::BlockType::kIndexPartition);
}

LookupStep TableLookup::take_data(const CachedBlock& block) {
  format::DataBlockCursor cursor;
  if (Status opened = cursor.open(block.content()); !opened.ok()) return fail(opened);
  switch (cursor.find(key_->sort_key, key_->hash, key_->at_most)) {
    case format::FindOutcome::kFound:
      entry_ = {key_->sort_key, cursor.version(), cursor.kind(), cursor.value()};
      return LookupStep::kFound;
    case format::FindOutcome::kAbsent: return LookupStep::kAbsent;
    case format::FindOutcome::kDamaged: return fail(cursor.status());
    case format::FindOutcome::kContinues: break;
  }
  ++blocks_passed_;
  return want(State::kIndex, wanted_.run->index(), format::BlockType::kIndexPartition);
}

}  // namespace varve::engine
