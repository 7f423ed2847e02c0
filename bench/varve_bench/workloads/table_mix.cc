#include "bench/varve_bench/workloads/table_mix.h"

#include <algorithm>
#include <array>

namespace varve::bench {

namespace {

constexpr std::uint64_t kEntitiesOfTableMin = 10;
constexpr std::array<std::uint64_t, 7> kPercents{40, 20, 15, 10, 10, 4, 1};  // in the order of TableVerb

std::size_t between(Random& random, std::size_t least, std::size_t most) noexcept {
  return least + static_cast<std::size_t>(random.below(most - least + 1));
}

}  // namespace

TableMix::TableMix(std::uint32_t tables, std::uint64_t entities) : popularity_(tables), counts_(tables) {
  for (std::uint32_t rank = 0; rank < tables; ++rank) {
    const auto share = static_cast<std::uint64_t>(static_cast<double>(entities) * popularity_.share_of(rank));
    counts_[table_of(rank)] = std::max(kEntitiesOfTableMin, share);
  }
}

std::uint32_t TableMix::table_of(std::uint64_t rank) const noexcept {
  return static_cast<std::uint32_t>(shuffled(rank, counts_.size()));
}

TableVerb TableMix::draw_verb(Random& random) noexcept {
  std::uint64_t choice = random.below(100);
  std::size_t verb = 0;
  for (; choice >= kPercents[verb]; ++verb) choice -= kPercents[verb];
  return static_cast<TableVerb>(verb);
}

std::size_t TableMix::draw_bytes(Random& random) noexcept {
  const std::uint64_t choice = random.below(100);
  if (choice < 90) return between(random, 100, 4096);
  return choice < 99 ? between(random, 4097, 65'536) : between(random, 65'537, 1'000'000);
}

std::uint32_t TableMix::draw_table(Random& random) const noexcept {
  return table_of(popularity_.draw(random));
}

void TableMix::reach(std::uint32_t table, std::uint64_t count) noexcept {
  std::uint64_t reached = counts_[table].load();
  while (reached < count && !counts_[table].compare_exchange_weak(reached, count)) {
  }
}

Place TableMix::draw_place(Random& random) const noexcept {
  const std::uint32_t table = draw_table(random);
  return {table, random.below(counts_[table].load(std::memory_order_relaxed))};
}

}  // namespace varve::bench
