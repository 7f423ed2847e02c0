// Owns: iterating over sorted blocks and searching them (sorted_block.h).
// Must never: compare bytes of a key that are already compared, or assemble a key that is only skipped.
#include "format/block/sorted_block.h"

#include <algorithm>
#include <bit>
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

/// The three lengths that precede an entry's bytes.
struct Lengths {
  std::uint64_t shared = 0;
  std::uint64_t unshared = 0;
  std::uint64_t value = 0;
};

/// Reads any three varints. Returns the address after them, or null.
const char* take_any_lengths(const char* at, const char* end, Lengths* lengths) noexcept {
  at = take_varint(at, end, &lengths->shared);
  if (at == nullptr) return nullptr;
  at = take_varint(at, end, &lengths->unshared);
  if (at == nullptr) return nullptr;
  return take_varint(at, end, &lengths->value);
}

/// Reads the three lengths. Nearly all keys are shorter than 128 bytes and values than 16 KiB, and one load then reads
/// all of them.
inline const char* take_lengths(const char* at, const char* end, Lengths* lengths) noexcept {
  if (end - at >= static_cast<std::ptrdiff_t>(sizeof(std::uint32_t))) [[likely]] {
    constexpr std::uint32_t kSeven = 0x7F;
    const std::uint32_t head = load_u32(at);
    const std::uint32_t above = head >> 24;
    const bool is_short_value = (head & 0x00808080) == 0;
    if (is_short_value || ((head & 0x80808080) == 0x00800000 && above != 0)) [[likely]] {
      lengths->shared = head & kSeven;
      lengths->unshared = head >> 8 & kSeven;
      lengths->value = (head >> 16 & kSeven) | (is_short_value ? 0 : above << 7);
      return at + (is_short_value ? 3 : 4);
    }
  }
  return take_any_lengths(at, end, lengths);
}

/// Prefetches the bytes before the trailer, which a search reads first, while the trailer is checked.
void prefetch_search_parts(const char* trailer, std::size_t bytes_before) noexcept {
  const auto before = static_cast<std::ptrdiff_t>(bytes_before);
  prefetch(trailer - std::min(before, kCacheLineBytes));
  prefetch(trailer - std::min(before, 2 * kCacheLineBytes));
}

/// Prefetches the middle between two addresses. If two large entries lie there, the second begins near it, and a scan
/// continues there half the time.
void prefetch_middle(const char* start, const char* end) noexcept {
  const char* const middle = start + (end - start) / 2;
  if (middle - start < kCacheLineBytes) return;
  prefetch(middle);
  prefetch(middle + std::min(end - middle, kCacheLineBytes));
}

/// Prefetches the estimated start of a later entry, as if all entries had the present size. The distance is large
/// enough for the bytes to arrive before the iteration does.
void prefetch_ahead(const char* at, const char* next, const char* end) noexcept {
  constexpr std::ptrdiff_t kEntriesAhead = 3;
  const std::ptrdiff_t bytes = kEntriesAhead * (next - at);
  if (bytes + kCacheLineBytes >= end - next) return;
  prefetch(next + bytes);
  prefetch(next + bytes + kCacheLineBytes);
}

unsigned char byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

bool below(std::string_view a, std::string_view b) noexcept {
  const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
  return order != 0 ? order < 0 : a.size() < b.size();
}

/// Returns whether two keys differ after the prefix that they share. Nearly always their first bytes there differ.
bool differ(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return true;
  return !a.empty() && (a.front() != b.front() || a != b);
}

}  // namespace

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

inline bool SortedBlockCursor::decode(const char* at, Entry* entry) const noexcept {
  Lengths lengths;
  at = take_lengths(at, end_, &lengths);
  if (at == nullptr) [[unlikely]]
    return false;
  const auto left = static_cast<std::uint64_t>(end_ - at);
  if (lengths.unshared > left || lengths.value > left - lengths.unshared) [[unlikely]]
    return false;
  entry->shared = lengths.shared;
  entry->unshared = {at, static_cast<std::size_t>(lengths.unshared)};
  entry->value = {at + lengths.unshared, static_cast<std::size_t>(lengths.value)};
  entry->end = at + lengths.unshared + lengths.value;
  return true;
}

/// Prefetches the two restarts that a binary search between `low` and `high` may read after the restart at `middle`.
void SortedBlockCursor::prefetch_middles(std::uint32_t low, std::uint32_t middle, std::uint32_t high) const noexcept {
  for (const std::uint32_t next : {middle - (middle - low) / 2, high - (high - middle) / 2}) {
    const std::uint32_t offset = block_.restart(next);
    if (offset < block_.entries().size()) prefetch(begin_ + offset);
  }
}

/// Reads the entry at a restart. If no entry with its whole key is there, returns false and records the damage.
inline bool SortedBlockCursor::decode_restart(std::uint32_t number, const char** at, Entry* entry) noexcept {
  const std::uint32_t offset = block_.restart(number);
  if (offset >= block_.entries().size()) {
    fail(end_);
    return false;
  }
  *at = begin_ + offset;
  if (decode(*at, entry) && entry->shared == 0) return true;
  fail(*at);
  return false;
}

void SortedBlockCursor::take(const char* at, const Entry& entry) noexcept {
  at_ = at;
  next_ = entry.end;
  value_ = entry.value;
  valid_ = true;
}

/// Decodes the entry at `at`, which follows the entry whose key is in the buffer. At the end and after damage, returns
/// false, and the cursor becomes not valid.
inline bool SortedBlockCursor::decode_after(const char* at, Entry* entry) noexcept {
  if (at == end_) {
    end_walk();
    return false;
  }
  if (!decode(at, entry) || entry->shared > key_.size()) [[unlikely]] {
    fail(at);
    return false;
  }
  prefetch_ahead(at, entry->end, end_);
  return true;
}

/// Moves to the entry at `at`, which follows the entry whose key is in the buffer.
void SortedBlockCursor::step_to(const char* at) {
  Entry entry;
  if (!decode_after(at, &entry)) return;
  key_.replace_tail(static_cast<std::size_t>(entry.shared), entry.unshared);
  take(at, entry);
}

void SortedBlockCursor::next() {
  assert(valid_);
  step_to(next_);
}

/// The shared bytes are equal, so only the bytes after them are compared. At a restart no byte is shared.
bool SortedBlockCursor::next_has_other_key() {
  assert(valid_);
  const char* const at = next_;
  Entry entry;
  if (!decode_after(at, &entry)) return false;
  const auto shared = static_cast<std::size_t>(entry.shared);
  const bool is_other = differ({key_.view().data() + shared, key_.size() - shared}, entry.unshared);
  key_.replace_tail(shared, entry.unshared);
  take(at, entry);
  return is_other;
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
  // Searches the last restart whose key is below the target, or the first restart.
  std::uint32_t low = 0;
  std::uint32_t high = block_.restart_count() - 1;
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    prefetch_middles(low, middle, high);
    const char* at = nullptr;
    Entry entry;
    if (!decode_restart(middle, &at, &entry)) return false;
    if (below(entry.unshared, target)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return scan(low, target, end_);
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
  if (interval + 1 == block_.restart_count()) return scan(interval, target, end_);
  const std::uint32_t end = block_.restart(interval + 1);
  if (end > block_.entries().size()) {
    fail(end_);
    return false;
  }
  const std::uint32_t start = block_.restart(interval);
  if (start < end) prefetch_middle(begin_ + start, begin_ + end);
  return scan(interval, target, begin_ + end);
}

/// Scans from a restart to the first entry before `end` whose key is not below `target`. If there is none, the cursor
/// is not valid. Returns true if the entry's key equals the target.
///
/// `matched` is the number of bytes of the target that the previous entry begins with. That entry is below the target.
/// If an entry shares more than `matched` bytes with it, the entry is below the target too and is skipped. Any other
/// entry begins with `shared` bytes of the target, and only its unshared bytes are compared. So no key is assembled on
/// the way.
bool SortedBlockCursor::scan(std::uint32_t restart, std::string_view target, const char* end) {
  const char* at = nullptr;
  Entry entry;
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
      const std::size_t common = common_prefix(entry.unshared, rest);
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
    if (!decode(at, &entry)) [[unlikely]] {
      fail(at);
      return false;
    }
  }
  end_walk();
  return false;
}

}  // namespace varve::format
