// Owns: the fuzzer of the index of a local cache: hostile bytes, with and without valid checksums.
// Must never: accept an entry outside the log, or two encodings of one index.
//
// Input: one byte of mode, then the whole file (even mode), or the position of the next segment in MiB (eight bytes) and
// entries (odd mode), which are written as an index before they are read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "io/rados/cache_index.h"

namespace varve::io {
namespace {

constexpr std::uint64_t kSize = 4 * kCacheSegmentBytes;
constexpr std::size_t kBuckets = 4;

class MemoryIndexFile final : public CacheIndexFile {
 public:
  explicit MemoryIndexFile(std::vector<std::byte> bytes = {}) : bytes_(std::move(bytes)) {}

  bool read(std::span<std::byte> bytes) noexcept override {
    if (bytes.size() > bytes_.size() - read_bytes_) return false;
    if (!bytes.empty()) std::memcpy(bytes.data(), bytes_.data() + read_bytes_, bytes.size());
    read_bytes_ += bytes.size();
    return true;
  }
  bool remove() noexcept override { return true; }
  bool write(std::span<const std::byte> bytes) noexcept override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return true;
  }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t read_bytes_ = 0;
};

void check(bool holds) {
  if (!holds) std::abort();
}

/// Returns the file, as written by our encoder, of the entries in the input.
std::vector<std::byte> sealed(std::span<const std::byte> input) {
  std::uint64_t end = 0;
  std::vector<CacheBucket> buckets(kBuckets);
  if (input.size() >= sizeof(end)) {
    std::memcpy(&end, input.data(), sizeof(end));
    input = input.subspan(sizeof(end));
  }
  const std::size_t count = std::min(input.size(), sizeof(CacheBucket) * kBuckets);
  if (count > 0) std::memcpy(buckets.data(), input.data(), count);
  MemoryIndexFile file;
  check(write_cache_index(file, kSize, end * kCacheSegmentBytes, buckets));
  return file.bytes();
}

void read_index(const std::vector<std::byte>& bytes) {
  MemoryIndexFile file(bytes);
  std::vector<CacheBucket> buckets(kBuckets);
  const FoundIndex found = read_cache_index(file, kSize, buckets);
  if (found.kind != FoundIndex::Kind::kWhole) {
    const std::vector<CacheBucket> unused(kBuckets);
    check(std::memcmp(unused.data(), buckets.data(), sizeof(CacheBucket) * kBuckets) == 0);
    return check(found.log_end == 0 && found.entries == 0);
  }
  check(found.log_end > kSize && found.log_end % kCacheSegmentBytes == 0);
  std::uint64_t entries = 0;
  for (const CacheBucket& bucket : buckets) {
    for (const CacheEntry& entry : bucket) {
      if (entry.position == 0) continue;
      check(entry.hash != 0 && entry.position < found.log_end && entry.position >= found.log_end - kSize);
      ++entries;
    }
  }
  check(entries == found.entries);
  MemoryIndexFile again;
  check(write_cache_index(again, kSize, found.log_end, buckets));
  check(again.bytes().size() == bytes.size());
  std::vector<CacheBucket> same(kBuckets);
  const FoundIndex read = read_cache_index(again, kSize, same);
  check(read.kind == FoundIndex::Kind::kWhole && read.log_end == found.log_end && read.entries == found.entries);
  check(std::memcmp(same.data(), buckets.data(), sizeof(CacheBucket) * kBuckets) == 0);
}

}  // namespace
}  // namespace varve::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> input = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 2 == 0) {
    varve::io::read_index({input.begin(), input.end()});
  } else {
    varve::io::read_index(varve::io::sealed(input));
  }
  return 0;
}
