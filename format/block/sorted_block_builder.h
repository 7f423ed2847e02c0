// Owns: making the content of sorted blocks (sorted_block.h).
// Must never: take keys out of their order, or choose differently for the same entries.
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

/// An entry whose value may come in two pieces, so that no caller has to put them together.
struct SortedEntry {
  std::string_view key;
  std::string_view value_head;
  std::string_view value_tail;
  /// content_hash(key); needed where buckets are made.
  std::uint64_t key_hash = 0;
};

/// Which interval a key stands in, for the buckets.
struct HashedKey {
  std::uint64_t key_hash = 0;
  std::uint32_t interval = 0;
};

/// The buckets of these keys; a key that stands several times may be given several times.
std::string make_buckets(std::span<const HashedKey> keys, std::uint16_t bucket_count);

enum class Buckets : std::uint8_t { kNone, kIfTheyPay };

class SortedBlockBuilder {
 public:
  static constexpr std::size_t kNoByteLimit = std::numeric_limits<std::size_t>::max();

  /// An interval ends with its entry number `restart_interval` (at least 1, asserted), or with the one that brings it
  /// to `interval_bytes`. The entry behind it stands with its whole key.
  SortedBlockBuilder(std::uint32_t restart_interval, Buckets buckets,
                     std::size_t interval_bytes = kNoByteLimit) noexcept;

  bool empty() const noexcept { return restarts_.empty(); }
  /// Keys do not fall (asserted).
  void add(const SortedEntry& entry);
  /// Of the content if it were finished now; buckets may add a byte or two an entry.
  std::size_t bytes() const noexcept;
  /// The content, valid until the next call of another function. There is at least one entry (asserted).
  std::string_view finish(std::uint64_t base_version);
  /// Empty again.
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
