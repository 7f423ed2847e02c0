// Owns: reading one key: from memtables first, then from tables, with the necessary blocks.
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

class Lookup;
class ValueRoom;

/// A found entry. Its value is in a memtable of the state that it was read from, in the room that the reader gave, or in
/// memory of its own.
class FoundEntry {
 public:
  CommitVersion version = 0;
  /// A put or a delete. A put that expires, or whose value was external, is a put.
  Kind kind = Kind::kPut;
  std::string_view value;
  /// The time at which the entity ends; zero if it has no end. The reader compares it with its time.
  CommitVersion end = 0;
  /// Bytes of a value that is in a value file, or may get into one (kExternalValueBytesMin); else zero. Known also if the
  /// value was not read.
  std::uint64_t large_bytes = 0;

  /// Makes a result from an entry in a memtable.
  static FoundEntry in_memtable(const Entry& entry) noexcept;
  /// Copies the value of a search's entry from its block, to `room` unless that is null. With kVersion, the value remains
  /// empty.
  static FoundEntry copied(const Lookup& lookup, EntryPart part, ValueRoom* room);

 private:
  std::unique_ptr<char[]> owned_;
};

/// Returns the key's newest entry in the memtables that is not above `at_most`. Entries in tables are older.
std::optional<FoundEntry> read_memtables(const ReadState& state, std::string_view sort_key, CommitVersion at_most);
std::optional<FoundEntry> read_memtables(const ReadState& state, const LookupKey& key);
/// Prefetches the memory that read_memtables() reads first, so that the caller can do other work meanwhile. `hash` is
/// that of the key.
void prefetch_memtables(const ReadState& state, std::uint64_t hash) noexcept;

/// Whether a key may well be absent, or most likely exists.
enum class Expects : std::uint8_t { kAnything, kFound };

/// How a key is read.
struct PointRead {
  ReadCost* cost = nullptr;
  EntryPart part = EntryPart::kAll;
  ValueRoom* room = nullptr;
  Expects expects = Expects::kAnything;
};

/// Returns the key's newest entry that is not above `at_most`, or its version alone, or nothing if there is none. `room`,
/// here and below, receives a copied value, and may be null. With kFound, a filter that could only show that the key is
/// absent is not asked.
/// Errors: kCorruption, kUnsupported, kIoError, kTooManyFiles, kOutOfMemory.
Result<std::optional<FoundEntry>> read_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                             CommitVersion at_most, const PointRead& read);
/// Runs a new search in the tables to its end, with the `cost` and the `part` that it was made with. Returns the found
/// entry. Throws std::bad_alloc. Errors: as read_point().
Result<std::optional<FoundEntry>> read_tables(Lookup& lookup, BlockReader& blocks, ReadCost* cost, EntryPart part,
                                              ValueRoom* room = nullptr);

}  // namespace varve::engine
