// Owns: the reading of index entries for a scan (index_scan.h).
// Must never: return a key outside the ranges of the scan.
#include "api/read/index_scan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "api/filter/index_plan.h"
#include "engine/read/cursor.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

/// While no index has ended or gives a part, each reads up to this many times the entries that it has read.
constexpr std::size_t kBudgetGrowth = 4;
/// The clock and the stop token are asked before each range, and once in this many entries.
constexpr std::size_t kEntriesBetween = 16;
/// The entries of at most this many ranges are merged. Each has a cursor, which holds blocks.
constexpr std::size_t kMergedRangesMax = 64;

class IndexWalk;

struct PlannedIndex {
  const TableIndex* index;
  IndexPlan plan;
  /// Whether the filter gives each component one value. Then the entries of each range are in the order of the entities' keys.
  bool has_each_value;
  /// Nothing if the entities must be read.
  std::optional<IndexCover> cover{};
  /// Null if the index is not asked.
  std::unique_ptr<IndexWalk> walk{};
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
/// next page does not read what an earlier one has read. Returns nothing if the whole range may lead there.
std::optional<KeyRange> narrowed(const IndexedScan& scan, const PlannedIndex& index, const KeyRange& range) {
  const bool begins_with_table = scan.within.lower.size() == format::kTableIdBytes;
  const bool ends_with_table = scan.within.upper.size() == format::kTableIdBytes;
  if (!index.has_each_value || (begins_with_table && ends_with_table)) return std::nullopt;
  const std::string table = format::encode_table(scan.table.id);
  KeyRange part = range;
  if (scan.within.lower.starts_with(table)) part.lower = format::index_bound(range.lower, scan.within.lower);
  if (scan.within.upper.starts_with(table)) part.upper = format::index_bound(range.lower, scan.within.upper);
  return part;
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

/// Why a reading of entries stopped.
enum class Reached : std::uint8_t { kEnd, kBudget, kTime };

/// Reads the entries of an index, budget by budget, and takes their entities.
class IndexWalk {
 public:
  IndexWalk(const IndexedScan& scan, const PlannedIndex& index, IndexReading& reading)
      : scan_(scan), index_(index), reading_(reading) {}
  virtual ~IndexWalk() = default;
  IndexWalk(const IndexWalk&) = delete;
  IndexWalk& operator=(const IndexWalk&) = delete;

  /// Reads on until it has read so many entries in all. Errors: kCancelled, those of reading.
  Status read(std::size_t entries_max) {
    if (reached_ != Reached::kBudget) return Status();
    const Result<Reached> reached = go_on(entries_max);
    if (!reached.ok()) return reached.status();
    reached_ = *reached;
    return Status();
  }
  bool has_ended() const noexcept { return reached_ == Reached::kEnd; }
  /// Returns whether the entities so far are the first ones of the scan. Then they may be a part of it.
  virtual bool has_part() const noexcept { return false; }
  /// Returns the entities of all entries that were read, in order.
  virtual FoundKeys take() = 0;

  engine::Cursor cursor_over(const KeyRange& range) const {
    const std::optional<KeyRange> part = narrowed(scan_, index_, range);
    const KeyRange& read = part ? *part : range;
    engine::Cursor cursor = scan_.table.view.cursor(read.lower, read.upper, &reading_.cost);
    if (!index_.cover || !index_.cover->uses_values()) cursor.leave_values();
    return cursor;
  }

 protected:
  virtual Result<Reached> go_on(std::size_t entries_max) = 0;
  Reached reached() const noexcept { return reached_; }

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
  Status take_entry(std::string key, const engine::Cursor& entry) {
    FoundKey& found = found_.keys.emplace_back(FoundKey{std::move(key)});
    if (!index_.cover || known_bytes_ >= kKnownBytesMax) return Status();
    Result<std::optional<KnownEntity>> known = index_.cover->entity_of(entry.key(), entry.value());
    if (!known.ok()) return known.status();
    found.known = *std::move(known);
    if (found.known) known_bytes_ += found.known->properties.size();
    return Status();
  }

  const IndexedScan& scan_;
  const PlannedIndex& index_;
  IndexReading& reading_;
  FoundKeys found_;

 private:
  std::size_t entries_ = 0;
  std::size_t known_bytes_ = 0;
  Reached reached_ = Reached::kBudget;
};

/// Reads the plan's ranges one after the other.
class CollectingWalk final : public IndexWalk {
 public:
  using IndexWalk::IndexWalk;

  FoundKeys take() override {
    std::vector<FoundKey>& keys = found_.keys;
    std::sort(keys.begin(), keys.end(), [](const FoundKey& a, const FoundKey& b) { return a.key < b.key; });
    const auto is_same = [](const FoundKey& a, const FoundKey& b) { return a.key == b.key; };
    keys.erase(std::unique(keys.begin(), keys.end(), is_same), keys.end());
    return std::move(found_);
  }

 private:
  Result<Reached> go_on(std::size_t entries_max) override {
    for (; next_range_ < index_.plan.ranges.size(); ++next_range_) {
      if (!cursor_) {
        const Result<bool> goes_on = has_time();
        if (!goes_on.ok()) return goes_on.status();
        if (!*goes_on) return Reached::kTime;
        cursor_.emplace(cursor_over(index_.plan.ranges[next_range_]));
        cursor_->seek_to_first();
      }
      for (; cursor_->valid(); cursor_->next()) {
        if (is_full(entries_max)) return Reached::kBudget;
        const Result<bool> goes_on = has_time_for_entry();
        if (!goes_on.ok()) return goes_on.status();
        if (!*goes_on) return Reached::kTime;
        Result<std::string> key = format::entity_key_of(cursor_->key(), scan_.table.id);
        if (!key.ok()) return key.status();
        if (!holds_key(scan_, *key)) continue;
        if (Status taken = take_entry(*std::move(key), *cursor_); !taken.ok()) return taken;
      }
      if (!cursor_->status().ok()) return cursor_->status();
      cursor_.reset();
    }
    return Reached::kEnd;
  }

  std::size_t next_range_ = 0;
  std::optional<engine::Cursor> cursor_;  // over that range, if it was begun
};

/// A range of an index whose entries are in the order of the entities' keys, and its present entry.
class OrderedSource {
 public:
  /// The keys of the range's entries begin with its lower bound, before the entity's key. It outlives the object.
  OrderedSource(const IndexedScan& scan, const IndexWalk& walk, const KeyRange& range, bool backward)
      : scan_(&scan), prefix_(range.lower), cursor_(walk.cursor_over(range)), backward_(backward) {}

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
  /// Returns the key once, before next().
  std::string take_key() noexcept { return std::move(key_); }
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
  std::string_view prefix_;
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
  /// Takes the nearest source out of the order, until put_back(). The caller may take its key.
  OrderedSource& take_out() {
    std::pop_heap(sources_.begin(), sources_.end(), comes_later_);
    return *sources_.back();
  }
  /// Moves that source to its next entry. Or, if `passes` is true, to the next range of the scan.
  Status put_back(bool passes) {
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

/// Merges the plan's ranges, whose entries are in the order of the entities' keys.
class MergingWalk final : public IndexWalk {
 public:
  MergingWalk(const IndexedScan& scan, const PlannedIndex& index, bool backward, IndexReading& reading)
      : IndexWalk(scan, index, reading), backward_(backward), entries_(backward) {}

  /// Without a key, only a reading that has used its budget says where the next part begins.
  bool has_part() const noexcept override { return reached() == Reached::kBudget || !found_.keys.empty(); }
  FoundKeys take() override {
    if (entries_.is_valid()) found_.next.emplace(entries_.nearest().key());
    if (backward_) std::reverse(found_.keys.begin(), found_.keys.end());
    return std::move(found_);
  }

 private:
  Result<Reached> go_on(std::size_t entries_max) override {
    for (; next_range_ < index_.plan.ranges.size(); ++next_range_) {
      const Result<bool> goes_on = has_time();
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return Reached::kTime;
      const KeyRange& range = index_.plan.ranges[next_range_];
      auto source = std::make_unique<OrderedSource>(scan_, *this, range, backward_);
      if (Status added = entries_.add(std::move(source)); !added.ok()) return added;
    }
    while (entries_.is_valid()) {
      if (is_full(entries_max)) return Reached::kBudget;
      const Result<bool> goes_on = has_time_for_entry();
      if (!goes_on.ok()) return goes_on.status();
      if (!*goes_on) return Reached::kTime;
      OrderedSource& source = entries_.take_out();
      const bool is_held = holds_key(scan_, source.key());
      if (is_held) {
        if (Status taken = take_entry(source.take_key(), source.entry()); !taken.ok()) return taken;
      }
      if (Status moved = entries_.put_back(!is_held); !moved.ok()) return moved;
    }
    return Reached::kEnd;
  }

  const bool backward_;
  std::size_t next_range_ = 0;  // to be added to the entries
  OrderedEntries entries_;
};

bool is_asked(const TableIndex& index, const IndexesAsked& asked) noexcept {
  if (index.state != IndexState::kReady) return false;
  return asked.only.value_or(index.id) == index.id;
}

/// Returns nothing if the index cannot serve the filter.
std::optional<PlannedIndex> planned_index(const IndexedScan& scan, const TableIndex& index) {
  std::optional<PlannedIndex> planned;
  std::optional<IndexPlan> plan = plan_index(scan.filter, index.id, index.definition, has_large_values(scan.table.id));
  if (!plan) return planned;
  const bool has_each_value = plan->equal_components == index.definition.components.size();
  planned.emplace(PlannedIndex{&index, *std::move(plan), has_each_value, cover_of(scan, index, scan.used)});
  return planned;
}

/// Returns the indexes that can serve the filter: those with most equal components first, then those whose range has most
/// bounds, then those that have all that the scan uses.
std::vector<PlannedIndex> planned_indexes(const IndexedScan& scan, const IndexesAsked& asked) {
  std::vector<PlannedIndex> planned;
  for (const TableIndex& index : scan.indexes.all) {
    if (!is_asked(index, asked)) continue;
    if (std::optional<PlannedIndex> each = planned_index(scan, index)) planned.push_back(*std::move(each));
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

bool merges_ranges(const PlannedIndex& index, const IndexesAsked& asked) noexcept {
  return asked.part && index.has_each_value && index.plan.ranges.size() <= kMergedRangesMax;
}

std::unique_ptr<IndexWalk> walk_of(const IndexedScan& scan, const PlannedIndex& index, const IndexesAsked& asked,
                                   IndexReading& reading) {
  if (merges_ranges(index, asked)) return std::make_unique<MergingWalk>(scan, index, asked.part->backward, reading);
  return std::make_unique<CollectingWalk>(scan, index, reading);
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

/// Returns the index to ask if there is one only.
const TableIndex* only_index(const IndexedScan& scan, const IndexesAsked& asked) noexcept {
  const TableIndex* only = nullptr;
  for (const TableIndex& index : scan.indexes.all) {
    if (!is_asked(index, asked)) continue;
    if (only != nullptr) return nullptr;
    only = &index;
  }
  return only;
}

/// Reads up to so many entries of an index that has no other one beside it.
Result<IndexOffer> offer_of_walk(IndexWalk& walk, const PlannedIndex& index, std::size_t entries_max) {
  if (Status read = walk.read(entries_max); !read.ok()) return read;
  Result<IndexOffer> offer = IndexOffer();
  if (walk.has_ended() || walk.has_part()) take_points(walk.take(), index, *offer);
  return offer;
}

/// Takes the only entry of the plan's range, or that it has none, if memory shows that. Returns whether it did.
Result<bool> take_held(const IndexedScan& scan, const PlannedIndex& index, IndexReading& reading, IndexOffer& offer) {
  if (index.plan.ranges.size() != 1) return false;
  if (reading.stop.stop_requested()) return Status(Code::kCancelled);
  const KeyRange& range = index.plan.ranges.front();
  const std::optional<KeyRange> part = narrowed(scan, index, range);
  const KeyRange& read = part ? *part : range;
  const Result<engine::HeldRange> held = scan.table.view.held_range(read.lower, read.upper, &reading.cost);
  if (!held.ok()) return held.status();
  if (held->has == engine::HeldRange::Has::kUnknown) return false;
  std::vector<KeyRange>& points = offer.points.emplace();
  if (held->has == engine::HeldRange::Has::kNothing) return true;
  Result<std::string> key = format::entity_key_of(held->sort_key, scan.table.id);
  if (!key.ok()) return key.status();
  if (!holds_key(scan, *key)) return true;
  points.push_back({*std::move(key), {}, true});
  if (!index.cover) return true;
  Result<std::optional<KnownEntity>> known = index.cover->entity_of(held->sort_key, held->value);
  if (!known.ok()) return known.status();
  offer.known.push_back(*std::move(known));
  return true;
}

/// Does offer_of_indexes() for one index, without the lists that several need.
Result<IndexOffer> offer_of_index(const IndexedScan& scan, const TableIndex& index, IndexReading& reading,
                                  const IndexesAsked& asked) {
  const std::optional<PlannedIndex> planned = planned_index(scan, index);
  if (!planned || planned->plan.equal_components < asked.equal_components_min) return IndexOffer();
  if (merges_ranges(*planned, asked)) {
    Result<IndexOffer> offer = IndexOffer();
    const Result<bool> is_held = take_held(scan, *planned, reading, *offer);
    if (!is_held.ok()) return is_held.status();
    if (*is_held) return offer;
    MergingWalk walk(scan, *planned, asked.part->backward, reading);
    return offer_of_walk(walk, *planned, std::min(asked.part->entries, asked.entries_max));
  }
  CollectingWalk walk(scan, *planned, reading);
  return offer_of_walk(walk, *planned, asked.entries_max);
}

}  // namespace

bool is_index_of_use(std::span<const KeyRange> ranges) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [](const KeyRange& range) { return !range.is_point; });
}

Result<IndexOffer> offer_of_indexes(const IndexedScan& scan, IndexReading& reading, const IndexesAsked& asked) {
  const TableIndex* const only = asked.all ? nullptr : only_index(scan, asked);
  if (only != nullptr) return offer_of_index(scan, *only, reading, asked);
  std::vector<PlannedIndex> planned = planned_indexes(scan, asked);
  std::size_t walks = 0;
  for (; walks < planned.size(); ++walks) {
    PlannedIndex& index = planned[walks];
    if (index.plan.equal_components < asked.equal_components_min) break;  // So have all that follow.
    index.walk = walk_of(scan, index, asked, reading);
  }
  const std::size_t part_entries = asked.part ? asked.part->entries : asked.entries_max;
  std::size_t taken = walks;  // none
  // Each index reads the same number of entries, so the choice costs no more than a few times what the best one needs.
  for (std::size_t budget = std::min(part_entries, asked.entries_max);;) {
    for (std::size_t i = 0; i < walks && (asked.all || taken == walks); ++i) {
      if (Status read = planned[i].walk->read(budget); !read.ok()) return read;
      if (taken == walks && planned[i].walk->has_ended()) taken = i;
    }
    for (std::size_t i = 0; i < walks && taken == walks && asked.part; ++i) {
      if (planned[i].walk->has_part()) taken = i;
    }
    const bool is_over = budget == asked.entries_max || (!asked.all && taken < walks);
    if (is_over) break;
    budget = std::min(kBudgetGrowth * budget, asked.entries_max);
  }
  IndexOffer offer;
  for (std::size_t i = 0; i < walks; ++i) {
    if (i != taken && !asked.all) continue;
    const PlannedIndex& index = planned[i];
    FoundKeys found = index.walk->take();
    if (asked.all) {
      IndexCandidate& candidate = offer.candidates.emplace_back(
          IndexCandidate{index.index->name, index.plan.equal_components, index.plan.has_range});
      candidate.answers_counts = cover_of(scan, *index.index, scan.counted).has_value();
      candidate.answers_pages = index.cover.has_value();
      candidate.is_taken = i == taken;
      if (index.walk->has_ended()) candidate.entities = found.keys.size();
    }
    if (i == taken) take_points(std::move(found), index, offer);
  }
  return offer;
}

}  // namespace varve
