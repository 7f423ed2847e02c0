// Owns: the population of the mixed table workload: accounts, tables, their entities, and how operations are drawn.
// Must never: touch a store; workloads/mixed.cc does the operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "bench/varve_bench/distributions.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

/// An entity of a table by its number there: a hundred RowKeys a PartitionKey, and one entity in ten of each group.
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
  /// How many entities a table has had.
  std::uint64_t count(std::uint32_t table) const noexcept { return counts_[table].load(); }

  /// 40, 20, 15, 10, 10, 4 and 1 %.
  static TableVerb draw_verb(Random& random) noexcept;
  /// 90 % from 100 bytes to 4 KiB, 9 % to 64 KiB, 1 % to a million bytes, each evenly.
  static std::size_t draw_bytes(Random& random) noexcept;
  static bool draw_conflict(Random& random) noexcept { return random.below(100) < 2; }

  /// A table by its popularity, and any entity that it has or had.
  Place draw_place(Random& random) const noexcept;
  std::uint32_t draw_table(Random& random) const noexcept;
  /// A number that no entity of the table has had.
  Place new_place(std::uint32_t table) noexcept { return {table, counts_[table].fetch_add(1)}; }

  /// Entities below `count` have been made.
  void reach(std::uint32_t table, std::uint64_t count) noexcept;
  void add_written(std::uint64_t bytes) noexcept { written_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(); }

 private:
  /// Popular tables are spread over the accounts.
  std::uint32_t table_of(std::uint64_t rank) const noexcept;

  Zipfian popularity_;
  std::deque<std::atomic<std::uint64_t>> counts_;
  std::atomic<std::uint64_t> written_bytes_{0};
};

}  // namespace varve::bench
