// Owns: reading sorted entries whose keys share prefixes. They are the content of data blocks, index partitions, top
// indexes and table directories.
// Must never: read outside its bytes, whatever they contain, or allocate for an entry. Damage ends the iteration.
//
//   entries   | varint shared . varint unshared . varint value bytes . unshared key bytes . value
//   restarts  | u32 offsets of entries with shared = 0, rising, the first 0
//   buckets   | h bytes, see below
//   trailer   | u64 base version . u32 count of restarts . u16 h . u16 zero
//
// `shared` is the number of bytes that the key has in common with the previous key. An interval is the entries from one
// restart to the next. Keys rise; equal keys may follow one another.
//
// Buckets are a hash index of keys. The bucket of key k is (content_hash(k) >> 32) mod h. It contains the number of the
// interval with that key, 254 if several intervals have keys of this bucket, or 255 if none has.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/block/stored_entry.h"
#include "format/bytes/bytes.h"
#include "format/bytes/common_prefix.h"
#include "format/bytes/key_buffer.h"
#include "format/bytes/prefetch.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kSortedBlockTrailerBytes = 16;
/// Every interval number in a bucket is below it.
inline constexpr std::uint32_t kHashedIntervalsMax = 254;
inline constexpr std::uint8_t kBucketOfSeveral = 254;
inline constexpr std::uint8_t kBucketOfNone = 255;

constexpr std::uint32_t bucket_of(std::uint64_t key_hash, std::uint16_t bucket_count) noexcept {
  return static_cast<std::uint32_t>(key_hash >> 32) % bucket_count;
}

/// The parts of a sorted block's content, which must outlive the object. Cheap to copy.
class SortedBlock {
 public:
  /// Checks the trailer, and that the parts fit. Entries are checked when they are read.
  /// Errors: kCorruption.
  static Result<SortedBlock> parse(std::string_view content);

  SortedBlock() noexcept = default;

  std::uint64_t base_version() const noexcept { return base_version_; }
  std::string_view entries() const noexcept { return {entries_, entries_bytes_}; }
  std::uint32_t restart_count() const noexcept { return restart_count_; }
  /// Returns the offset of an entry, which is not checked. `number` must be below restart_count().
  std::uint32_t restart(std::uint32_t number) const noexcept {
    return load_u32(entries_ + entries_bytes_ + std::size_t{number} * sizeof(std::uint32_t));
  }
  std::uint16_t bucket_count() const noexcept { return bucket_count_; }
  std::uint8_t bucket(std::uint32_t number) const noexcept { return static_cast<std::uint8_t>(buckets_[number]); }

 private:
  const char* entries_ = nullptr;
  const char* buckets_ = nullptr;
  std::size_t entries_bytes_ = 0;
  std::uint64_t base_version_ = 0;
  std::uint32_t restart_count_ = 0;
  std::uint16_t bucket_count_ = 0;
};

/// A position among the entries of one block. A new cursor has no position. One thread at a time may use it. It cannot
/// be copied or moved: open() starts on the next block and reuses the key buffer.
///
/// If a move ends at no entry or meets damage, the cursor is not valid. status() distinguishes the two cases.
class SortedBlockCursor {
 public:
  /// Starts to read `block`, whose content must outlive the use.
  void open(const SortedBlock& block) noexcept;

  bool valid() const noexcept { return valid_; }
  /// Return the key and value of the present entry, until the cursor moves. The value points into the block.
  std::string_view key() const noexcept { return key_.view(); }
  std::string_view value() const noexcept { return value_; }
  const SortedBlock& block() const noexcept { return block_; }
  /// Returns the offset of the entry in bytes from the block's start.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  void seek_to_first();
  void seek_to_last();
  /// Moves to the first entry whose key is not below `target`. Returns true if its key equals the target.
  bool seek(std::string_view target);
  /// Moves to the first entry with this key. If there is none, returns false and is not valid. Uses the buckets, if the
  /// block has any. `key_hash` is content_hash(key).
  bool find(std::string_view key, std::uint64_t key_hash);
  /// The cursor must be valid (asserted).
  void next();
  void previous();

  /// Reads the entry after the present one, and does not move. Returns false at the block's end, and if that entry is damaged.
  /// The cursor must be valid (asserted).
  [[gnu::always_inline]] bool look_ahead(StoredEntry* ahead) const noexcept {
    assert(valid_);
    return next_ != end_ && decode_stored_entry(next_, end_, ahead) && ahead->shared <= key_.size();
  }
  /// Moves to the entry that look_ahead() has read, if it has another key. Otherwise does not move, and returns false.
  /// `shared` receives the number of bytes that the two keys have in common at the start.
  bool step_to_other_key(const StoredEntry& ahead, std::size_t* shared);

  /// Returns Ok, or kCorruption if a move met damage since open().
  Status status() const;

 private:
  bool decode_restart(std::uint32_t number, const char** at, StoredEntry* entry) noexcept;
  void prefetch_middles(std::uint32_t low, std::uint32_t middle, std::uint32_t high) const noexcept;
  void step_to(const char* at);
  bool decode_after(const char* at, StoredEntry* entry) noexcept;
  void walk_to_entry_before(const char* at, const char* end);
  bool scan(std::uint32_t restart, std::string_view target, const char* end, std::size_t known);
  bool scan_interval(std::uint32_t interval, std::string_view target);
  void take(const char* at, const StoredEntry& entry) noexcept {
    at_ = at;
    next_ = entry.end;
    value_ = entry.value;
    valid_ = true;
  }
  static void prefetch_ahead(const char* at, const char* next, const char* end) noexcept;
  void end_walk() noexcept { valid_ = false; }
  void fail(const char* at) noexcept;

  SortedBlock block_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  const char* at_ = nullptr;
  const char* next_ = nullptr;
  std::string_view value_;
  KeyBuffer key_;
  std::size_t damaged_at_ = 0;
  bool valid_ = false;
  bool damaged_ = false;
};

/// Prefetches the bytes of a later entry, as if all entries had the present size. The distance is large enough for the
/// bytes to arrive before the iteration does. All lines of an entry are fetched, because its start is only estimated. So
/// each step fetches the bytes that follow those of the step before.
inline void SortedBlockCursor::prefetch_ahead(const char* at, const char* next, const char* end) noexcept {
  constexpr std::ptrdiff_t kEntriesAhead = 3;
  constexpr std::ptrdiff_t kCacheLineBytes = 64;
  constexpr std::ptrdiff_t kBytesMax = 8 * kCacheLineBytes;
  const std::ptrdiff_t bytes = kEntriesAhead * (next - at);
  if (bytes + kCacheLineBytes >= end - next) return;
  const char* const from = next + bytes;
  const char* const to = from + std::min(std::min(next - at, kBytesMax), end - from);
  for (const char* line = from; line < to; line += kCacheLineBytes) prefetch(line);
}

/// The entry's first unshared byte nearly always differs from the key's. At a restart the entry shares none, and has more in
/// common than it says.
[[gnu::always_inline]] inline bool SortedBlockCursor::step_to_other_key(const StoredEntry& ahead, std::size_t* shared) {
  auto kept = static_cast<std::size_t>(ahead.shared);
  std::string_view tail = ahead.unshared;
  const std::string_view left(key_.view().data() + kept, key_.size() - kept);
  if (!left.empty() && !tail.empty() && left.front() == tail.front()) {
    const std::size_t more = common_prefix(left, tail);
    kept += more;
    tail.remove_prefix(more);
  }
  if (tail.empty() && kept == key_.size()) return false;
  prefetch_ahead(next_, ahead.end, end_);
  static_assert(kSortedBlockTrailerBytes >= KeyBuffer::kShortTail, "they follow any entry");
  key_.replace_short_tail(kept, tail);
  take(next_, ahead);
  *shared = kept;
  return true;
}

}  // namespace varve::format
