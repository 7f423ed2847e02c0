// Owns: the search for one key in one table file, as steps. Between the steps its caller provides blocks.
// Must never: do I/O, or wait.
//
// A search reads the filter partition, the index partition and a data block. It reads more data blocks if the key has
// more versions than one block contains.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/known_blocks.h"
#include "format/block/data_block.h"
#include "varve/status.h"

namespace varve::engine {

/// The key and version to search for.
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
  /// Begins a new search. `key` and `table` outlive the search. So does `known`, which may be null; the search notes in
  /// it the block that the index names. `asks_filter` is false if the table most likely has the key.
  void begin(const LookupKey& key, const OpenTable& table, KnownBlocks* known, bool asks_filter = true) noexcept;
  /// Begins a new search in the first block that may contain the key. The next step takes the content of that block.
  void begin_in(const LookupKey& key, const KnownBlocks::Known& known) noexcept;

  /// Continues with the wanted block (null at first). The block must be valid only during the call, except after
  /// kFound: the found entry points into it.
  LookupStep advance(const CachedBlock* block);

  /// Valid after kWantsBlock.
  const BlockWanted& wanted() const noexcept { return wanted_; }
  /// Returns the link of the wanted block, or null if the block has none. Valid after kWantsBlock.
  CacheLink* wanted_link() const noexcept { return table_->links->of(run_, wanted_.type); }
  /// Valid after kFound.
  const Entry& entry() const noexcept { return entry_; }
  /// Valid after kFailed. Errors: kCorruption, kUnsupported; file and offset named.
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
  bool asks_filter_ = true;
  /// Number of searched blocks of the run, from the first that may contain the key. Each of them ends within the key's
  /// versions.
  std::size_t blocks_passed_ = 0;
  BlockWanted wanted_;
  Entry entry_;
  Status status_;
};

}  // namespace varve::engine
