// Owns: a small store with everything in it, and the history of all that was ever committed to it.
// Must never: judge, or know a repair.
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

/// One state of a row: its encoded entity, or nothing where the commit deleted it.
struct RowState {
  std::uint64_t version = 0;
  std::optional<std::string> value;
};

struct TableLife {
  format::TableId id = 0;
  std::string account;
  std::string name;
  std::uint64_t created = 0;
  /// Zero while it is there.
  std::uint64_t dropped = 0;
};

struct History {
  /// By sort key; states in the order of their versions.
  std::map<std::string, std::vector<RowState>> rows;
  std::vector<TableLife> tables;
  std::uint64_t last_version = 0;

  const TableLife* table(format::TableId id) const noexcept;
  /// Of the row's table the drop, of the row the last state: the newest commit that says what is there.
  struct Newest {
    std::uint64_t version = 0;
    /// Nothing where the row is not there.
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
  kClosed,  // cleanly: no byte of it is ambiguous
  kKilled,  // the process died: the log ends without a footer, and the log buffer holds commits
};

/// Several sessions: rows in tables of several levels and in the log, tables dropped, made anew and loaded, deletions,
/// transactions, both durabilities, tags. The same seed gives the same commits.
World make_world(std::uint64_t seed, WorldEnd end);

}  // namespace varve::lab::repair
