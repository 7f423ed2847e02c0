// Owns: the search for one key in one table file, as steps between which its caller brings blocks.
// Must never: do I/O, or wait.
//
// Filter partition, index partition, data block; more data blocks where a key has more versions than a block holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/known_blocks.h"
#include "format/block/data_block.h"
#include "varve/status.h"

namespace varve::engine {

/// What is looked for.
struct LookupKey {
  std::string_view sort_key;
  /// format::content_hash(sort_key)
  std::uint64_t hash = 0;
  CommitVersion at_most = 0;
};

enum class LookupStep : std::uint8_t {
  kFound,
  kAbsent,
  kWantsBlock,
  kFailed,
};

class TableLookup {
 public:
  /// Starts over. `key` and `table` outlive the search, and so does `known`, which may be null and is told which block
  /// the index names.
  void begin(const LookupKey& key, const OpenTable& table, KnownBlocks* known) noexcept;
  /// Starts over in a block that is the first that may hold the key; the next step takes its content.
  void begin_in(const LookupKey& key, const KnownBlocks::Known& known) noexcept;

  /// Goes on with the block that was wanted (null at first). The block need be valid during the call alone, but for
  /// kFound: the entry found points into it.
  LookupStep advance(const CachedBlock* block);

  /// After kWantsBlock.
  const BlockWanted& wanted() const noexcept { return wanted_; }
  /// After kFound.
  const Entry& entry() const noexcept { return entry_; }
  /// After kFailed. Errors: kCorruption, kUnsupported; file and offset named.
  Status status() const { return status_; }

 private:
  enum class State : std::uint8_t { kBegin, kFilter, kIndex, kData };

  LookupStep want(State state, format::BlockHandle handle, format::BlockType type) noexcept;
  LookupStep take_filter(const CachedBlock& block);
  LookupStep take_index(const CachedBlock& block);
  LookupStep take_data(const CachedBlock& block);
  LookupStep next_block();
  LookupStep fail(const Status& status);

  const LookupKey* key_ = nullptr;
  const OpenTable* table_ = nullptr;
  KnownBlocks* known_ = nullptr;
  std::size_t run_ = 0;
  State state_ = State::kBegin;
  /// How many blocks of the run, from the first that may hold the key, were searched: they all end within its versions.
  std::size_t blocks_passed_ = 0;
  BlockWanted wanted_;
  Entry entry_;
  Status status_;
};

}  // namespace varve::engine
