// Owns: the memory of recently evicted blocks, by name only.
// Must never: hold more than its fixed number of names.
//
// The table consists of sets of eight words; a set is one cache line. A word has the low half of the name's hash and
// the time of its eviction. The time counts evictions. A full set forgets its oldest name. Two names with equal half
// hashes are confused, which does no more harm than keeping a block too long.
// Source: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023, section on the ghost queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cache/read_epoch.h"

namespace varve::engine {

/// Used by one thread at a time.
class GhostTable {
 public:
  GhostTable() noexcept = default;

  /// Replaces the sets by `set_count` sets, a power of two. Keeps the names that it has, as far as there is room. Zero
  /// frees all sets and cannot fail. Returns false if the system has no memory; then nothing has changed.
  bool resize(std::uint64_t set_count) noexcept;
  static std::uint64_t bytes_for(std::uint64_t set_count) noexcept { return set_count * sizeof(Set); }
  std::uint64_t bytes() const noexcept { return bytes_for(set_count_); }

  void add(std::uint64_t hash) noexcept;
  /// Returns whether the name is among the last `window` names added.
  bool has(std::uint64_t hash, std::uint64_t window) const noexcept;
  /// Returns whether the name is among the last `window` names added, and forgets the name.
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
