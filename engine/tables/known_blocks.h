// Owns: where the searches of one batch ended in each table, so that the next key, which is mostly near, is looked for
// there first.
// Must never: place a key by anything but the index, or be used beyond the levels whose tables it names.
//
// A search finds the first data block whose separator is not below its key. Every key from that one up to the separator
// has the same first block, so neither the filter nor the index has anything to add for it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/tables/block_reader.h"

namespace varve::engine {

/// One thread.
class KnownBlocks {
 public:
  struct Known {
    const OpenTable* table = nullptr;
    std::size_t run = 0;
    format::BlockHandle handle;
    /// The keys from the one up to the other, both included.
    std::string first_key;
    std::string last_key;
    /// The block; empty where the cache had none. While `is_new`, that of what was known before.
    PinnedBlock block;
    bool is_new = false;
  };

  /// The block where to look for the key, if it is known and here; else null.
  const Known* find(const OpenTable& table, std::string_view sort_key) const noexcept;
  /// The index has just said so; forgets what was known of the table, or, of many tables, of another one.
  void note(const OpenTable& table, std::size_t run, format::BlockHandle handle, std::string_view first_key,
            std::string_view last_key);
  /// Takes hold of the blocks that were noted, where the cache has them. Not under a guard of the cache.
  void hold(BlockCache& cache) noexcept;

 private:
  /// As many tables as most keys are looked for in: level 0 has a few, each other level one.
  static constexpr std::size_t kTablesMax = 8;

  std::size_t place_of(const OpenTable& table) const noexcept;

  std::array<Known, kTablesMax> known_;
  std::size_t used_ = 0;
  bool any_new_ = false;
  std::size_t next_ = 0;  // to be replaced once all are used
};

}  // namespace varve::engine
