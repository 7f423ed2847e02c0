// Owns: finding the blocks of a run through its index partition.
// Must never: return a block outside its run.
#pragma once

#include <string_view>

#include "format/block/sorted_block.h"
#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::format {

/// A position among the data blocks of one run. It behaves like SortedBlockCursor, which it contains.
class IndexCursor {
 public:
  /// Opens the content of the run's index partition. The content and `run` must outlive the use.
  /// Errors: kCorruption.
  Status open(std::string_view content, const RunEntry& run);

  bool valid() const noexcept { return valid_; }
  /// Returns the block's separator: not below the block's last key, and not above the next block's first key.
  std::string_view separator() const noexcept { return entries_.key(); }
  /// Returns the block's place in the file.
  BlockHandle block() const noexcept { return {run_->offset + entry_.offset, entry_.bytes}; }
  const BlockEntry& entry() const noexcept { return entry_; }

  void seek_to_first();
  void seek_to_last();
  /// Moves to the first block that may contain an entry at or after (key, newest): a version of the key not above
  /// `newest`, or a greater key. If the run has none, the cursor is not valid.
  void seek(std::string_view key, CommitVersion newest);
  /// Returns whether the next block, in this run or the next run, may contain more versions of `key`.
  bool may_continue(std::string_view key) const noexcept { return separator() == key; }
  /// The cursor must be valid (asserted).
  void next();
  void previous();

  /// Returns Ok, kCorruption or kUnsupported. The errors mean that a move met damage or a field unknown to this build.
  Status status() const;

 private:
  void load();

  const RunEntry* run_ = nullptr;
  SortedBlockCursor entries_;
  BlockEntry entry_;
  Status failed_;
  bool valid_ = false;
};

}  // namespace varve::format
