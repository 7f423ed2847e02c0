// Owns: iterating over sorted blocks and searching them (sorted_block.h).
// Must never: compare bytes of a key that are already compared, or assemble a key that is only skipped.
#include "format/block/sorted_block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "format/bytes/common_prefix.h"
#include "format/bytes/damage.h"
#include "format/bytes/prefetch.h"
#include "format/bytes/varint.h"

namespace varve::format {
namespace {

constexpr std::size_t kRestartCountAt = 8;
constexpr std::size_t kBucketCountAt = 12;
constexpr std::size_t kTrailerZeroAt = 14;
constexpr std::ptrdiff_t kCacheLineBytes = 64;

/// Prefetches the bytes before the trailer, which a search reads first, while the trailer is checked.
void prefetch_search_parts(const char* trailer, std::size_t bytes_before) noexcept {
  const auto before = static_cast<std::ptrdiff_t>(bytes_before);
  prefetch(trailer - std::min(before, kCacheLineBytes));
  prefetch(trailer - std::min(before, 2 * kCacheLineBytes));
}

/// Prefetches the line of an address and the next one, since few entries with their whole keys lie on one line.
void prefetch_two_lines(const char* at) noexcept {
  prefetch(at);
  prefetch(at + kCacheLineBytes);
}

/// Prefetches an interval that a scan is about to read, but no more than intervals of usual entries have. The entry lies
/// anywhere in it, and its reader copies the value too.
void prefetch_interval(const char* start, const char* end) noexcept {
  constexpr std::ptrdiff_t kBytesMax = 12 * kCacheLineBytes;
  const char* const last = start + std::min(end - start, kBytesMax);
  for (const char* at = start; at < last; at += kCacheLineBytes) prefetch(at);
  prefetch(last - 1);
}

unsigned char byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

/// Returns the number of bytes that `key` and `target` have in common at the start. In a sound block at least `known` are.
std::size_t matched_bytes(std::string_view key, std::string_view target, std::size_t known) noexcept {
  const std::size_t skipped = std::min(known, key.size());  // A damaged block may have a shorter key.
  return skipped + common_prefix(key.substr(skipped), target.substr(skipped));
}

/// Returns whether a < b. They have `matched` bytes in common, and no more.
bool below(std::string_view a, std::string_view b, std::size_t matched) noexcept {
  if (matched == b.size()) return false;
  return matched == a.size() || byte_at(a, matched) < byte_at(b, matched);
}

}  // namespace

const char* take_any_lengths(const char* at, const char* end, StoredEntryLengths* lengths) noexcept {
  at = take_varint(at, end, &lengths->shared);
  if (at == nullptr) return nullptr;
  at = take_varint(at, end, &lengths->unshared);
  if (at == nullptr) return nullptr;
  return take_varint(at, end, &lengths->value);
}

Result<SortedBlock> SortedBlock::parse(std::string_view content) {
  if (content.size() < kSortedBlockTrailerBytes) return damaged("sorted block", "is shorter than its trailer");
  if (content.size() > std::numeric_limits<std::uint32_t>::max()) return damaged("sorted block", "is too large");
  const std::size_t rest = content.size() - kSortedBlockTrailerBytes;
  const char* const trailer = content.data() + rest;
  prefetch_search_parts(trailer, rest);
  SortedBlock block;
  block.base_version_ = load_u64(trailer);
  block.restart_count_ = load_u32(trailer + kRestartCountAt);
  block.bucket_count_ = load_u16(trailer + kBucketCountAt);
  if (load_u16(trailer + kTrailerZeroAt) != 0) return damaged("sorted block", "its last two bytes are not zero");
  if (block.restart_count_ == 0) return damaged("sorted block", "contains no entry");
  const std::uint64_t behind_entries =
      std::uint64_t{block.restart_count_} * sizeof(std::uint32_t) + block.bucket_count_;
  if (behind_entries >= rest) return damaged("sorted block", "restarts and buckets leave no room for entries");
  if (block.bucket_count_ > 0 && block.restart_count_ > kHashedIntervalsMax) {
    return damaged("sorted block", "has buckets for more intervals than they can name");
  }
  block.entries_ = content.data();
  block.entries_bytes_ = rest - static_cast<std::size_t>(behind_entries);
  block.buckets_ = content.data() + (rest - block.bucket_count_);
  if (block.restart(0) != 0) return damaged("sorted block", "its first restart is not its first entry");
  return block;
}

void SortedBlockCursor::open(const SortedBlock& block) noexcept {
  block_ = block;
  begin_ = block.entries().data();
  end_ = begin_ + block.entries().size();
  at_ = next_ = begin_;
  valid_ = false;
  damaged_ = false;
}

Status SortedBlockCursor::status() const {
  if (!damaged_) return Status();
  return damaged("sorted block", "the entry at byte " + std::to_string(damaged_at_) + " is damaged");
}

void SortedBlockCursor::fail(const char* at) noexcept {
  valid_ = false;
  damaged_ = true;
  damaged_at_ = static_cast<std::size_t>(at - begin_);
}

/// Prefetches the two restarts of which a binary search between `low` and `high` reads one after the restart at `middle`.
inline void SortedBlockCursor::prefetch_middles(std::uint32_t low, std::uint32_t middle,
                                                std::uint32_t high) const noexcept {
  const std::uint32_t last_before = middle - 1;
  const std::uint32_t before = block_.restart(last_before - (last_before - low) / 2);
  const std::uint32_t after = block_.restart(high - (high - middle) / 2);
  if (before < block_.entries().size()) prefetch_two_lines(begin_ + before);
  if (after < block_.entries().size()) prefetch_two_lines(begin_ + after);
}

/// Reads the entry at a restart. If no entry with its whole key is there, returns false and records the damage.
[[gnu::always_inline]] inline bool SortedBlockCursor::decode_restart(std::uint32_t number, const char** at,
                                                                     StoredEntry* entry) noexcept {
  const std::uint32_t offset = block_.restart(number);
  if (offset >= block_.entries().size()) {
    fail(end_);
    return false;
  }
  *at = begin_ + offset;
  if (decode_stored_entry(*at, end_, entry) && entry->shared == 0) return true;
  fail(*at);
  return false;
}

/// Decodes the entry at `at`, which follows the entry whose key is in the buffer. At the end and after damage, returns
/// false, and the cursor becomes not valid.
inline bool SortedBlockCursor::decode_after(const char* at, StoredEntry* entry) noexcept {
  if (at == end_) {
    end_walk();
    return false;
  }
  if (!decode_stored_entry(at, end_, entry) || entry->shared > key_.size()) [[unlikely]] {
    fail(at);
    return false;
  }
  prefetch_ahead(at, entry->end, end_);
  return true;
}

/// Moves to the entry at `at`, which follows the entry whose key is in the buffer.
void SortedBlockCursor::step_to(const char* at) {
  StoredEntry entry;
  if (!decode_after(at, &entry)) return;
  key_.replace_tail(static_cast<std::size_t>(entry.shared), entry.unshared);
  take(at, entry);
}

void SortedBlockCursor::next() {
  assert(valid_);
  step_to(next_);
}

void SortedBlockCursor::seek_to_first() {
  if (damaged_) return;
  key_.assign({}, {});
  step_to(begin_);
}

void SortedBlockCursor::seek_to_last() {
  if (damaged_) return;
  walk_to_entry_before(begin_ + block_.restart(block_.restart_count() - 1), end_);
}

void SortedBlockCursor::previous() {
  assert(valid_);
  const auto here = static_cast<std::uint32_t>(at_ - begin_);
  if (here == 0) {
    end_walk();
    return;
  }
  // Searches the last restart before this entry. The first restart is at zero.
  std::uint32_t low = 0;
  std::uint32_t high = block_.restart_count() - 1;
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    if (block_.restart(middle) < here) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  walk_to_entry_before(begin_ + block_.restart(low), at_);
}

/// Moves from the restart at `at` to the last entry before `end`. That entry must end exactly at `end`.
void SortedBlockCursor::walk_to_entry_before(const char* at, const char* end) {
  if (at >= end) {
    fail(begin_);
    return;
  }
  key_.assign({}, {});
  step_to(at);
  while (valid_ && next_ < end) step_to(next_);
  if (!valid_ || next_ != end) fail(at);
}

bool SortedBlockCursor::seek(std::string_view target) {
  if (damaged_) return false;
  // Searches the last restart whose key is below the target, or the first restart. Each key between two others begins
  // with the bytes that both of them share with the target.
  std::uint32_t low = 0;
  std::uint32_t high = block_.restart_count() - 1;
  std::size_t low_matched = 0;
  std::size_t high_matched = 0;
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    prefetch_middles(low, middle, high);
    const char* at = nullptr;
    StoredEntry entry;
    if (!decode_restart(middle, &at, &entry)) return false;
    const std::size_t matched = matched_bytes(entry.unshared, target, std::min(low_matched, high_matched));
    if (below(entry.unshared, target, matched)) {
      low = middle;
      low_matched = matched;
    } else {
      high = middle - 1;
      high_matched = matched;
    }
  }
  if (low + 1 < block_.restart_count()) {
    const std::size_t size = block_.entries().size();
    const std::size_t start = block_.restart(low);
    const std::size_t end = block_.restart(low + 1);
    if (start < end && end <= size) prefetch_interval(begin_ + start, begin_ + end);
  }
  return scan(low, target, end_, low_matched);
}

bool SortedBlockCursor::find(std::string_view key, std::uint64_t key_hash) {
  if (damaged_) return false;
  const std::uint8_t interval =
      block_.bucket_count() == 0 ? kBucketOfSeveral : block_.bucket(bucket_of(key_hash, block_.bucket_count()));
  bool found = false;
  if (interval == kBucketOfSeveral) {
    found = seek(key);
  } else if (interval != kBucketOfNone) {
    found = scan_interval(interval, key);
  }
  if (!found) end_walk();
  return found;
}

/// Scans the one interval that a bucket names.
bool SortedBlockCursor::scan_interval(std::uint32_t interval, std::string_view target) {
  if (interval >= block_.restart_count()) {
    fail(end_);
    return false;
  }
  const std::size_t size = block_.entries().size();
  const std::size_t end = interval + 1 == block_.restart_count() ? size : block_.restart(interval + 1);
  if (end > size) {
    fail(end_);
    return false;
  }
  const std::size_t start = block_.restart(interval);
  if (start < end) prefetch_interval(begin_ + start, begin_ + end);
  return scan(interval, target, begin_ + end, 0);
}

/// Scans from a restart to the first entry before `end` whose key is not below `target`. If there is none, the cursor
/// is not valid. Returns true if the entry's key equals the target.
///
/// `matched` is the number of bytes of the target that the previous entry begins with. That entry is below the target.
/// If an entry shares more than `matched` bytes with it, the entry is below the target too and is skipped. Any other
/// entry begins with `shared` bytes of the target, and only its unshared bytes are compared. So no key is assembled on
/// the way. The entry at the restart begins with `known` bytes of the target.
bool SortedBlockCursor::scan(std::uint32_t restart, std::string_view target, const char* end, std::size_t known) {
  const char* at = nullptr;
  StoredEntry entry;
  if (!decode_restart(restart, &at, &entry)) return false;
  std::uint64_t matched = 0;
  std::uint64_t key_bytes = 0;
  while (true) {
    if (entry.shared > key_bytes) [[unlikely]] {
      fail(at);
      return false;
    }
    key_bytes = entry.shared + entry.unshared.size();
    if (entry.shared <= matched) {
      const auto shared = static_cast<std::size_t>(entry.shared);
      const std::string_view rest = target.substr(shared);
      const std::size_t common = known + common_prefix(entry.unshared.substr(known), rest.substr(known));
      known = 0;
      const bool key_ends = common == entry.unshared.size();
      const bool target_ends = common == rest.size();
      if (target_ends || (!key_ends && byte_at(entry.unshared, common) > byte_at(rest, common))) {
        key_.assign(target.substr(0, shared), entry.unshared);
        take(at, entry);
        return target_ends && key_ends;
      }
      matched = shared + common;
    }
    at = entry.end;
    if (at >= end) break;
    if (!decode_stored_entry(at, end_, &entry)) [[unlikely]] {
      fail(at);
      return false;
    }
  }
  end_walk();
  return false;
}

}  // namespace varve::format
