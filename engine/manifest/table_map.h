// Owns: the table files of a file set by number, and the sums of their pointers into value files.
// Must never: let the sums differ from the tables. So tables change only here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/shared_map.h"
#include "format/log/manifest_edit.h"

namespace varve::engine {

/// The pointers of all tables into one value file.
struct ValueFileSum {
  std::uint64_t tables = 0;
  std::uint64_t bytes = 0;

  bool operator==(const ValueFileSum&) const = default;
};

/// A value. Copies share their entries.
class TableMap {
 public:
  using Map = SharedMap<format::TableFileEntry>;
  using Iterator = Map::Iterator;

  std::size_t size() const noexcept { return tables_.size(); }
  bool empty() const noexcept { return tables_.empty(); }
  Iterator begin() const noexcept { return tables_.begin(); }
  Iterator end() const noexcept { return tables_.end(); }
  Iterator find(std::uint64_t number) const noexcept { return tables_.find(number); }
  /// Returns null if there is no such table.
  const format::TableFileEntry* look_up(std::uint64_t number) const noexcept { return tables_.look_up(number); }
  bool contains(std::uint64_t number) const noexcept { return tables_.contains(number); }
  /// The table must exist.
  const format::TableFileEntry& at(std::uint64_t number) const noexcept { return tables_.at(number); }
  std::uint64_t largest_number() const noexcept { return tables_.largest_number(); }

  /// Returns the sums by value file. A value file without pointers has no sum.
  const SharedMap<ValueFileSum>& value_sums() const noexcept { return value_sums_; }

  /// Returns false if the number exists; then nothing has changed.
  bool emplace(std::uint64_t number, format::TableFileEntry entry);
  /// Adds many tables. Returns a number that existed or is added twice, if any; then nothing has changed.
  std::optional<std::uint64_t> add(const std::vector<format::TableFileEntry>& entries);
  /// Returns false if there is no such table.
  bool erase(std::uint64_t number);
  bool move(std::uint64_t number, std::uint32_t level);

  bool operator==(const TableMap&) const = default;

 private:
  Map tables_;
  SharedMap<ValueFileSum> value_sums_;
};

}  // namespace varve::engine
