// Owns: the doors by which who walks tells what of tables need not be read.
// Must never: let a block be passed whose entries hide others, or go on behind it.
//
// A block may be passed where nothing in it is wanted. But what it holds also hides what older sources hold of the same
// keys: so only while no older source has a key as small, which who merges the sources knows. Newer sources do not
// matter, since what they hold is judged by itself. Within the table, no key of the block may go on in the next one.
#pragma once

#include <string_view>

#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::engine {

/// Judges by what indexes tell. One thread at a time.
class BlockJudge {
 public:
  virtual ~BlockJudge() = default;
  /// Whether a put in the run, or in the block of it, may be wanted. Errors: kCorruption.
  virtual Result<bool> may_want(const format::RunEntry& run) = 0;
  virtual Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) = 0;
};

/// For one source of a walk. Asked within a move to the next or the previous entry, never within a seek.
class PassRule {
 public:
  virtual ~PassRule() = default;
  virtual BlockJudge& judge() const noexcept = 0;
  /// A walk forward may pass what is below it; empty: no bound. Valid until a source moves.
  virtual std::string_view pass_below() const noexcept = 0;
  /// A walk backward may pass what is above it; empty: no bound.
  virtual std::string_view pass_above() const noexcept = 0;
};

}  // namespace varve::engine
