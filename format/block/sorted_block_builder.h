// Owns: building the content of sorted blocks (sorted_block.h).
// Must never: accept keys out of order, or make different choices for the same entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/sorted_block.h"

namespace varve::format {

/// An entry whose value may come in two pieces, so that the caller need not join them.
struct SortedEntry {
  std::string_view key;
  std::string_view value_head;
  std::string_view value_tail;
  /// content_hash(key). Needed only if the block has buckets.
  std::uint64_t key_hash = 0;
};

/// The interval that contains a key, for the buckets.
struct HashedKey {
  std::uint64_t key_hash = 0;
  std::uint32_t interval = 0;
};

/// Returns the buckets for these keys. A key that occurs several times may be listed several times.
std::string make_buckets(std::span<const HashedKey> keys, std::uint16_t bucket_count);

enum class Buckets : std::uint8_t { kNone, kIfTheyPay };

class SortedBlockBuilder {
 public:
  static constexpr std::size_t kNoByteLimit = std::numeric_limits<std::size_t>::max();

  /// An interval ends with its entry number `restart_interval` (at least 1, asserted), or with the entry that makes it
  /// reach `interval_bytes`. The entry after it is stored with its whole key.
  SortedBlockBuilder(std::uint32_t restart_interval, Buckets buckets,
                     std::size_t interval_bytes = kNoByteLimit) noexcept;

  bool empty() const noexcept { return restarts_.empty(); }
  /// Appends an entry. Keys must not fall (asserted).
  void add(const SortedEntry& entry);
  /// Returns the content, valid until another function is called. The block must not be empty (asserted).
  std::string_view finish(std::uint64_t base_version);
  /// Removes all entries.
  void clear() noexcept;

 private:
  bool interval_is_full() const noexcept;
  std::uint16_t bucket_count(std::size_t entries_bytes) const noexcept;

  std::string content_;
  std::string last_key_;
  std::vector<std::uint32_t> restarts_;
  std::vector<HashedKey> hashed_keys_;
  std::uint32_t restart_interval_;
  std::size_t interval_bytes_;
  std::uint32_t interval_entries_ = 0;
  std::uint32_t distinct_keys_ = 0;
  Buckets buckets_;
};

}  // namespace varve::format
