// Owns: the reading of index entries for a scan (index_scan.h).
// Must never: return a key outside the ranges of the scan.
#include "api/read/index_scan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/filter/index_plan.h"
#include "engine/read/cursor.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// The clock and the stop token are asked before each range, and once in this many entries.
constexpr std::size_t kEntriesBetween = 16;
/// The entries of at most this many ranges are merged. Each has a cursor, which holds blocks.
constexpr std::size_t kMergedRangesMax = 64;

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

/// The entities to which entries lead, in order.
struct FoundKeys {
  std::vector<FoundKey> keys{};
  /// The key of the entity of the first entry that was not read. Nothing if every entry was read.
  std::optional<std::string> next{};
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

/// Returns the first range of the scan that begins after the key. The ranges are in order and disjoint.
std::span<const KeyRange>::iterator first_range_after(const IndexedScan& scan, std::string_view key) {
  return std::upper_bound(scan.ranges.begin(), scan.ranges.end(), key,
                          [](std::string_view sought, const KeyRange& range) { return sought < range.lower; });
}

}  // namespace

bool holds_key(const IndexedScan& scan, std::string_view key) {
  if (key < scan.within.lower || key >= scan.within.upper) return false;
  const auto after = first_range_after(scan, key);
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
std::vector<PlannedIndex> planned_indexes(const IndexedScan& scan, const IndexesAsked& asked) {
  std::vector<PlannedIndex> planned;
  for (const TableIndex& index : scan.indexes.all) {
    if (index.state != IndexState::kReady) continue;
    if (asked.only.value_or(index.id) != index.id) continue;
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

/// Takes the entities of entries, and asks whether to go on.
class Collector {
 public:
  Collector(const IndexedScan& scan, const PlannedIndex& index, IndexReading& reading)
      : scan_(scan), index_(index), reading_(reading) {}

  engine::Cursor cursor_over(const KeyRange& range) const {
    engine::Cursor cursor = scan_.table.view.cursor(range.lower, range.upper, &reading_.cost);
    if (!index_.cover || !index_.cover->uses_values()) cursor.leave_values();
    return cursor;
  }
  /// Returns whether there is time to read more. Errors: kCancelled.
  Result<bool> has_time() const {
    if (reading_.stop.stop_requested()) return Status(Code::kCancelled);
    return reading_.clock.monotonic() < reading_.deadline;
  }
  /// Calls has_time() once in some entries.
  Result<bool> has_time_for_entry() { return ++entries_ % kEntriesBetween == 0 ? has_time() : true; }
  /// Returns whether this many entries were read.
  bool is_full(std::size_t entries_max) const noexcept { return entries_ >= entries_max; }
  /// Takes the entity of the cursor's entry, which a range of the scan holds.
  Status take(std::string key, const engine::Cursor& entry) {
    FoundKey& found = found_.keys.emplace_back(FoundKey{std::move(key)});
    if (!index_.cover || known_bytes_ >= kKnownBytesMax) return Status();
    Result<std::optional<KnownEntity>> known = index_.cover->entity_of(entry.key(), entry.value());
    if (!known.ok()) return known.status();
    found.known = *std::move(known);
    if (found.known) known_bytes_ += found.known->properties.size();
    return Status();
  }
  FoundKeys& found() noexcept { return found_; }

 private:
  const IndexedScan& scan_;
  const PlannedIndex& index_;
  IndexReading& reading_;
  FoundKeys found_;
  std::size_t entries_ = 0;
  std::size_t known_bytes_ = 0;
};

/// Reads the entries in the plan's ranges. Returns nothing if there are too many, or if the time is over.
Result<std::optional<FoundKeys>> collect_keys(const IndexedScan& scan, const PlannedIndex& index,
                                              IndexReading& reading) {
  Collector collector(scan, index, reading);
  for (const KeyRange& planned : index.plan.ranges) {
    Result<bool> goes_on = collector.has_time();
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) return std::optional<FoundKeys>();
    engine::Cursor cursor = collector.cursor_over(narrowed(scan, index, planned));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      if (collector.is_full(kIndexEntriesMax)) return std::optional<FoundKeys>();
      goes_on = collector.has_time_for_entry();
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return std::optional<FoundKeys>();
      Result<std::string> key = format::entity_key_of(cursor.key(), scan.table.id);
      if (!key.ok()) return key.status();
      if (!holds_key(scan, *key)) continue;
      if (Status taken = collector.take(*std::move(key), cursor); !taken.ok()) return taken;
    }
    if (!cursor.status().ok()) return cursor.status();
  }
  std::vector<FoundKey>& keys = collector.found().keys;
  std::sort(keys.begin(), keys.end(), [](const FoundKey& a, const FoundKey& b) { return a.key < b.key; });
  const auto is_same = [](const FoundKey& a, const FoundKey& b) { return a.key == b.key; };
  keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
  return std::optional(std::move(collector.found()));
}

/// A range of an index whose entries are in the order of the entities' keys, and its present entry.
class OrderedSource {
 public:
  /// `prefix` is what the keys of the entries begin with, before the entity's key.
  OrderedSource(const IndexedScan& scan, std::string prefix, engine::Cursor cursor, bool backward)
      : scan_(&scan), prefix_(std::move(prefix)), cursor_(std::move(cursor)), backward_(backward) {}

  Status begin() {
    backward_ ? cursor_.seek_to_last() : cursor_.seek_to_first();
    return load();
  }
  Status next() {
    backward_ ? cursor_.previous() : cursor_.next();
    return load();
  }
  /// Moves to the next range of the scan, since none holds the present entity.
  Status pass() {
    const auto after = first_range_after(*scan_, key_);
    is_over_ = after == (backward_ ? scan_->ranges.begin() : scan_->ranges.end());
    if (is_over_) return Status();
    if (backward_) {
      cursor_.seek_before(format::index_bound(prefix_, std::prev(after)->upper));
    } else {
      cursor_.seek(format::index_bound(prefix_, after->lower));
    }
    return load();
  }
  bool is_valid() const noexcept { return !is_over_ && cursor_.valid(); }
  /// Returns the key of the entity.
  const std::string& key() const noexcept { return key_; }
  const engine::Cursor& entry() const noexcept { return cursor_; }

 private:
  Status load() {
    if (!cursor_.valid()) return cursor_.status();
    Result<std::string> key = format::entity_key_of(cursor_.key(), scan_->table.id);
    if (!key.ok()) return key.status();
    key_ = *std::move(key);
    return Status();
  }

  const IndexedScan* scan_;
  std::string prefix_;
  engine::Cursor cursor_;
  std::string key_;
  bool backward_;
  bool is_over_ = false;
};

/// The entries of several such ranges, merged.
class OrderedEntries {
 public:
  explicit OrderedEntries(bool backward) : comes_later_{backward} {}

  Status add(std::unique_ptr<OrderedSource> source) {
    if (Status begun = source->begin(); !begun.ok()) return begun;
    if (!source->is_valid()) return Status();  // A cursor holds blocks, and most types have no entry.
    sources_.push_back(std::move(source));
    std::push_heap(sources_.begin(), sources_.end(), comes_later_);
    return Status();
  }
  bool is_valid() const noexcept { return !sources_.empty(); }
  const OrderedSource& nearest() const noexcept { return *sources_.front(); }
  /// Moves the nearest source to its next entry. Or, if `passes` is true, to the next range of the scan.
  Status move(bool passes) {
    std::pop_heap(sources_.begin(), sources_.end(), comes_later_);
    OrderedSource& source = *sources_.back();
    if (Status moved = passes ? source.pass() : source.next(); !moved.ok()) return moved;
    if (source.is_valid()) {
      std::push_heap(sources_.begin(), sources_.end(), comes_later_);
    } else {
      sources_.pop_back();
    }
    return Status();
  }

 private:
  struct ComesLater {
    bool backward;
    bool operator()(const std::unique_ptr<OrderedSource>& a, const std::unique_ptr<OrderedSource>& b) const noexcept {
      return backward ? a->key() < b->key() : b->key() < a->key();
    }
  };

  const ComesLater comes_later_;
  std::vector<std::unique_ptr<OrderedSource>> sources_;  // a heap
};

/// Reads the first entries in the order of the entities' keys, by the deadline. Returns nothing if it finds none by then.
Result<std::optional<FoundKeys>> collect_first_keys(const IndexedScan& scan, const PlannedIndex& index,
                                                    const PartOfScan& part, IndexReading& reading) {
  Collector collector(scan, index, reading);
  OrderedEntries entries(part.backward);
  for (const KeyRange& planned : index.plan.ranges) {
    const Result<bool> goes_on = collector.has_time();
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) return std::optional<FoundKeys>();
    auto source = std::make_unique<OrderedSource>(scan, planned.lower,
                                                  collector.cursor_over(narrowed(scan, index, planned)), part.backward);
    if (Status added = entries.add(std::move(source)); !added.ok()) return added;
  }
  FoundKeys& found = collector.found();
  while (entries.is_valid()) {
    const std::string& key = entries.nearest().key();
    if (collector.is_full(part.entries)) {
      found.next = key;
      break;
    }
    const Result<bool> goes_on = collector.has_time_for_entry();
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) {
      if (found.keys.empty()) return std::optional<FoundKeys>();
      found.next.emplace(key);
      break;
    }
    const bool is_held = holds_key(scan, key);
    if (is_held) {
      if (Status taken = collector.take(key, entries.nearest().entry()); !taken.ok()) return taken;
    }
    if (Status moved = entries.move(!is_held); !moved.ok()) return moved;
  }
  if (part.backward) std::reverse(found.keys.begin(), found.keys.end());
  return std::optional(std::move(found));
}

/// Returns whether the first entities of the scan can be read before the others, by the index.
bool gives_parts(const PlannedIndex& index) noexcept {
  return index.has_each_value && index.plan.ranges.size() <= kMergedRangesMax;
}

void take_points(FoundKeys&& found, const PlannedIndex& index, IndexOffer& offer) {
  std::vector<KeyRange>& points = offer.points.emplace();
  points.reserve(found.keys.size());
  for (FoundKey& each : found.keys) {
    points.push_back({std::move(each.key), {}, true});
    if (index.cover) offer.known.push_back(std::move(each.known));
  }
  if (found.next) offer.rest = IndexOffer::Rest{*std::move(found.next), index.index->id};
}

}  // namespace

bool is_index_of_use(std::span<const KeyRange> ranges) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [](const KeyRange& range) { return !range.is_point; });
}

Result<IndexOffer> offer_of_indexes(const IndexedScan& scan, IndexReading& reading, const IndexesAsked& asked) {
  IndexOffer offer;
  const std::vector<PlannedIndex> planned = planned_indexes(scan, asked);
  std::optional<FoundKeys> part;  // of the first index that gives some, if no index gives all
  std::size_t part_of = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const PlannedIndex& index = planned[i];
    if (index.plan.equal_components < asked.equal_components_min) break;  // So have all that follow.
    IndexCandidate candidate{index.index->name, index.plan.equal_components, index.plan.has_range};
    candidate.answers_counts = cover_of(scan, *index.index, scan.counted).has_value();
    candidate.answers_pages = index.cover.has_value();
    const bool gives_part = asked.part && gives_parts(index);
    // Another index may lead to fewer entities than the part that is enough.
    const bool is_alone = planned.size() == 1 && !asked.all;
    Result<std::optional<FoundKeys>> found =
        gives_part
            ? collect_first_keys(scan, index, {asked.part->backward, is_alone ? asked.part->entries : kIndexEntriesMax},
                                 reading)
            : collect_keys(scan, index, reading);
    if (!found.ok()) return found.status();
    const bool has_all = *found && !(*found)->next;
    if (has_all) candidate.entities = (*found)->keys.size();
    candidate.is_taken = has_all && !offer.points;
    offer.candidates.push_back(std::move(candidate));
    if (*found && !has_all && !part) {
      part = std::move(*found);
      part_of = i;
    }
    if (!has_all || offer.points) continue;
    take_points(*std::move(*found), index, offer);
    if (!asked.all) return offer;
  }
  if (part && !offer.points) {
    offer.candidates[part_of].is_taken = true;
    take_points(*std::move(part), planned[part_of], offer);
  }
  return offer;
}

}  // namespace varve
