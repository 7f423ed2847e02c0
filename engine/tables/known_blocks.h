// Owns: where the searches of one batch ended in each table. The next key is mostly near, so it is searched there
// first.
// Must never: place a key by anything except the index, or be used after the levels whose tables it refers to.
//
// A search finds the first data block whose separator is not below its key. Every key from that key up to the separator
// has the same first block. So neither the filter nor the index can add anything for such a key.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/tables/block_reader.h"

namespace varve::engine {

/// Used by one thread.
class KnownBlocks {
 public:
  struct Known {
    const OpenTable* table = nullptr;
    std::size_t run = 0;
    format::BlockHandle handle;
    /// The first and the last key with this block, both included. The first one is a key of the batch.
    std::string_view first_key;
    std::string last_key;
    /// The block; empty if it was not cached. While `is_new`, the block of the preceding entry.
    PinnedBlock block;
    bool is_new = false;
  };

  /// Returns the block to search for the key, if it is known and held. Returns it also if it was noted since the last
  /// hold(): then `is_new`, and the caller finds the block by its handle. Otherwise returns null.
  const Known* find(const OpenTable& table, std::string_view sort_key) const noexcept;
  /// Notes what the index has just returned. `first_key` outlives this object. Replaces the entry of this table; if all entries are used, replaces the
  /// entry of another table.
  void note(const OpenTable& table, std::size_t run, format::BlockHandle handle, std::string_view first_key,
            std::string_view last_key);
  /// Pins the noted blocks, if they are cached. Not called under a guard of the cache.
  void hold(BlockCache& cache) noexcept;

 private:
  /// Number of tables, enough for most keys: level 0 has a few tables, every other level has one.
  static constexpr std::size_t kTablesMax = 8;

  std::size_t place_of(const OpenTable& table) const noexcept;

  std::array<Known, kTablesMax> known_;
  std::size_t used_ = 0;
  bool any_new_ = false;
  std::size_t next_ = 0;  // the entry to replace once all are used
};

}  // namespace varve::engine
