// Owns: reading sorted entries that share the beginnings of their keys: the content of data blocks, index partitions,
// top indexes and table directories.
// Must never: read outside its bytes, whatever they hold, or allocate for an entry; damage ends the walk.
//
//   entries   | varint shared . varint unshared . varint value bytes . unshared key bytes . value
//   restarts  | u32 offsets of entries with shared = 0, rising, the first 0
//   buckets   | h bytes, see below
//   trailer   | u64 base version . u32 count of restarts . u16 h . u16 zero
//
// `shared` is how many bytes the key has in common with the one before. An interval is the entries from one restart to
// the next. Keys rise; equal keys may stand one behind the other.
//
// Buckets are a hash of keys: that of key k is (content_hash(k) >> 32) mod h, and holds the number of the interval with
// that key; 254 if several intervals have keys of this bucket, 255 if none has.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/bytes/key_buffer.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kSortedBlockTrailerBytes = 16;
/// Numbers of intervals in buckets are below it.
inline constexpr std::uint32_t kHashedIntervalsMax = 254;
inline constexpr std::uint8_t kBucketOfSeveral = 254;
inline constexpr std::uint8_t kBucketOfNone = 255;

constexpr std::uint32_t bucket_of(std::uint64_t key_hash, std::uint16_t bucket_count) noexcept {
  return static_cast<std::uint32_t>(key_hash >> 32) % bucket_count;
}

/// The parts of a sorted block's content, which must outlive it. Cheap to copy.
class SortedBlock {
 public:
  /// Checks the trailer, and that the parts fit. Entries are checked as they are read.
  /// Errors: kCorruption.
  static Result<SortedBlock> parse(std::string_view content);

  SortedBlock() noexcept = default;

  std::uint64_t base_version() const noexcept { return base_version_; }
  std::string_view entries() const noexcept { return {entries_, entries_bytes_}; }
  std::uint32_t restart_count() const noexcept { return restart_count_; }
  /// `number` is below restart_count(). What is read may be any number.
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

/// A place among the entries of one block. Not positioned until told to. One thread at a time; it stays where it was
/// made, and is opened again for the next block, so that its key buffer is used again.
///
/// A move that ends at no entry, or meets damage, leaves it not valid; status() tells the two apart.
class SortedBlockCursor {
 public:
  /// The content of the block must outlive the use.
  void open(const SortedBlock& block) noexcept;

  bool valid() const noexcept { return valid_; }
  /// Of the entry at the cursor, until it moves. The value points into the block.
  std::string_view key() const noexcept { return key_.view(); }
  std::string_view value() const noexcept { return value_; }
  const SortedBlock& block() const noexcept { return block_; }
  /// Where the entry begins, counted from the block's start.
  std::size_t offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  void seek_to_first();
  void seek_to_last();
  /// The first entry whose key is not below `target`; true if it is the target.
  bool seek(std::string_view target);
  /// The first entry with this key; false, and not valid, if there is none. Uses the buckets, if there are any:
  /// `key_hash` is content_hash(key).
  bool find(std::string_view key, std::uint64_t key_hash);
  /// The cursor must be valid (asserted).
  void next();
  void previous();

  /// Ok, or kCorruption if a move met damage since open().
  Status status() const;

 private:
  struct Entry {
    std::uint64_t shared = 0;
    std::string_view unshared;
    std::string_view value;
    const char* end = nullptr;
  };

  bool decode(const char* at, Entry* entry) const noexcept;
  bool decode_restart(std::uint32_t number, const char** at, Entry* entry) noexcept;
  void prefetch_middles(std::uint32_t low, std::uint32_t middle, std::uint32_t high) const noexcept;
  void step_to(const char* at);
  void walk_to_entry_before(const char* at, const char* end);
  bool scan(std::uint32_t restart, std::string_view target, const char* end);
  bool scan_interval(std::uint32_t interval, std::string_view target);
  void take(const char* at, const Entry& entry) noexcept;
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

}  // namespace varve::format
