#include <algorithm>
#include <filesystem>

#include "bench/blobs/goals.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

}  // namespace

Sizes quick_sizes() {
  Sizes sizes;
  sizes.seconds = 0.05;
  sizes.stream_bytes = 4 * kMiB;
  sizes.each_bytes = 2 * kMiB;
  sizes.cached_bytes = 4 * kMiB;
  sizes.long_bytes = 8 * kMiB;
  sizes.short_bytes = 2 * kMiB;
  sizes.reads = 5;
  sizes.listed = 2'000;
  sizes.prefixes = 20;
  sizes.dropped = 200;
  sizes.collected_bytes = 16 * kMiB;
  sizes.hashed_bytes = 16 * kMiB;
  sizes.entities = 3'000;
  sizes.cached_entities = 1'000;
  return sizes;
}

Sizes fitted(Sizes sizes, std::uint64_t free_bytes) {
  // The largest rows keep about twelve times `stream_bytes`, three times `long_bytes`, and twice `collected_bytes`.
  const auto at_most = [free_bytes](std::uint64_t& bytes, std::uint64_t copies) {
    bytes = std::max(kMiB, std::min(bytes, free_bytes / (copies + 1) / kMiB * kMiB));
  };
  at_most(sizes.stream_bytes, 12);
  at_most(sizes.each_bytes, 16 * 8);
  at_most(sizes.long_bytes, 4);
  at_most(sizes.short_bytes, 16);
  at_most(sizes.collected_bytes, 4);
  constexpr std::uint64_t kBytesOfEntity = 1024;  // in all stores and peers of a row together
  sizes.entities = std::max(std::uint64_t{1000}, std::min(sizes.entities, free_bytes / kBytesOfEntity));
  return sizes;
}

std::string Bench::part(const std::string& name) const {
  const std::filesystem::path path = std::filesystem::path(directory) / name;
  std::filesystem::create_directories(path);
  return path.string();
}

}  // namespace varve::bench
