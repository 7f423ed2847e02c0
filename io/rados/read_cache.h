// Owns: the local cache of a cluster's objects: a log of segments that is written round and round, and its index in memory.
// Must never: give bytes that were not offered for the same place, or fail. What it lacks is read from the cluster (S8).
//
// An object of a finished file never changes, and its name is never used again. So nothing becomes stale here. Names begin
// with the 128 random bits of their store, so stores, pools and clusters can share one cache.
//
//   segment    kSegmentBytes; collected in memory, and written when the next entry does not fit
//   entry      its place's hash (16 bytes), a checksum of the bytes that begins with the hash (8), the number of bytes (8),
//              the bytes. The place is the object's name, the offset and the number of bytes. An entry says itself what it
//              is: whatever the index says, bytes that were written for another place are a miss
//   index      16 bytes an entry: half of the hash, and the position in the log. Eight entries share a bucket
//
// Bytes are taken at their second offer, so that a scan of all objects replaces little. The first one leaves its hash in
// the index, in place of the oldest entry where a bucket is full. Positions grow for ever. An entry is gone when the log has come round to its place.
//
// A cache with an index file writes its index when it ends, and the next one begins with that (cache_index.h). That one
// removes the index durably before it writes a block. Neither the index nor the blocks were synced. So after a power cut, the
// next cache may begin with entries whose bytes are others, which are misses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/rados/cache_file.h"
#include "io/rados/cache_index.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

struct ReadCacheFigures {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t taken_bytes = 0;  // that were offered and taken
  std::uint64_t damaged = 0;  // entries whose bytes were others than the written ones, or were not written; an index
  std::uint64_t failed_segments = 0;  // that could not be written, for example because the disk is full
  std::uint64_t size_bytes = 0;
  std::uint64_t found_entries = 0;  // that the former process left
  bool is_kept = false;             // for the next process
};

/// Any thread may use it.
class ReadCache {
 public:
  static constexpr std::uint64_t kSegmentBytes = kCacheSegmentBytes;
  static constexpr std::uint64_t kSizeMin = 4 * kSegmentBytes;
  /// Bytes of the cache for each byte of memory that its index has.
  static constexpr std::uint64_t kBytesForOneOfIndex = 256;
  /// Longer reads are those of scans, and pass the cache.
  static constexpr std::size_t kEntryBytesMax = std::size_t{128} << 10;

  /// The cache has `size_bytes`, rounded down to whole segments. A thread of its own writes them. With `kept`, it begins with
  /// the entries that the former process left. Errors: kInvalidArgument (less than kSizeMin), kOutOfMemory, kIoError (no
  /// thread).
  static Result<std::unique_ptr<ReadCache>> make(std::unique_ptr<CacheFile> file, std::uint64_t size_bytes,
                                                 Scheduler& scheduler, std::unique_ptr<CacheIndexFile> kept = nullptr);

  /// Waits for a write in progress, and writes the index if it is kept. A forked child leaves the cache to its parent.
  ~ReadCache();
  ReadCache(const ReadCache&) = delete;
  ReadCache& operator=(const ReadCache&) = delete;

  /// Fills `bytes` from the cache. Returns whether it has them. If not, `bytes` may be overwritten.
  bool read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes) noexcept;
  /// Offers bytes that were read from the cluster after a miss. They are not taken while the disk is slow.
  void offer(std::string_view object, std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  /// Takes bytes at once. Waits shortly if the disk is still writing what came before, and takes them not while it is slow.
  void keep(std::string_view object, std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  /// Forgets an entry, whose bytes may have been damaged before they were offered.
  void forget(std::string_view object, std::uint64_t offset, std::size_t size) noexcept;
  /// Waits until no segment is being written.
  void settle() noexcept;
  ReadCacheFigures figures() const noexcept;

 private:
  struct Hash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  struct Head;
  using Entry = CacheEntry;
  using Bucket = CacheBucket;
  struct Memory {
    std::vector<Bucket> index;
    std::vector<std::byte> open;
    std::vector<std::byte> written;
  };

  ReadCache(std::unique_ptr<CacheFile> file, std::unique_ptr<CacheIndexFile> kept, std::uint64_t size_bytes,
            Scheduler& scheduler, Memory memory);

  static std::optional<Hash> hash_of(std::string_view object, std::uint64_t offset, std::size_t size) noexcept;
  Bucket& bucket_of(const Hash& hash) noexcept VARVE_REQUIRES(mutex_) { return index_[hash.high % index_.size()]; }
  Entry* find(const Hash& hash) noexcept VARVE_REQUIRES(mutex_);
  Entry& replaced(Bucket& bucket) noexcept VARVE_REQUIRES(mutex_);
  /// Returns the first position that the log has not overwritten, also by a write that has begun.
  std::uint64_t oldest() const noexcept VARVE_REQUIRES(mutex_);
  bool read_at(std::uint64_t position, const Hash& hash, std::span<std::byte> bytes) noexcept;
  bool wants(const Hash& hash) noexcept;
  bool is_full_for(std::size_t size) const noexcept VARVE_REQUIRES(mutex_);
  bool make_room(std::size_t size) noexcept VARVE_REQUIRES(mutex_);
  void put(Entry& entry, const Head& head, std::span<const std::byte> bytes) noexcept VARVE_REQUIRES(mutex_);
  void begin_segment() noexcept VARVE_REQUIRES(mutex_);
  void run() noexcept;
  void begin_with_kept() noexcept;
  bool begin_writing() noexcept;
  void keep_index() noexcept VARVE_REQUIRES(mutex_);

  const std::unique_ptr<CacheFile> file_;
  const std::unique_ptr<CacheIndexFile> kept_;  // null: the next process begins empty
  const std::uint64_t size_bytes_;
  mutable Mutex mutex_;
  Condition changed_;  // is_writing_ or is_ending_
  std::vector<Bucket> index_ VARVE_GUARDED_BY(mutex_);
  std::vector<std::byte> open_ VARVE_GUARDED_BY(mutex_);  // the segment that entries are appended to
  std::size_t open_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t open_begin_ VARVE_GUARDED_BY(mutex_);  // its position in the log
  std::vector<std::byte> written_;                     // the segment that the thread writes while is_writing_
  bool may_write_ = false;                             // as begin_writing() found
  std::size_t written_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  bool is_writing_ VARVE_GUARDED_BY(mutex_) = false;
  /// The open segment became full before the last one was written. Until then, no read asks the disk.
  bool is_slow_ VARVE_GUARDED_BY(mutex_) = false;
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  ReadCacheFigures figures_ VARVE_GUARDED_BY(mutex_);
  Thread thread_;  // last: it uses all members above
};

}  // namespace varve::io
