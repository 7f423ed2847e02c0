// Owns: the memory of what was evicted lately, by name alone.
// Must never: hold more than its fixed number of names.
//
// Sets of eight words, each a cache line; a word is the low half of the name's hash and the time of its eviction, which
// counts evictions. A set that is full forgets its oldest. Two names of the same half hash are taken for each other,
// which does no more harm than a block kept too long.
// Source: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, section on the ghost queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cache/read_epoch.h"

namespace varve::engine {

/// One thread at a time.
class GhostTable {
 public:
  GhostTable() noexcept = default;

  /// A power of two of sets, in place of those it had; keeps what it knew, as far as there is room. Zero: frees all,
  /// and cannot fail. False when the system has no memory; nothing changed.
  bool resize(std::uint64_t set_count) noexcept;
  static std::uint64_t bytes_for(std::uint64_t set_count) noexcept { return set_count * sizeof(Set); }
  std::uint64_t bytes() const noexcept { return bytes_for(set_count_); }

  void add(std::uint64_t hash) noexcept;
  /// True if the name was among the last `window` that were added.
  bool has(std::uint64_t hash, std::uint64_t window) const noexcept;
  /// True if the name was among the last `window` that were added; it is forgotten then.
  bool take(std::uint64_t hash, std::uint64_t window) noexcept;

 private:
  static constexpr std::size_t kNamesPerSet = 8;
  struct alignas(kCacheLineBytes) Set {
    std::array<std::uint64_t, kNamesPerSet> words{};  // zero: free
  };
  struct Free {
    void operator()(Set* sets) const noexcept;
  };
  using Sets = std::unique_ptr<Set, Free>;

  void put(std::uint64_t word) noexcept;
  std::uint32_t age_of(std::uint64_t word) const noexcept;
  Set& set_of(std::uint64_t word) const noexcept { return sets_.get()[word & (set_count_ - 1) & kNameMask]; }

  static constexpr int kTimeShift = 32;
  static constexpr std::uint64_t kNameMask = (std::uint64_t{1} << kTimeShift) - 1;

  Sets sets_;
  std::uint64_t set_count_ = 0;
  std::uint32_t time_ = 0;
};

}  // namespace varve::engine
