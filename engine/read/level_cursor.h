// Owns: iterating over the files of one level, or of one flush, which do not overlap, one file after another.
// Must never: open a file before the iteration reaches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/entry_cursor.h"
#include "engine/levels/levels.h"
#include "engine/tables/table_cursor.h"

namespace varve::engine {

class LevelCursor final : public EntryCursor {
 public:
  /// All arguments must outlive the cursor. `cost` may be null. For `entries_expected`, see TableCursor.
  LevelCursor(const LevelSequence& level, BlockReader& blocks, ReadCost* cost, std::uint64_t entries_expected) noexcept
      : files_(level), blocks_(blocks), cost_(cost), entries_expected_(entries_expected) {}

  void seek(std::string_view sort_key, CommitVersion at_most) override;
  void seek_before(std::string_view sort_key) override;
  void seek_to_last() override;
  void next() override;
  void previous() override;
  void pass_key(std::string_view sort_key) override;
  /// No key is in two files of a level.
  bool step_to_next_key(KeyStep& step) override { return cursor_->step_to_next_key(step); }
  void pass_by(const PassRule& rule) override { rule_ = &rule; }
  bool pass_deletes(std::string_view bound) override;
  bool pass_deletes_backward(std::string_view bound) override;
  bool valid() const noexcept override { return cursor_ && cursor_->valid(); }
  Entry entry() const noexcept override { return cursor_->entry(); }
  Status status() const override { return cursor_ ? cursor_->status() : Status(); }

 private:
  /// Returns the index of the first file whose largest key is not below `sort_key`.
  std::size_t first_not_below(std::string_view sort_key) const noexcept;
  void open(std::size_t file);
  /// At the end of a file, moves to the first entry of the next file.
  void settle();
  /// At the beginning of a file, moves to the last entry of the previous file.
  void settle_backward();

  const LevelSequence& files_;
  BlockReader& blocks_;
  ReadCost* const cost_;
  const std::uint64_t entries_expected_;
  const PassRule* rule_ = nullptr;
  std::size_t file_ = 0;
  std::optional<TableCursor> cursor_;
};

}  // namespace varve::engine
