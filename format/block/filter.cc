// Owns: building and querying the two kinds of filter (filter.h has the layouts).
// Must never: depend on anything except the given hashes. A rebuilt filter is equal byte for byte.
#include "format/block/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "format/bytes/bytes.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kOddConstant = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio

/// Scales a hash to a number below `count`: its upper half is used as a fraction of 2^32.
std::uint32_t scaled(std::uint64_t hash, std::uint32_t count) noexcept {
  return static_cast<std::uint32_t>(((hash >> 32) * count) >> 32);
}

// ---- blocked Bloom

constexpr std::size_t kBloomHeaderBytes = 6;
constexpr std::size_t kBloomBlockBytes = 64;
constexpr unsigned kBloomBitNumberBits = 9;  // 512 bits a block
constexpr std::uint32_t kProbesPerWord = 64 / kBloomBitNumberBits;
constexpr std::uint32_t kProbesMax = 2 * kProbesPerWord;
static_assert(kBloomBlockBytes * 8 == 1U << kBloomBitNumberBits);

/// Calls `use(bit)` for each of the first `probes` bits of a hash in its block.
template <typename Use>
void for_each_bit(std::uint64_t hash, std::uint32_t probes, Use use) noexcept {
  std::uint64_t word = hash * kOddConstant;
  while (true) {
    std::uint64_t rest = word;
    for (std::uint32_t i = std::min(probes, kProbesPerWord); i > 0; --i) {
      use(static_cast<std::uint32_t>(rest & ((1U << kBloomBitNumberBits) - 1)));
      rest >>= kBloomBitNumberBits;
    }
    if (probes <= kProbesPerWord) return;
    probes -= kProbesPerWord;
    word = (word ^ word >> 32) * kOddConstant;
  }
}

std::size_t distinct_neighbours(std::span<const std::uint64_t> hashes) noexcept {
  std::size_t count = hashes.empty() ? 0U : 1U;
  for (std::size_t i = 1; i < hashes.size(); ++i) count += hashes[i] != hashes[i - 1] ? 1U : 0U;
  return count;
}

std::string build_bloom(std::span<const std::uint64_t> hashes, double bits_per_key) {
  const double bits = static_cast<double>(distinct_neighbours(hashes)) * bits_per_key;
  const auto blocks = static_cast<std::uint32_t>(std::ceil(bits / (8.0 * kBloomBlockBytes)));
  // With evenly spread keys, ln 2 probes for each bit of space are best. With small blocks, somewhat fewer are best.
  const auto probes = std::clamp(static_cast<std::uint32_t>(std::lround(bits_per_key * 0.6)), 1U, kProbesMax);

  std::string content;
  content.reserve(kBloomHeaderBytes + blocks * kBloomBlockBytes);
  content.push_back(static_cast<char>(FilterKind::kBlockedBloom));
  content.push_back(static_cast<char>(probes));
  append_u32(content, blocks);
  content.resize(kBloomHeaderBytes + blocks * kBloomBlockBytes);
  for (const std::uint64_t hash : hashes) {
    char* block = content.data() + kBloomHeaderBytes + kBloomBlockBytes * scaled(hash, blocks);
    for_each_bit(hash, probes,
                 [block](std::uint32_t bit) { block[bit / 8] = static_cast<char>(block[bit / 8] | 1 << bit % 8); });
  }
  return content;
}

bool bloom_may_contain(const char* blocks, std::uint32_t count, std::uint32_t probes, std::uint64_t hash) noexcept {
  const char* block = blocks + kBloomBlockBytes * scaled(hash, count);
  // Reads all bits, whatever the first ones are: they are in one cache line, and a mispredicted branch costs more.
  int all = 1;
  for_each_bit(hash, probes, [&](std::uint32_t bit) { all &= block[bit / 8] >> bit % 8; });
  return all != 0;
}

// ---- binary fuse

constexpr std::size_t kFuseHeaderBytes = 14;
constexpr std::uint32_t kSegmentLengthLogMax = 18;
constexpr std::uint32_t kArity = 3;

struct FuseShape {
  std::uint32_t segment_length = 0;  // a power of two
  std::uint32_t starts = 0;
  std::uint64_t multiplier = 1;  // odd, so that different hashes stay different

  std::size_t array_length() const noexcept { return std::size_t{starts + kArity - 1} * segment_length; }
};

struct FusePlaces {
  std::array<std::uint32_t, kArity> at;
  std::uint8_t fingerprint = 0;
};

// Inline, because a filter asks for the places of each hash five times while it is built.
[[gnu::always_inline]] inline FusePlaces places_of(std::uint64_t hash, std::uint32_t segment_length,
                                                   std::uint32_t first_places, std::uint64_t multiplier) noexcept {
  const std::uint64_t product = hash * multiplier;
  const std::uint64_t mixed = product ^ product >> 32;
  const std::uint32_t first = scaled(mixed, first_places);
  // The segment length is a power of two, so the exclusive or moves a place within its segment.
  const auto second = static_cast<std::uint32_t>(mixed >> 18) & (segment_length - 1);
  const auto third = static_cast<std::uint32_t>(mixed) & (segment_length - 1);
  return {{first, (first + segment_length) ^ second, (first + 2 * segment_length) ^ third},
          static_cast<std::uint8_t>(product)};
}

[[gnu::always_inline]] inline FusePlaces places_of(std::uint64_t hash, const FuseShape& shape) noexcept {
  return places_of(hash, shape.segment_length, shape.starts * shape.segment_length, shape.multiplier);
}

/// Returns the paper's sizes. Segments grow with the set, and a smaller set needs more space for each key.
FuseShape shape_for(std::size_t count) {
  const double keys = static_cast<double>(std::max<std::size_t>(count, 2));
  const double log = std::floor(std::log(keys) / std::log(3.33) + 2.25);
  FuseShape shape;
  shape.segment_length = 1U << std::min(static_cast<std::uint32_t>(log), kSegmentLengthLogMax);
  const double factor = std::max(1.125, 0.875 + 0.25 * std::log(1e6) / std::log(keys));
  const auto segments = static_cast<std::uint32_t>(std::ceil(keys * factor / shape.segment_length));
  shape.starts = segments < kArity ? 1 : segments - (kArity - 1);
  return shape;
}

/// One place of the array while the filter is built: the count and the exclusive or of the hashes that have this place
/// and are not yet taken out.
struct Cell {
  std::uint64_t hashes = 0;
  std::uint32_t count = 0;
};

struct Taken {
  std::uint64_t hash = 0;
  std::uint32_t place = 0;  // no hash that is taken out later has it
};

void toggle(std::vector<Cell>& cells, std::uint64_t hash, const FusePlaces& places, std::uint32_t change) noexcept {
  for (const std::uint32_t place : places.at) {
    cells[place].hashes ^= hash;
    cells[place].count += change;
  }
}

/// Takes out hashes, each of which is alone at some place at that moment, until none is left. Returns false if every
/// remaining place has two or more hashes; the set then needs another shape.
bool peel(std::span<const std::uint64_t> hashes, const FuseShape& shape, std::vector<Cell>& cells,
          std::vector<Taken>& taken) {
  cells.assign(shape.array_length(), Cell());
  taken.clear();
  for (const std::uint64_t hash : hashes) toggle(cells, hash, places_of(hash, shape), 1);
  for (std::uint32_t start = 0; start < cells.size(); ++start) {
    if (cells[start].count != 1) continue;
    std::size_t next = taken.size();
    taken.push_back({cells[start].hashes, start});
    toggle(cells, taken[next].hash, places_of(taken[next].hash, shape), ~0U);
    for (; next < taken.size(); ++next) {
      for (const std::uint32_t place : places_of(taken[next].hash, shape).at) {
        if (cells[place].count != 1) continue;
        const std::uint64_t hash = cells[place].hashes;
        taken.push_back({hash, place});
        toggle(cells, hash, places_of(hash, shape), ~0U);
      }
    }
  }
  return taken.size() == hashes.size();
}

/// Iterates backward. Each hash then has a place that no hash set before it has, and the fingerprint stored there
/// completes its equation.
void set_fingerprints(std::span<const Taken> taken, const FuseShape& shape, char* array) noexcept {
  for (std::size_t i = taken.size(); i-- > 0;) {
    const FusePlaces places = places_of(taken[i].hash, shape);
    unsigned value = places.fingerprint;
    for (const std::uint32_t place : places.at) {
      if (place != taken[i].place) value ^= static_cast<std::uint8_t>(array[place]);
    }
    array[taken[i].place] = static_cast<char>(value);
  }
}

std::string fuse_content(const FuseShape& shape, std::span<const Taken> taken) {
  std::uint8_t log = 0;
  while (1U << log < shape.segment_length) ++log;
  std::string content;
  content.push_back(static_cast<char>(FilterKind::kBinaryFuse));
  content.push_back(static_cast<char>(log));
  append_u64(content, shape.multiplier);
  append_u32(content, shape.starts);
  assert(content.size() == kFuseHeaderBytes);
  if (shape.starts == 0) return content;
  content.resize(kFuseHeaderBytes + shape.array_length());
  set_fingerprints(taken, shape, content.data() + kFuseHeaderBytes);
  return content;
}

/// Returns the hashes in rising order. As many buckets by the first bits, which are random, have about one hash each.
std::vector<std::uint64_t> sorted(std::span<const std::uint64_t> given) {
  const auto count = static_cast<std::uint32_t>(given.size());
  std::vector<std::uint32_t> ends(given.size() + 1);
  for (const std::uint64_t hash : given) ++ends[scaled(hash, count) + 1];
  for (std::size_t bucket = 1; bucket < given.size(); ++bucket) ends[bucket] += ends[bucket - 1];
  std::vector<std::uint64_t> hashes(given.size());
  for (const std::uint64_t hash : given) hashes[ends[scaled(hash, count)]++] = hash;
  auto begin = hashes.begin();
  for (std::uint32_t bucket = 0; bucket < count; ++bucket) {
    const auto end = hashes.begin() + ends[bucket];
    if (end - begin > 1) std::sort(begin, end);
    begin = end;
  }
  return hashes;
}

std::string build_fuse(std::span<const std::uint64_t> given) {
  std::vector<std::uint64_t> hashes = sorted(given);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.empty()) return fuse_content(FuseShape(), {});

  FuseShape shape = shape_for(hashes.size());
  std::vector<Cell> cells;
  std::vector<Taken> taken;
  taken.reserve(hashes.size());
  // The first multiplier, one, keeps the hashes in rising order, so that the array is filled front to back. One attempt
  // in some tens to thousands fails, depending on the size. Every eighth attempt gets more space, so that the loop
  // ends.
  for (std::uint64_t attempt = 1; !peel(hashes, shape, cells, taken); ++attempt) {
    assert(attempt < 1024);
    shape.multiplier = (attempt * kOddConstant) | 1;
    if (attempt % 8 == 0) ++shape.starts;
  }
  return fuse_content(shape, taken);
}

bool fuse_may_contain(const char* array, const FusePlaces& places) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(array[places.at[i]]); };
  return (at(0) ^ at(1) ^ at(2)) == places.fingerprint;
}

Status wrong_shape() {
  return Status::corruption("the filter does not have the shape of its kind");
}

}  // namespace

Result<std::string> build_filter(FilterKind kind, std::span<const std::uint64_t> hashes, double bits_per_key) {
  if (hashes.size() > kFilterHashesMax) {
    return Status::too_large("a filter has " + std::to_string(hashes.size()) + " hashes; at most " +
                             std::to_string(kFilterHashesMax) + " are allowed");
  }
  switch (kind) {
    case FilterKind::kBlockedBloom:
      // The condition is negated so that NaN fails too.
      if (!(bits_per_key >= kBloomBitsPerKeyMin && bits_per_key <= kBloomBitsPerKeyMax)) {
        return Status::invalid_argument("a Bloom filter must have 1 to 32 bits a key");
      }
      return build_bloom(hashes, bits_per_key);
    case FilterKind::kBinaryFuse: return build_fuse(hashes);
  }
  return Status::invalid_argument("filter kind " + std::to_string(static_cast<unsigned>(kind)) + " does not exist");
}

Result<FilterView> FilterView::parse(std::string_view content) {
  if (content.empty()) return wrong_shape();
  const auto kind = static_cast<FilterKind>(content[0]);
  switch (kind) {
    case FilterKind::kBlockedBloom: return parse_bloom(content);
    case FilterKind::kBinaryFuse: return parse_fuse(content);
  }
  return Status::unsupported("filter kind " + std::to_string(static_cast<unsigned>(kind)) +
                             " is not known to this build");
}

Result<FilterView> FilterView::parse_bloom(std::string_view content) {
  if (content.size() < kBloomHeaderBytes) return wrong_shape();
  FilterView view;
  view.kind_ = FilterKind::kBlockedBloom;
  view.shape_ = static_cast<std::uint8_t>(content[1]);
  view.places_ = load_u32(content.data() + 2);
  view.bytes_ = content.data() + kBloomHeaderBytes;
  if (view.shape_ == 0 || view.shape_ > kProbesMax) return wrong_shape();
  if (content.size() - kBloomHeaderBytes != view.places_ * kBloomBlockBytes) return wrong_shape();
  return view;
}

Result<FilterView> FilterView::parse_fuse(std::string_view content) {
  if (content.size() < kFuseHeaderBytes) return wrong_shape();
  const std::uint32_t log = static_cast<std::uint8_t>(content[1]);
  const std::uint64_t starts = load_u32(content.data() + 10);
  if (log > kSegmentLengthLogMax) return wrong_shape();
  const std::uint64_t array_length = starts == 0 ? 0 : (starts + kArity - 1) << log;
  if (array_length > 0xFFFFFFFF || content.size() - kFuseHeaderBytes != array_length) return wrong_shape();
  FilterView view;
  view.kind_ = FilterKind::kBinaryFuse;
  view.shape_ = 1U << log;
  view.places_ = static_cast<std::uint32_t>(starts << log);
  view.multiplier_ = load_u64(content.data() + 2);
  view.bytes_ = content.data() + kFuseHeaderBytes;
  if (view.multiplier_ % 2 == 0) return wrong_shape();
  return view;
}

bool FilterView::may_contain(std::uint64_t hash) const noexcept {
  if (places_ == 0) return false;
  if (kind_ == FilterKind::kBlockedBloom) return bloom_may_contain(bytes_, places_, shape_, hash);
  return fuse_may_contain(bytes_, places_of(hash, shape_, places_, multiplier_));
}

}  // namespace varve::format
