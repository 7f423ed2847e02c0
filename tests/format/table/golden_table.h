// Owns: the table files whose bytes golden_table_test.cc pins.
// Must never: change. A changed value needs another golden sample beside the old one.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "format/keys/entity.h"
#include "tests/format/log/golden_samples.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::golden {

/// Returns entries of two tables: a key in two versions, a delete, and enough keys for two intervals.
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

/// Returns entities with statistics: each type that statistics cover, a text that is cut, and a property that one
/// entity lacks.
inline std::vector<OwnedEntry> told_entries() {
  std::vector<OwnedEntry> entries;
  for (int row = 0; row < 3; ++row) {
    EntityBuilder entity;
    entity.add_boolean("a", row == 2);
    entity.add_date_time("b", kVersion + static_cast<std::uint64_t>(row));
    entity.add_double("c", 0.5 - row);
    entity.add_int32("d", -row);
    if (row > 0) entity.add_int64("e", std::int64_t{row} << 40);
    entity.add_string("f", std::string(15, 'x') + std::to_string(row) + std::string(row == 2 ? 5 : 0, 'y'));
    entries.push_back(
        {*encode_sort_key(make_table_id(1, 7), "p", std::to_string(row)), kVersion, Kind::kPut, entity.finish()});
  }
  return entries;
}

/// Builds a file without compression, because zstd's bytes cannot be pinned.
inline TableFile plain_table(const std::vector<OwnedEntry>& entries) {
  TableOptions options;
  options.compression_level = 0;
  return build_table(entries, options, 60, kSeed);
}

}  // namespace varve::format::golden
