// Owns: a scan over the entries of one table file.
// Must never: hold more than one index partition and one data block, or show an entry of a block that failed.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/base/entry_cursor.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/read_ahead.h"
#include "engine/tables/table_file.h"
#include "format/block/data_block.h"
#include "format/table/index_cursor.h"

namespace varve::engine {

/// The current entry is valid until the next move.
class TableCursor final : public EntryCursor {
 public:
  /// Number of blocks after which one move stops skipping and reads the next block, wanted or not. Between moves, the
  /// caller checks the time and whether to stop.
  static constexpr std::uint64_t kPassedAtOnceMax = 1024;

  /// All arguments outlive the cursor. `cost` receives the costs of the scan and may be null. The file is opened at the
  /// first move. `entries_expected` is the number of entries that the scan will read; zero means unknown.
  TableCursor(const TableFile& file, BlockReader& blocks, ReadCost* cost, std::uint64_t entries_expected = 0) noexcept
      : file_(file), blocks_(blocks), cost_(cost), ahead_(file, blocks, cost), entries_expected_(entries_expected) {}

  void seek(std::string_view sort_key, CommitVersion at_most) override;
  void seek_before(std::string_view sort_key) override;
  void seek_to_last() override;
  void next() override;
  void previous() override;
  void pass_key(std::string_view sort_key) override;
  bool step_to_next_key(KeyStep& step) override {
    if (!data_.step_to_other_key(&step.shared)) return false;
    step.entry = entry();
    return true;
  }
  void pass_by(const PassRule& rule) override { rule_ = &rule; }
  bool pass_deletes(std::string_view bound) override;
  bool pass_deletes_backward(std::string_view bound) override;
  bool valid() const noexcept override { return valid_; }
  Entry entry() const noexcept override { return {data_.key(), data_.version(), data_.kind(), data_.value()}; }
  Status status() const override { return status_; }

 private:
  static constexpr std::size_t kNoRun = static_cast<std::size_t>(-1);

  const std::vector<format::RunEntry>& runs() const noexcept { return table_->index.runs(); }
  bool open();
  bool open_run(std::size_t run);
  Result<PinnedBlock> index_of(const format::RunEntry& run);
  /// Opens the data block of the current index entry.
  bool open_block(ReadAhead::Way way = ReadAhead::Way::kJump);
  /// Opens the data block too, for a scan that begins there and continues in the direction `way`.
  bool begin_at_block(ReadAhead::Way way);
  /// Whether a move may skip blocks that the rule does not want, in addition to its own step.
  enum class May : std::uint8_t { kPassNothing, kPassUnwanted };
  bool next_index_entry(May may = May::kPassNothing);
  bool next_block(May may);
  void count_skipped(std::uint64_t blocks) noexcept;
  bool may_pass_more() const noexcept { return passed_blocks_ - passed_before_ < kPassedAtOnceMax; }
  bool may_want(const Result<bool>& judged);
  bool is_run_unwanted(std::size_t run);
  bool is_block_unwanted();
  bool pass_unwanted();
  bool is_block_passable(std::string_view bound) const noexcept;
  bool goes_on_behind(std::size_t run) const noexcept;
  bool previous_index_entry(May may = May::kPassNothing);
  bool previous_block(May may);
  bool pass_unwanted_backward();
  bool begins_behind(std::string_view bound);
  bool is_block_passable_backward(std::string_view bound);
  void settle(May may = May::kPassNothing);
  void settle_backward(May may = May::kPassNothing);
  bool fail(const Status& status);
  bool fail_index();

  const TableFile& file_;
  BlockReader& blocks_;
  ReadCost* const cost_;
  ReadAhead ahead_;
  const std::uint64_t entries_expected_;
  const PassRule* rule_ = nullptr;
  std::uint64_t passed_blocks_ = 0;
  std::uint64_t passed_before_ = 0;  // when the current move began
  const OpenTable* table_ = nullptr;
  std::size_t run_ = kNoRun;
  PinnedBlock index_block_;
  format::IndexCursor index_;
  std::uint64_t block_offset_ = 0;  // of the block in data_; zero: none
  PinnedBlock data_block_;
  format::DataBlockCursor data_;
  bool valid_ = false;
  Status status_;
};

}  // namespace varve::engine
