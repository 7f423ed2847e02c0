#include "bench/blobs/goals.h"

#include <algorithm>
#include <filesystem>

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
  return sizes;
}

std::string Bench::part(const std::string& name) const {
  const std::filesystem::path path = std::filesystem::path(directory) / name;
  std::filesystem::create_directories(path);
  return path.string();
}

const std::vector<Goal>& all_goals() {
  static const std::vector<Goal> all{
      {"BO-01", one_stream},       {"BO-02", many_streams},       {"BO-03", sequential_reads},
      {"BO-04", random_ranges},    {"BO-05", puts_of_objects},    {"BO-06", small_appends},
      {"BO-08", first_pages},      {"BO-09", dropped_containers}, {"BO-10", copies},
      {"BO-11", entity_with_blob}, {"BO-12", checksums},          {"BX-33", collection},
  };
  return all;
}

}  // namespace varve::bench
