// Owns: finding blocks in a run by its index partition.
// Must never: name a block outside its run.
#pragma once

#include <string_view>

#include "format/block/sorted_block.h"
#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::format {

/// A place among the data blocks of one run. As SortedBlockCursor, which it is made of.
class IndexCursor {
 public:
  /// Opens the content of the run's index partition. It and `run` must outlive the use.
  /// Errors: kCorruption.
  Status open(std::string_view content, const RunEntry& run);

  bool valid() const noexcept { return valid_; }
  /// Not below the last key of the block, and not above the first one of the next block.
  std::string_view separator() const noexcept { return entries_.key(); }
  /// Where the block lies in the file.
  BlockHandle block() const noexcept { return {run_->offset + entry_.offset, entry_.bytes}; }
  const BlockEntry& entry() const noexcept { return entry_; }

  void seek_to_first();
  void seek_to_last();
  /// The first block that may hold an entry at or behind (key, newest): of this key a version not above `newest`, or a
  /// greater key. Not valid if the run has none.
  void seek(std::string_view key, CommitVersion newest);
  /// True if the block behind this one, in this run or the next, may continue the versions of `key`.
  bool may_continue(std::string_view key) const noexcept { return separator() == key; }
  /// The cursor must be valid (asserted).
  void next();
  void previous();

  /// Ok, kCorruption or kUnsupported, if a move met damage or what this build does not know.
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
