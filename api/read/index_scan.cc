// Owns: the reading of index entries for a scan (index_scan.h).
// Must never: return a key outside the ranges of the scan.
#include "api/read/index_scan.h"

#include <algorithm>
#include <utility>

#include "api/filter/index_plan.h"
#include "engine/read/cursor.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// The clock and the stop token are asked before each range, and once in this many entries.
constexpr std::size_t kEntriesBetween = 16;

struct PlannedIndex {
  const TableIndex* index;
  IndexPlan plan;
  /// Whether the filter gives each component one value. Then the entries of each range are in the order of the entities' keys.
  bool has_each_value;
  /// Nothing if the entities must be read.
  std::optional<IndexCover> cover{};
};

/// An entity to which an index leads.
struct FoundKey {
  std::string key;
  std::optional<KnownEntity> known{};
};

/// Returns the part of the index's range that leads to the scan's range of keys, if its entries are in their order. So the
/// next page does not read what an earlier one has read.
KeyRange narrowed(const IndexedScan& scan, const PlannedIndex& index, KeyRange range) {
  const bool begins_with_table = scan.within.lower.size() == format::kTableIdBytes;
  const bool ends_with_table = scan.within.upper.size() == format::kTableIdBytes;
  if (!index.has_each_value || (begins_with_table && ends_with_table)) return range;
  const std::string table = format::encode_table(scan.table.id);
  const std::string prefix = range.lower;
  if (scan.within.lower.starts_with(table)) range.lower = format::index_bound(prefix, scan.within.lower);
  if (scan.within.upper.starts_with(table)) range.upper = format::index_bound(prefix, scan.within.upper);
  return range;
}

}  // namespace

// The ranges are in order and disjoint.
bool holds_key(const IndexedScan& scan, std::string_view key) {
  if (key < scan.within.lower || key >= scan.within.upper) return false;
  const auto after =
      std::upper_bound(scan.ranges.begin(), scan.ranges.end(), key,
                       [](std::string_view sought, const KeyRange& range) { return sought < range.lower; });
  if (after == scan.ranges.begin()) return false;
  const KeyRange& range = *std::prev(after);
  return range.is_point ? range.lower == key : key < range.upper;
}

namespace {

std::optional<IndexCover> cover_of(const IndexedScan& scan, const TableIndex& index, const PropertyNames* names) {
  if (names == nullptr) return std::nullopt;
  return IndexCover::of(index.definition, *names, has_large_values(scan.table.id));
}

/// Returns the ready indexes that can serve the filter: those with most equal components first, then those whose
/// range has most bounds, then those that have all that the scan uses.
std::vector<PlannedIndex> planned_indexes(const IndexedScan& scan) {
  std::vector<PlannedIndex> planned;
  for (const TableIndex& index : scan.indexes.all) {
    if (index.state != IndexState::kReady) continue;
    std::optional<IndexPlan> plan =
        plan_index(scan.filter, index.id, index.definition, has_large_values(scan.table.id));
    if (!plan) continue;
    const bool has_each_value = plan->equal_components == index.definition.components.size();
    PlannedIndex& each = planned.emplace_back(PlannedIndex{&index, *std::move(plan), has_each_value});
    each.cover = cover_of(scan, index, scan.used);
  }
  if (planned.size() < 2) return planned;  // A sort allocates.
  std::stable_sort(planned.begin(), planned.end(), [](const PlannedIndex& left, const PlannedIndex& right) {
    if (left.plan.equal_components != right.plan.equal_components)
      return left.plan.equal_components > right.plan.equal_components;
    if (left.plan.has_two_bounds != right.plan.has_two_bounds) return left.plan.has_two_bounds;
    if (left.plan.has_range != right.plan.has_range) return left.plan.has_range;
    return left.cover.has_value() && !right.cover.has_value();
  });
  return planned;
}

/// Reads the entries in the plan's ranges. Returns nothing if there are too many, or if the time is over.
Result<std::optional<std::vector<FoundKey>>> collect_keys(const IndexedScan& scan, const PlannedIndex& index,
                                                          IndexReading& reading) {
  std::vector<FoundKey> keys;
  std::size_t entries = 0;
  std::size_t known_bytes = 0;
  for (const KeyRange& planned : index.plan.ranges) {
    if (reading.stop.stop_requested()) return Status(Code::kCancelled);
    if (reading.clock.monotonic() >= reading.deadline) return std::optional<std::vector<FoundKey>>();
    const KeyRange range = narrowed(scan, index, planned);
    engine::Cursor cursor = scan.table.view.cursor(range.lower, range.upper, &reading.cost);
    if (!index.cover || !index.cover->uses_values()) cursor.leave_values();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      if (++entries > kIndexEntriesMax) return std::optional<std::vector<FoundKey>>();
      if (entries % kEntriesBetween == 0) {
        if (reading.stop.stop_requested()) return Status(Code::kCancelled);
        if (reading.clock.monotonic() >= reading.deadline) return std::optional<std::vector<FoundKey>>();
      }
      Result<std::string> key = format::entity_key_of(cursor.key(), scan.table.id);
      if (!key.ok()) return key.status();
      if (!holds_key(scan, *key)) continue;
      FoundKey& found = keys.emplace_back(FoundKey{*std::move(key)});
      if (!index.cover || known_bytes >= kKnownBytesMax) continue;
      Result<std::optional<KnownEntity>> known = index.cover->entity_of(cursor.key(), cursor.value());
      if (!known.ok()) return known.status();
      found.known = *std::move(known);
      if (found.known) known_bytes += found.known->properties.size();
    }
    if (!cursor.status().ok()) return cursor.status();
  }
  std::sort(keys.begin(), keys.end(), [](const FoundKey& a, const FoundKey& b) { return a.key < b.key; });
  const auto is_same = [](const FoundKey& a, const FoundKey& b) { return a.key == b.key; };
  keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
  return std::optional(std::move(keys));
}

}  // namespace

bool is_index_of_use(std::span<const KeyRange> ranges) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [](const KeyRange& range) { return !range.is_point; });
}

Result<IndexOffer> offer_of_indexes(const IndexedScan& scan, IndexReading& reading, const IndexesAsked& asked) {
  IndexOffer offer;
  for (const PlannedIndex& index : planned_indexes(scan)) {
    if (index.plan.equal_components < asked.equal_components_min) break;  // So have all that follow.
    IndexCandidate candidate{index.index->name, index.plan.equal_components, index.plan.has_range};
    candidate.answers_counts = cover_of(scan, *index.index, scan.counted).has_value();
    candidate.answers_pages = index.cover.has_value();
    Result<std::optional<std::vector<FoundKey>>> keys = collect_keys(scan, index, reading);
    if (!keys.ok()) return keys.status();
    if (*keys) candidate.entities = (*keys)->size();
    candidate.is_taken = *keys && !offer.points;
    offer.candidates.push_back(std::move(candidate));
    if (!*keys || offer.points) continue;
    std::vector<KeyRange>& points = offer.points.emplace();
    points.reserve((*keys)->size());
    for (FoundKey& found : **keys) {
      points.push_back({std::move(found.key), {}, true});
      if (index.cover) offer.known.push_back(std::move(found.known));
    }
    if (!asked.all) return offer;
  }
  return offer;
}

}  // namespace varve
