// Owns: entries and dictionaries for the tests of blocks and table files.
// Must never: use random numbers except those of its seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block/data_block.h"
#include "format/keys/sort_key.h"

namespace varve::format {

/// An entry that owns its bytes.
struct OwnedEntry {
  std::string key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  std::string value;

  DataEntry view() const { return {key, version, kind, value}; }
  bool operator==(const OwnedEntry&) const = default;
};
OwnedEntry owned(const DataEntry& entry);
/// Compares entries in the order of internal keys.
bool before(const OwnedEntry& a, const OwnedEntry& b);

/// Returns text that compresses like an entity: equal words, different numbers.
std::string sample_value(std::uint64_t number);
/// Returns a dictionary trained on sample values. Each `seed` gives another one.
std::string sample_dictionary(std::uint64_t seed);
std::string sample_key(TableId table, std::uint64_t partition, std::uint64_t row);

/// The form of random entries.
struct EntryShape {
  std::size_t count = 1000;
  std::uint64_t tables = 3;
  std::uint64_t partitions = 10;
  /// One in this many keys is long (up to 6 KiB), or has many versions. Zero: none.
  std::uint64_t long_keys = 0;
  std::uint64_t version_chains = 0;
  std::uint64_t large_values = 0;
};
/// Returns sorted entries, each (key, version) once.
std::vector<OwnedEntry> random_entries(std::uint64_t seed, const EntryShape& shape);

}  // namespace varve::format
