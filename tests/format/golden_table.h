// Owns: the table file whose bytes golden_table_test.cc pins.
// Must never: change; a value changed here is another golden, added beside the old one.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/format/golden_samples.h"
#include "tests/format/table_sample.h"

namespace varve::format::golden {

/// Two tables; a key in two versions, and a delete; enough keys for two intervals.
inline std::vector<OwnedEntry> table_entries() {
  const auto key = [](std::uint32_t table, const std::string& row) {
    return *encode_sort_key(make_table_id(1, table), "p", row);
  };
  std::vector<OwnedEntry> entries;
  entries.push_back({key(7, "a"), kVersion + 5, Kind::kPut, "second"});
  entries.push_back({key(7, "a"), kVersion, Kind::kPut, "first"});
  entries.push_back({key(7, "b"), kVersion + 1, Kind::kDelete, ""});
  for (char row = 'c'; row <= 'q'; ++row) {
    entries.push_back({key(7, std::string(1, row)), kVersion + 2, Kind::kPut, std::string(1, row)});
  }
  entries.push_back({key(8, "a"), kVersion + 300, Kind::kPut, std::string(60, 'x')});
  return entries;
}

/// Uncompressed: how zstd chooses to write its bytes is not ours to pin.
inline TableFile table_file() {
  TableOptions options;
  options.compression_level = 0;
  return build_table(table_entries(), options, 60, kSeed);
}

}  // namespace varve::format::golden
