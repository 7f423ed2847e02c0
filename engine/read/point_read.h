// Owns: reading one key: memtables first, then tables, with the blocks that takes.
// Must never: hold a guard of the cache while it waits for the disk.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/base/read_cost.h"
#include "engine/memory/read_states.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/table_lookup.h"
#include "varve/result.h"

namespace varve::engine {

/// An entry found. Its value lies in a memtable of the state it was read from, or in memory of its own.
class FoundEntry {
 public:
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  std::string_view value;

  /// `entry` lies in a memtable.
  static FoundEntry in_memtable(const Entry& entry) noexcept;
  /// Copies the value out of a block; with kVersion it stays empty.
  static FoundEntry copied(const Entry& entry, EntryPart part = EntryPart::kAll);

 private:
  std::unique_ptr<char[]> owned_;
};

/// The newest entry of the key in the memtables that is not above `at_most`; what tables hold is older.
std::optional<FoundEntry> read_memtables(const ReadState& state, std::string_view sort_key, CommitVersion at_most);
std::optional<FoundEntry> read_memtables(const ReadState& state, const LookupKey& key);
/// Fetches what that will look at first, while something else is done.
void prefetch_memtables(const ReadState& state, std::string_view sort_key) noexcept;

/// The newest entry of the key that is not above `at_most`, or its version alone; empty when there is none.
/// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory.
Result<std::optional<FoundEntry>> read_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                             CommitVersion at_most, ReadCost* cost = nullptr,
                                             EntryPart part = EntryPart::kAll);

}  // namespace varve::engine
