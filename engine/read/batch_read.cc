// Owns: what of many keys lies in memtables and what is searched for in tables (batch_read.h).
// Must never: search for what a memtable has.
#include "engine/read/batch_read.h"

#include <deque>
#include <new>
#include <utility>

#include "engine/read/searches.h"

namespace varve::engine {

namespace {

struct PlacedSearch {
  PlacedSearch(std::size_t its_place, const Levels& levels, std::string_view sort_key, CommitVersion at_most,
               ReadCost* cost)
      : place(its_place), search(levels, sort_key, at_most, cost) {}

  std::size_t place;  // among the keys
  Search search;
};

Result<std::vector<std::optional<FoundEntry>>> read_side_by_side(const ReadState& state, Searches& searches,
                                                                 std::span<const std::string_view> sort_keys,
                                                                 CommitVersion at_most, ReadCost* cost) {
  std::vector<std::optional<FoundEntry>> found(sort_keys.size());
  std::deque<PlacedSearch> placed;
  for (std::size_t place = 0; place < sort_keys.size(); ++place) {
    found[place] = read_memtables(state, sort_keys[place], at_most);
    if (!found[place]) placed.emplace_back(place, *state.tables, sort_keys[place], at_most, cost);
  }
  for (PlacedSearch& one : placed) searches.begin(one.search);
  searches.finish();
  for (PlacedSearch& one : placed) {
    Result<std::optional<FoundEntry>> entry = one.search.take();
    if (!entry.ok()) return entry.status();
    found[one.place] = *std::move(entry);
  }
  return found;
}

}  // namespace

Result<std::vector<std::optional<FoundEntry>>> read_points(const ReadState& state, BlockReader& blocks,
                                                           ReadQueues& queues,
                                                           std::span<const std::string_view> sort_keys,
                                                           CommitVersion at_most, ReadCost* cost) {
  try {
    Searches searches(queues.scheduler(), blocks, queues);
    return read_side_by_side(state, searches, sort_keys, at_most, cost);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve::engine
