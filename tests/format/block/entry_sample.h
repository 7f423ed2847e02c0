// Owns: entries and dictionaries for the tests of blocks and table files.
// Must never: draw from anything but its seeds.
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
/// The order of internal keys.
bool before(const OwnedEntry& a, const OwnedEntry& b);

/// Text that compresses as entities do: the same words, other numbers.
std::string sample_value(std::uint64_t number);
/// Trained on sample values; another one for each `seed`.
std::string sample_dictionary(std::uint64_t seed);
std::string sample_key(TableId table, std::uint64_t partition, std::uint64_t row);

/// How random entries look.
struct EntryShape {
  std::size_t count = 1000;
  std::uint64_t tables = 3;
  std::uint64_t partitions = 10;
  /// One in so many keys is long (up to 6 KiB), or has many versions; zero: none.
  std::uint64_t long_keys = 0;
  std::uint64_t version_chains = 0;
  std::uint64_t large_values = 0;
};
/// Sorted, each (key, version) once.
std::vector<OwnedEntry> random_entries(std::uint64_t seed, const EntryShape& shape);

}  // namespace varve::format
