// Owns: the population of the mixed table workload: accounts, tables, their entities, and the choice of operations.
// Must never: access a store; workloads/mixed.cc does the operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "bench/varve_bench/distributions.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

/// An entity of a table by its number. A PartitionKey has a hundred RowKeys, and each group has one entity in ten.
inline constexpr std::int32_t kGroups = 10;
struct Place {
  std::uint32_t table = 0;
  std::uint64_t number = 0;

  Keys keys() const { return keys_of(number); }
  std::int32_t group() const noexcept { return static_cast<std::int32_t>(number % kGroups); }
};

enum class TableVerb : std::uint8_t {
  kPointRead,
  kPartitionQuery,
  kInsert,
  kConditionalUpdate,
  kTransaction,
  kDelete,
  kCreateAndDrop
};

class TableMix {
 public:
  TableMix(std::uint32_t tables, std::uint64_t entities);

  std::uint32_t tables() const noexcept { return static_cast<std::uint32_t>(counts_.size()); }
  /// Returns the number of entities that a table has had.
  std::uint64_t count(std::uint32_t table) const noexcept { return counts_[table].load(); }

  /// Returns an operation: 40, 20, 15, 10, 10, 4 and 1 % in the order of TableVerb.
  static TableVerb draw_verb(Random& random) noexcept;
  /// Returns a size: 90 % from 100 bytes to 4 KiB, 9 % to 64 KiB, 1 % to a million bytes, each uniform.
  static std::size_t draw_bytes(Random& random) noexcept;
  static bool draw_conflict(Random& random) noexcept { return random.below(100) < 2; }

  /// Returns a table by its popularity, and any entity that exists or existed in it.
  Place draw_place(Random& random) const noexcept;
  std::uint32_t draw_table(Random& random) const noexcept;
  /// Returns a number that no entity of the table has had.
  Place new_place(std::uint32_t table) noexcept { return {table, counts_[table].fetch_add(1)}; }

  /// Records that entities below `count` have been created.
  void reach(std::uint32_t table, std::uint64_t count) noexcept;
  void add_written(std::uint64_t bytes) noexcept { written_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(); }

 private:
  /// Returns the table of a popularity rank. Popular tables are spread over the accounts.
  std::uint32_t table_of(std::uint64_t rank) const noexcept;

  Zipfian popularity_;
  std::deque<std::atomic<std::uint64_t>> counts_;
  std::atomic<std::uint64_t> written_bytes_{0};
};

}  // namespace varve::bench
