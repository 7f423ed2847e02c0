// Owns: the steps of a look-up in the local cache, and of an offer (read_cache.h).
// Must never: hold the mutex while the file is read or written, or write it on the thread of a reader.
#include "io/rados/read_cache.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <xxhash.h>

namespace varve::io {

/// What an entry has before its bytes.
struct ReadCache::Head {
  Hash hash;
  std::uint64_t checksum = 0;
  std::uint64_t size = 0;

  static Head of(const Hash& hash, std::span<const std::byte> bytes) noexcept {
    return {hash, XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash.low), bytes.size()};
  }
  bool operator==(const Head& other) const noexcept {
    return hash.low == other.hash.low && hash.high == other.hash.high && checksum == other.checksum &&
           size == other.size;
  }
};

namespace {

constexpr std::size_t kAlignment = 8;

constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Result<std::unique_ptr<ReadCache>> ReadCache::make(std::unique_ptr<CacheFile> file, std::uint64_t size_bytes,
                                                   Scheduler& scheduler, std::unique_ptr<CacheIndexFile> kept) try {
  if (size_bytes < kSizeMin) {
    return Status::invalid_argument("a local cache has at least " + std::to_string(kSizeMin >> 20) + " MiB");
  }
  const std::uint64_t whole = size_bytes / kSegmentBytes * kSegmentBytes;
  const std::size_t buckets = whole / kBytesForOneOfIndex / sizeof(Bucket);
  Memory memory{std::vector<Bucket>(buckets), std::vector<std::byte>(kSegmentBytes),
                std::vector<std::byte>(kSegmentBytes)};
  std::unique_ptr<ReadCache> cache(
      new ReadCache(std::move(file), std::move(kept), whole, scheduler, std::move(memory)));
  cache->begin_with_kept();
  Result<Thread> thread = scheduler.start("varve-cache", [cache = cache.get()] { cache->run(); });
  if (!thread.ok()) return thread.status();
  cache->thread_ = *std::move(thread);
  return cache;
} catch (const std::bad_alloc&) {
  return Status::out_of_memory();
}

ReadCache::ReadCache(std::unique_ptr<CacheFile> file, std::unique_ptr<CacheIndexFile> kept, std::uint64_t size_bytes,
                     Scheduler& scheduler, Memory memory)
    : file_(std::move(file)),
      kept_(std::move(kept)),
      size_bytes_(size_bytes),
      mutex_(scheduler),
      changed_(scheduler),
      index_(std::move(memory.index)),
      open_(std::move(memory.open)),
      open_begin_(size_bytes + kSegmentBytes),  // So no entry has position zero.
      written_(std::move(memory.written)) {
  figures_.size_bytes = size_bytes;
  figures_.is_kept = kept_ != nullptr;
}

ReadCache::~ReadCache() {
  {
    const MutexGuard guard(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
  const MutexGuard guard(mutex_);
  keep_index();
}

/// Takes over what the former process left. Without its index, its blocks are of no use.
void ReadCache::begin_with_kept() noexcept {
  if (kept_ == nullptr) return;
  const MutexGuard guard(mutex_);
  const FoundIndex found = read_cache_index(*kept_, size_bytes_, index_);
  if (found.kind == FoundIndex::Kind::kDamaged) ++figures_.damaged;
  if (found.kind != FoundIndex::Kind::kWhole) {
    if (begin_writing()) file_->clear();
    return;
  }
  open_begin_ = found.log_end;
  figures_.found_entries = found.entries;
}

/// Removes the index of the former process, once. Returns false if that fails. Then the file stays as it is.
bool ReadCache::begin_writing() noexcept {
  if (!may_write_) may_write_ = kept_ == nullptr || kept_->remove();
  return may_write_;
}

/// Writes what the file lacks, and then the index, for the next process. No thread writes any more.
void ReadCache::keep_index() noexcept {
  if (kept_ == nullptr) return;
  const bool is_as_found = !may_write_ && open_bytes_ == 0;
  if (is_as_found || !begin_writing()) return;
  if (open_bytes_ > 0) {
    if (!file_->write(open_begin_ % size_bytes_, std::span(open_).first(open_bytes_))) return;
    open_begin_ += kSegmentBytes;
  }
  (void)write_cache_index(*kept_, size_bytes_, open_begin_, index_);
}

/// Returns nothing for a place that is not cached.
std::optional<ReadCache::Hash> ReadCache::hash_of(std::string_view object, std::uint64_t offset,
                                                  std::size_t size) noexcept {
  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
    std::array<char, 240> object;
  };
  if (size == 0 || size > kEntryBytesMax || object.size() > sizeof(Place::object)) return std::nullopt;
  Place place{offset, size, {}};
  std::copy(object.begin(), object.end(), place.object.begin());
  const XXH128_hash_t hash = XXH3_128bits(&place, offsetof(Place, object) + object.size());
  return Hash{std::max<std::uint64_t>(hash.low64, 1), hash.high64};
}

ReadCache::Entry* ReadCache::find(const Hash& hash) noexcept {
  Bucket& bucket = bucket_of(hash);
  const auto found =
      std::find_if(bucket.begin(), bucket.end(), [&](const Entry& each) { return each.hash == hash.low; });
  return found == bucket.end() ? nullptr : &*found;
}

/// Returns the entry that a new one takes the place of: one that is unused or gone, or else one that was offered once, or
/// else the oldest.
ReadCache::Entry& ReadCache::replaced(Bucket& bucket) noexcept {
  const auto rank = [begin = oldest()](const Entry& entry) {
    const bool is_free = entry.hash == 0 || (entry.position != 0 && entry.position < begin);
    return is_free ? 0 : 1 + entry.position;
  };
  return *std::min_element(bucket.begin(), bucket.end(),
                           [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
}

std::uint64_t ReadCache::oldest() const noexcept {
  return open_begin_ - size_bytes_;
}

bool ReadCache::read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes) noexcept {
  const std::optional<Hash> hash = hash_of(object, offset, bytes.size());
  if (!hash) return false;
  std::uint64_t position = 0;
  {
    const MutexGuard guard(mutex_);
    const Entry* const entry = find(*hash);
    const std::uint64_t in_file_end = is_writing_ ? open_begin_ - kSegmentBytes : open_begin_;
    const bool is_open = entry != nullptr && entry->position >= open_begin_;
    const bool is_in_file = !is_open && !is_slow_ && entry != nullptr && entry->position < in_file_end;
    if (entry == nullptr || entry->position < oldest() || !(is_open || is_in_file)) {
      ++figures_.misses;
      return false;
    }
    position = entry->position;
    if (is_open) {
      const std::byte* const head = open_.data() + (position - open_begin_);
      const bool is_same = std::memcmp(head, &*hash, sizeof(Hash)) == 0;
      if (is_same) std::memcpy(bytes.data(), head + sizeof(Head), bytes.size());
      ++(is_same ? figures_.hits : figures_.misses);
      return is_same;
    }
  }
  return read_at(position, *hash, bytes);
}

/// The log may overwrite the entry meanwhile. Then its head or its checksum is another one.
bool ReadCache::read_at(std::uint64_t position, const Hash& hash, std::span<std::byte> bytes) noexcept {
  Head head;
  const bool was_read = file_->read(position % size_bytes_, std::as_writable_bytes(std::span(&head, 1)), bytes);
  const bool is_whole = was_read && head == Head::of(hash, bytes);
  const MutexGuard guard(mutex_);
  ++(is_whole ? figures_.hits : figures_.misses);
  if (is_whole) return true;
  if (position >= oldest()) ++figures_.damaged;
  Entry* const entry = find(hash);
  if (entry != nullptr && entry->position == position) *entry = Entry();  // It would only be read again in vain.
  return false;
}

void ReadCache::offer(std::string_view object, std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  const std::optional<Hash> hash = hash_of(object, offset, bytes.size());
  if (!hash) return;
  if (!wants(*hash)) return;
  const Head head = Head::of(*hash, bytes);
  const MutexGuard guard(mutex_);
  if (!make_room(bytes.size())) return;
  // Another thread may have changed the index meanwhile, and a new segment ends the oldest one.
  Entry* const entry = find(*hash);
  if (entry != nullptr && entry->position < oldest()) put(*entry, head, bytes);
}

void ReadCache::keep(std::string_view object, std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  // Bytes come in bursts of a few segments. A disk writes one in much less than this.
  constexpr std::chrono::milliseconds kWait{5};
  constexpr int kWaits = 4;
  const std::optional<Hash> hash = hash_of(object, offset, bytes.size());
  if (!hash) return;
  const Head head = Head::of(*hash, bytes);
  const MutexGuard guard(mutex_);
  for (int waits = 0; waits < kWaits && is_writing_ && !is_slow_ && is_full_for(bytes.size()); ++waits) {
    (void)changed_.wait_for(mutex_, kWait);
  }
  if (!make_room(bytes.size())) return;
  Entry* entry = find(*hash);
  if (entry != nullptr && entry->position >= oldest()) return;
  if (entry == nullptr) {
    entry = &replaced(bucket_of(*hash));
    *entry = {hash->low, 0};
  }
  put(*entry, head, bytes);
}

bool ReadCache::is_full_for(std::size_t size) const noexcept {
  return open_bytes_ + aligned(sizeof(Head) + size) > kSegmentBytes;
}

/// Begins another segment if the open one is too full. Returns false if the disk still writes the one before.
bool ReadCache::make_room(std::size_t size) noexcept {
  if (!is_full_for(size)) return true;
  is_slow_ = is_writing_;
  if (is_slow_) return false;
  begin_segment();
  return true;
}

/// Returns whether the bytes of an offer are to be taken. Notes the first offer of a place.
bool ReadCache::wants(const Hash& hash) noexcept {
  const MutexGuard guard(mutex_);
  const Entry* const entry = find(hash);
  if (entry == nullptr) replaced(bucket_of(hash)) = {hash.low, 0};
  return entry != nullptr && entry->position < oldest();
}

void ReadCache::put(Entry& entry, const Head& head, std::span<const std::byte> bytes) noexcept {
  std::byte* const at = open_.data() + open_bytes_;
  std::memcpy(at, &head, sizeof(Head));
  std::memcpy(at + sizeof(Head), bytes.data(), bytes.size());
  entry.position = open_begin_ + open_bytes_;
  open_bytes_ += aligned(sizeof(Head) + bytes.size());
  figures_.taken_bytes += bytes.size();
}

void ReadCache::forget(std::string_view object, std::uint64_t offset, std::size_t size) noexcept {
  const std::optional<Hash> hash = hash_of(object, offset, size);
  if (!hash) return;
  const MutexGuard guard(mutex_);
  if (Entry* const entry = find(*hash); entry != nullptr) *entry = Entry();
}

/// Gives the open segment to the thread, which writes nothing now, and begins the next one.
void ReadCache::begin_segment() noexcept {
  std::swap(open_, written_);
  written_bytes_ = open_bytes_;
  open_begin_ += kSegmentBytes;
  open_bytes_ = 0;
  is_writing_ = true;
  changed_.notify_all();
}

void ReadCache::run() noexcept {
  mutex_.lock();
  for (;;) {
    while (!is_writing_ && !is_ending_) changed_.wait(mutex_);
    if (!is_writing_) break;
    const std::uint64_t place = (open_begin_ - kSegmentBytes) % size_bytes_;
    const std::size_t bytes = written_bytes_;
    mutex_.unlock();
    const bool was_written = begin_writing() && file_->write(place, std::span(written_).first(bytes));
    mutex_.lock();
    is_writing_ = false;
    is_slow_ = false;
    if (!was_written) ++figures_.failed_segments;
    changed_.notify_all();
  }
  mutex_.unlock();
}

void ReadCache::settle() noexcept {
  const MutexGuard guard(mutex_);
  while (is_writing_) changed_.wait(mutex_);
}

ReadCacheFigures ReadCache::figures() const noexcept {
  const MutexGuard guard(mutex_);
  return figures_;
}

}  // namespace varve::io
