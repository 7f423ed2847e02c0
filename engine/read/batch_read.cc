// Owns: dividing many keys between memtables and the search in tables (batch_read.h).
// Must never: search tables for an entry that a memtable has.
#include "engine/read/batch_read.h"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <utility>

#include "engine/read/searches.h"

namespace varve::engine {

namespace {

/// Number of keys whose memtable places are prefetched ahead of the present key.
constexpr std::size_t kPrefetchedAhead = 4;

struct PlacedSearch {
  PlacedSearch(std::size_t its_place, const Levels& levels, const LookupKey& key, const PointsWanted& wanted,
               KnownBlocks& known) noexcept
      : place(its_place), search(levels, key, wanted.part, wanted.cost, &known, wanted.room) {}

  std::size_t place;  // among the keys
  Search search;
};

/// Returns the indexes of the keys in key order, because neighbouring keys are in the same block.
std::vector<std::size_t> places_by_key(std::span<const std::string_view> sort_keys) {
  std::vector<std::size_t> places(sort_keys.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (!std::is_sorted(sort_keys.begin(), sort_keys.end())) {
    std::sort(places.begin(), places.end(),
              [&](std::size_t left, std::size_t right) { return sort_keys[left] < sort_keys[right]; });
  }
  return places;
}

/// Hashes each key once, for all memtables and tables.
std::vector<LookupKey> hashed(std::span<const std::string_view> sort_keys, std::span<const std::size_t> places,
                              CommitVersion at_most) {
  std::vector<LookupKey> keys;
  keys.reserve(places.size());
  for (const std::size_t place : places) {
    keys.push_back({sort_keys[place], Memtable::hash_of(sort_keys[place]), at_most});
  }
  return keys;
}

/// Lets a few searches at a time end in the cache, and begins those that need the disk.
void begin_all(std::vector<PlacedSearch>& placed, BlockReader& blocks, Searches& searches) noexcept {
  std::array<Search*, Search::kTogetherMax> together{};
  for (std::size_t first = 0; first < placed.size(); first += together.size()) {
    const std::size_t count = std::min(together.size(), placed.size() - first);
    for (std::size_t i = 0; i < count; ++i) together[i] = &placed[first + i].search;
    const std::uint32_t ended = Search::try_together(std::span(together.data(), count), blocks);
    for (std::size_t i = 0; i < count; ++i) {
      if ((ended >> i & 1) == 0) searches.begin(*together[i]);
    }
  }
}

Result<std::vector<std::optional<FoundEntry>>> read_side_by_side(const ReadState& state, BlockReader& blocks,
                                                                 Searches& searches, const PointsWanted& wanted) {
  const std::span<const std::string_view> sort_keys = wanted.sort_keys;
  std::vector<std::optional<FoundEntry>> found(sort_keys.size());
  KnownBlocks known;
  std::vector<PlacedSearch> placed;
  const std::vector<std::size_t> places = places_by_key(sort_keys);
  const std::vector<LookupKey> keys = hashed(sort_keys, places, wanted.at_most);
  // New keys of one partition often lie between all tables, or after them.
  const bool may_be_in_tables =
      !keys.empty() && state.tables->has_overlapping({keys.front().sort_key, keys.back().sort_key});
  if (may_be_in_tables) placed.reserve(keys.size());  // A search that has begun must not move.
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i + kPrefetchedAhead < places.size()) prefetch_memtables(state, keys[i + kPrefetchedAhead].hash);
    const std::size_t place = places[i];
    found[place] = read_memtables(state, keys[i]);
    if (!found[place] && may_be_in_tables) placed.emplace_back(place, *state.tables, keys[i], wanted, known);
  }
  begin_all(placed, blocks, searches);
  searches.finish();
  Status failure;
  std::size_t failed_place = sort_keys.size();
  for (PlacedSearch& one : placed) {
    Result<std::optional<FoundEntry>> entry = one.search.take();
    if (entry.ok()) {
      found[one.place] = std::move(*entry);
    } else if (one.place < failed_place) {
      failed_place = one.place;
      failure = entry.status();
    }
  }
  if (!failure.ok()) return failure;
  return found;
}

}  // namespace

Result<std::vector<std::optional<FoundEntry>>> read_points(const ReadState& state, BlockReader& blocks,
                                                           ReadQueues& queues, const PointsWanted& wanted) {
  try {
    Searches searches(queues.scheduler(), blocks, queues);
    return read_side_by_side(state, blocks, searches, wanted);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve::engine
