// Owns: the interfaces by which an iteration says which parts of tables need not be read.
// Must never: skip a block whose entries hide others, or a block whose last key continues in the next block.
//
// A block may be skipped if it has no wanted entry. But its entries also hide older sources' entries with the same
// keys. So it is skipped only while no older source has a key as small, which the merge of the sources knows. Newer
// sources do not matter, because their entries are judged separately. Within the table, no key of the block may
// continue in the next block.
#pragma once

#include <string_view>

#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::engine {

/// Judges blocks by their index entries. One thread at a time may use it.
class BlockJudge {
 public:
  virtual ~BlockJudge() = default;
  /// Returns whether a put in the run, or in the run's block, may be wanted. Errors: kCorruption.
  virtual Result<bool> may_want(const format::RunEntry& run) = 0;
  virtual Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) = 0;
};

/// The rule for one source of an iteration. It is used during moves to the next or previous entry, never during a seek.
class PassRule {
 public:
  virtual ~PassRule() = default;
  virtual BlockJudge& judge() const noexcept = 0;
  /// Returns the key below which a forward iteration may skip blocks; empty means no bound. Valid until a source moves.
  virtual std::string_view pass_below() const noexcept = 0;
  /// Returns the key above which a backward iteration may skip blocks; empty means no bound.
  virtual std::string_view pass_above() const noexcept = 0;
};

}  // namespace varve::engine
