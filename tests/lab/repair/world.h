// Owns: a small store with every kind of data, and the history of all its commits.
// Must never: check anything, or know about repairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/sort_key.h"
#include "io/simulated/memory_disk.h"

namespace varve::lab::repair {

inline constexpr std::string_view kStorePath = "/store";

/// One state of a row: its encoded entity, or nothing if the commit deleted it.
struct RowState {
  std::uint64_t version = 0;
  std::optional<std::string> value;
};

struct TableLife {
  format::TableId id = 0;
  std::string account;
  std::string name;
  std::uint64_t created = 0;
  /// The version of the drop. Zero while the table exists.
  std::uint64_t dropped = 0;
};

struct History {
  /// States by sort key, in the order of their versions.
  std::map<std::string, std::vector<RowState>> rows;
  std::vector<TableLife> tables;
  std::uint64_t last_version = 0;

  const TableLife* table(format::TableId id) const noexcept;
  /// The newest commit that determines whether a row exists: the drop of the row's table, or the row's last state.
  struct Newest {
    std::uint64_t version = 0;
    /// Nothing if the row does not exist.
    std::optional<RowState> row;
    bool by_drop = false;
  };
  Newest newest(const std::string& key) const;
};

struct World {
  io::MemoryDisk disk;
  History history;
};

enum class WorldEnd : std::uint8_t {
  kClosed,  // closed cleanly: every byte of it is determined
  kKilled,  // killed: the log ends without a footer, and the log buffer contains commits
};

/// Creates a store in several sessions: rows in tables of several levels and in the log, tables dropped, recreated and
/// loaded, deletions, transactions, both durabilities, tags. One seed always gives the same commits.
World make_world(std::uint64_t seed, WorldEnd end);

}  // namespace varve::lab::repair
