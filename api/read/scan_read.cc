// Owns: the steps of a scan from the request to the ranges that are read (scan_read.h).
// Must never: end a page without a token while more entities may follow.
#include "api/read/scan_read.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/filter/asked_filter.h"
#include "api/filter/filter.h"
#include "api/filter/plan_cache.h"
#include "api/model/continuation_token.h"
#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/describe_plan.h"
#include "api/read/entity_read.h"
#include "api/read/index_order.h"
#include "api/read/index_scan.h"
#include "api/read/page_scan.h"
#include "format/keys/sort_key.h"
#include "io/env.h"
#include "varve/limits.h"

namespace varve {

namespace {

/// The parts of a page that an index gives become longer, since a filter may reject most of their entities.
constexpr std::size_t kPartGrowth = 4;

/// Returns how many entries of an index are enough for the first part of a page, which may be in the order of keys.
std::size_t entries_of_page(const PreparedScan& prepared, std::uint64_t entities_max, bool is_in_key_order) {
  if (!is_in_key_order) return kIndexEntriesMax;  // Another order may need every entity.
  const std::uint64_t wanted = std::min(entities_max, prepared.remaining.value_or(UINT64_MAX));
  // The token of a page names the next entity.
  return 1 + static_cast<std::size_t>(std::min<std::uint64_t>(wanted, kIndexEntriesMax - 1));
}

/// Returns whether an index of the table may serve the scan. Answers yes if that is not known without a read.
bool may_have_index(const TableCall& call, const Scan& scan, const PreparedScan& prepared) {
  if (!call.core.backend().has_indexes()) [[likely]]
    return false;
  const bool is_of_use = prepared.has_filter() || prepared.order != nullptr;
  if (!is_of_use || !is_index_of_use(prepared.ranges())) return false;
  // A cached table without rules has no index now, and not using one is always right.
  return scan.read.snapshot || call.entry.live_id() != prepared.table.id || call.entry.has_rules();
}

/// Returns the indexes of the table, or null if it has none, and parses the filter for them.
Result<std::shared_ptr<const TableIndexes>> indexes_for(const TableCall& call, const Scan& scan,
                                                        PreparedScan& prepared) {
  Result<std::shared_ptr<const TableIndexes>> indexes =
      call.core.catalog().indexes_at(prepared.table, call.name, call.entry);
  if (!indexes.ok() || *indexes == nullptr) return indexes;
  if (prepared.planned != nullptr && prepared.whole_filter().matches_everything()) {
    Result<Filter> parsed = Filter::parse(scan.filter);
    if (!parsed.ok()) return parsed.status();
    prepared.filter = *std::move(parsed);
  }
  return indexes;
}

/// Returns the names that a count uses of each entity.
PropertyNames counted_names(const PreparedScan& prepared, const EntityFold* fold) {
  PropertyNames names = fold == nullptr ? PropertyNames() : fold->properties();
  add_names(prepared.residual(), names);
  return names;
}

/// Returns the names that a page uses of each entity, or nothing if it needs the whole of each. A page with an order keeps
/// whole entities.
std::optional<PropertyNames> shown_names(const PreparedScan& prepared, const Scan& scan) {
  if (scan.read.select.empty() || prepared.order != nullptr) return std::nullopt;
  PropertyNames names = scan.read.select;
  names.emplace_back(kTimestampName);
  add_names(prepared.residual(), names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Status was_stopped() {
  return Status(Code::kCancelled, "the caller's stop token cancelled the scan");
}

/// `begun` is the time when the page was requested. The time of a page includes checking and planning.
PageBounds bounds_of(StoreCore& core, const Scan& scan, PreparedScan& prepared, std::uint64_t entities_max,
                     std::chrono::nanoseconds begun, const std::stop_token& stop) {
  PageBounds bounds;
  bounds.stop = stop;
  bounds.entities_max = entities_max;
  bounds.bytes_max = scan.page_bytes_max;
  bounds.deadline = begun + scan.page_time_max;
  bounds.remaining = prepared.remaining;
  if (core.makes_short_pages()) bounds.short_pages.emplace(std::move(prepared.named), scan.backward);
  return bounds;
}

/// Returns whether all keys of the range are in one partition, which the lower bound names.
bool is_in_one_partition(const KeyRange& range) {
  if (range.lower.find('\0', format::kTableIdBytes) == std::string::npos) return false;
  return !range.upper.empty() && range.upper <= format::end_of_prefix(format::partition_of(range.lower));
}

/// Returns the part of keys that all keys of the scan begin with, up to the end of the PartitionKey. Nothing if they may
/// have several.
std::string only_partition(const PreparedScan& prepared) {
  std::string partition;
  for (const KeyRange& planned : prepared.planned_ranges()) {
    const KeyRange range{std::max(planned.lower, prepared.range.lower), std::min(planned.upper, prepared.range.upper),
                         false};
    if (!is_in_one_partition(range)) return std::string();
    const std::string_view its = format::partition_of(range.lower);
    if (!partition.empty() && partition != its) return std::string();
    partition = its;
  }
  return partition;
}

/// Returns whether all entities of a scan with an order, and the position after which the page begins, have one PartitionKey.
bool has_one_partition(const PreparedScan& prepared) {
  const std::string partition = only_partition(prepared);
  const OrderedEntity* const last = prepared.after.last.get();
  return !partition.empty() && (last == nullptr || format::partition_of(last->sort_key) == partition);
}

/// Cuts the range at the end of the page. A page with an order covers the whole range.
Status cut_behind(const Page& page, const Scan& scan, const PreparedScan& prepared, KeyRange& range) {
  if (prepared.order != nullptr) return Status();
  const auto key_of = [&](std::string_view partition_key, std::string_view row_key) {
    return format::encode_sort_key(prepared.table.id, partition_key, row_key);
  };
  if (page.continuation) {
    const Result<ScanPosition> next = decode_scan_token(*page.continuation);
    if (!next.ok()) return next.status();
    const Result<std::string> named = key_of(next->partition_key, next->row_key);
    if (!named.ok()) return named.status();
    if (scan.backward) {
      range.lower = std::max(range.lower, format::end_of_prefix(*named));
    } else {
      range.upper = std::min(range.upper, *named);
    }
  } else if (!page.entities.empty() && prepared.remaining == page.entities.size()) {  // all that Scan::take wants
    const Result<std::string> last = key_of(page.entities.back().partition_key(), page.entities.back().row_key());
    if (!last.ok()) return last.status();
    if (scan.backward) {
      range.lower = std::max(range.lower, *last);
    } else {
      range.upper = std::min(range.upper, format::end_of_prefix(*last));
    }
  }
  return Status();
}

}  // namespace

ScanRead::ScanRead(const TableCall& call, const Scan& scan, Wanted wanted, std::stop_token stop,
                   const EntityReader* reader)
    : call_(call),
      scan_(scan),
      wanted_(wanted),
      stop_(std::move(stop)),
      reader_(reader),
      is_backward_(scan.backward),
      begun_(call.core.backend().env().clock.monotonic()) {}

/// Returns false if that may not wait and would.
Result<bool> ScanRead::prepare(const PageShare& share) {
  if (wanted_ == Wanted::kCount && !scan_.order_by.empty()) {
    return service_error::invalid_input("a count has no order; leave order_by empty");
  }
  if (Status prepared = prepare_scan(call_, scan_, share.may_wait, prepared_); !prepared.ok()) {
    prepared_.reset();
    return prepared;
  }
  if (!prepared_) return false;
  const bool has_index = may_have_index(call_, scan_, *prepared_);
  if (has_index && !share.may_wait) {
    prepared_.reset();
    return false;
  }
  const std::uint64_t entities_max = wanted_ == Wanted::kCount ? UINT64_MAX : scan_.page_entities_max;
  if (entities_max == 0 || prepared_->remaining == 0) return true;
  walk_.emplace(prepared_->table.view, prepared_->residual(), scan_, bounds(entities_max), wanted_,
                call_.core.backend().env().clock, reader_);
  within_ = prepared_->range;
  if (prepared_->order != nullptr) {
    begin_order(entities_max);
    walk_in_order();
  }
  walk_->fold_into(fold_);
  const bool asks_index = has_index && !planned_ranges().empty();
  const Result<bool> is_complete = asks_index ? read_index(entities_max) : Result<bool>(false);
  if (!is_complete.ok()) return is_complete;
  if (first_) walk_->bound_order(order_deadline(), scan_.order_time_max);
  const std::span<const KeyRange> ranges = prepared_->points ? *prepared_->points : planned_ranges();
  if (prepared_->points) walk_->note_part(prepared_->points->size());
  walk_->set_ranges(*is_complete ? std::span<const KeyRange>() : ranges, within_, rest_.has_value());
  walk_->know(prepared_->known);
  return true;
}

std::span<const KeyRange> ScanRead::planned_ranges() const {
  if (within_.lower >= within_.upper) return {};
  return prepared_->planned == nullptr ? std::span(&within_, 1) : ranges_within(prepared_->planned->plan, within_);
}

/// Lets a page end where it is complete, if its order is that of keys, forward or backward. It begins at the position.
void ScanRead::walk_in_order() {
  const std::string partition = only_partition(*prepared_);
  const std::optional<bool> backward = prepared_->order->is_backward_by_key(!partition.empty());
  is_in_key_order_ = backward.has_value();
  if (!backward) return;
  is_backward_ = *backward;
  walk_->walk_in_order(is_backward_);
  if (!prepared_->after.last) return;
  const std::string& last = prepared_->after.last->sort_key;
  if (!partition.empty() && format::partition_of(last) != partition) return;  // The token is from another range.
  if (*backward) {
    within_.upper = std::min(within_.upper, last);
  } else {
    within_.lower = std::max(within_.lower, format::end_of_prefix(last));  // No other key begins with this one.
  }
}

PageBounds ScanRead::bounds(std::uint64_t entities_max) {
  if (prepared_->order == nullptr) {
    return bounds_of(call_.core, scan_, *prepared_, entities_max, begun_, stop_);
  }
  PageBounds none;  // Every entity must be seen. The time is bounded later, once an index has offered entities.
  none.entities_max = UINT64_MAX;
  none.deadline = std::chrono::nanoseconds::max();
  none.stop = stop_;
  return none;
}

std::chrono::nanoseconds ScanRead::order_deadline() const noexcept {
  constexpr std::chrono::nanoseconds kUnbounded = std::chrono::nanoseconds::max();
  const std::chrono::milliseconds time = std::max(scan_.order_time_max, std::chrono::milliseconds(0));
  const bool is_bounded = time < std::chrono::duration_cast<std::chrono::milliseconds>(kUnbounded - begun_);
  return is_bounded ? begun_ + time : kUnbounded;
}

void ScanRead::begin_order(std::uint64_t entities_max) {
  first_.emplace(*prepared_->order, std::min(entities_max, prepared_->remaining.value_or(UINT64_MAX)),
                 std::min<std::uint64_t>(scan_.page_bytes_max, limits::kOrderedPageBytesMax), prepared_->after);
  walk_->set_order(*first_);
}

/// Reads what an index of the table offers. Returns whether the page has all its entities.
Result<bool> ScanRead::read_index(std::uint64_t entities_max) {
  Result<std::shared_ptr<const TableIndexes>> indexes = indexes_for(call_, scan_, *prepared_);
  if (!indexes.ok()) return indexes.status();
  if (*indexes == nullptr) return false;
  indexes_ = *std::move(indexes);
  used_ = wanted_ == Wanted::kCount ? counted_names(*prepared_, fold_) : shown_names(*prepared_, scan_);
  const IndexedScan scan = indexed();
  if (first_) {
    const Result<std::optional<IndexOrder>> order =
        index_of_order(scan, *prepared_->order, prepared_->after, has_one_partition(*prepared_));
    if (!order.ok()) return order.status();
    if (*order) {
      // An index that compares more with `eq` may lead to less than the page looks up in any case.
      IndexesAsked few{(*order)->plan.component + 1};
      few.entries_max = static_cast<std::size_t>(std::min<std::uint64_t>(4 * first_->count(), kIndexEntriesMax));
      if (Status read = read_points(scan, few); !read.ok()) return read;
      if (prepared_->points && prepared_->points->size() <= first_->count()) return false;
      prepared_->points.reset();
      const OrderReading reading{call_.core.backend().env().clock, order_deadline(), stop_};
      const Result<bool> is_served = offer_in_order(scan, **order, *walk_, *first_, reading);
      if (!is_served.ok() || *is_served) return is_served;
      begin_order(entities_max);
    }
  }
  part_entries_ = entries_of_page(*prepared_, entities_max, is_in_key_order_);
  lookups_left_ = kIndexLookupsMax;
  if (Status read = read_points(scan, {0, false, PartOfScan{is_backward_, part_entries_}}); !read.ok()) return read;
  if (prepared_->points) walk_->walk_near_points();
  return false;
}

IndexedScan ScanRead::indexed() const {
  return {prepared_->table, *indexes_, prepared_->whole_filter(), planned_ranges(), within_, used_ ? &*used_ : nullptr};
}

/// Sets the points to which one of these indexes leads.
Status ScanRead::read_points(const IndexedScan& scan, const IndexesAsked& asked) {
  if (!prepared_->has_filter()) return Status();
  const std::chrono::nanoseconds deadline = first_ ? order_deadline() : begun_ + scan_.page_time_max;
  IndexReading reading{call_.core.backend().env().clock, deadline, stop_, walk_->read_cost()};
  Result<IndexOffer> offer = offer_of_indexes(scan, reading, asked);
  if (!offer.ok()) return offer.code() == Code::kCancelled ? was_stopped() : offer.status();
  prepared_->points = std::move(offer->points);
  prepared_->known = std::move(offer->known);
  rest_ = std::move(offer->rest);
  walk_->read_cost() = reading.cost;
  return Status();
}

/// Sets the ranges that follow the points of the page: more points, or what the scan reads without an index.
Status ScanRead::read_rest() {
  const IndexOffer::Rest rest = *std::move(rest_);
  rest_.reset();
  const auto known = std::count_if(prepared_->known.begin(), prepared_->known.end(),
                                   [](const std::optional<KnownEntity>& entity) { return entity.has_value(); });
  lookups_left_ -= std::min(lookups_left_, prepared_->points->size() - static_cast<std::size_t>(known));
  // A longer part may show that another index leads to fewer entities, but once the parts are as long as they can be.
  IndexesAsked asked;
  if (part_entries_ == kIndexEntriesMax) asked.only = rest.index;
  part_entries_ = std::min(kPartGrowth * part_entries_, kIndexEntriesMax);
  asked.part = PartOfScan{is_backward_, part_entries_};
  if (is_backward_) {
    within_.upper = format::end_of_prefix(rest.next);  // No other key begins with this one.
  } else {
    within_.lower = rest.next;
  }
  prepared_->points.reset();
  prepared_->known.clear();
  const std::span<const KeyRange> ranges = planned_ranges();
  if (lookups_left_ > 0) {
    if (Status read = read_points(indexed(), asked); !read.ok()) return read;
  }
  if (prepared_->points) walk_->note_part(prepared_->points->size());
  walk_->set_ranges(prepared_->points ? std::span<const KeyRange>(*prepared_->points) : ranges, within_,
                    rest_.has_value());
  walk_->know(prepared_->known);
  return Status();
}

Result<bool> ScanRead::go_on(const PageShare& share) {
  if (!prepared_) {
    const Result<bool> has_begun = prepare(share);
    if (!has_begun.ok() || !*has_begun) return has_begun;
  }
  if (!walk_) return true;
  Result<bool> is_complete = walk_->go_on(share);
  while (is_complete.ok() && *is_complete && rest_ && walk_->wants_more()) {
    if (stop_.stop_requested()) return was_stopped();
    if (!share.may_wait) return false;
    if (Status read = read_rest(); !read.ok()) return read;
    is_complete = walk_->go_on(share);
  }
  if (stop_.stop_requested()) return was_stopped();
  return is_complete;
}

Result<std::vector<KeyRange>> ScanRead::covered_by(const Page& page) const {
  std::vector<KeyRange> covered;
  if (!walk_) return covered;  // The page is empty in any case.
  KeyRange within = prepared_->range;
  if (Status cut = cut_behind(page, scan_, *prepared_, within); !cut.ok()) return cut;
  for (const KeyRange& planned : prepared_->planned_ranges()) {
    const KeyRange whole{std::max(planned.lower, prepared_->range.lower),
                         std::min(planned.upper, prepared_->range.upper), false};
    if (!is_in_one_partition(whole)) {
      return service_error::invalid_input(
          "a checked scan reads ranges of single partitions; name the partition in the range or in the filter");
    }
    KeyRange read{std::max(whole.lower, within.lower), std::min(whole.upper, within.upper), planned.is_point};
    if (read.lower < read.upper) covered.push_back(std::move(read));
  }
  return covered;
}

Count ScanRead::take_count() noexcept {
  if (!walk_) return Count();
  Page page = walk_->take_page();
  return {walk_->matched(), std::move(page.continuation), page.cost};
}

Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan,
                       const std::stop_token& stop, const EntityReader* reader) {
  ScanRead read({core, name, entry, grant}, scan, Wanted::kEntities, stop, reader);
  const Result<bool> is_complete = read.go_on();
  if (!is_complete.ok()) return is_complete.status();
  return read.take_page();
}

Result<CoveredPage> read_covered_page(const TableCall& call, const Scan& scan) {
  ScanRead read(call, scan, Wanted::kEntities, {});
  const Result<bool> is_complete = read.go_on();
  if (!is_complete.ok()) return is_complete.status();
  CoveredPage made{read.take_page(), {}};
  Result<std::vector<KeyRange>> ranges = read.covered_by(made.page);
  if (!ranges.ok()) return ranges.status();
  made.ranges = *std::move(ranges);
  return made;
}

Result<Count> count_entities(const TableCall& call, const Scan& scan, EntityFold* fold) {
  ScanRead read(call, scan, Wanted::kCount, {});
  if (fold != nullptr) read.fold_into(*fold);
  const Result<bool> is_complete = read.go_on();
  if (!is_complete.ok()) return is_complete.status();
  return read.take_count();
}

Result<ScanPlan> explain_scan(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                              const Scan& scan) {
  const TableCall call{core, name, entry, grant};
  std::optional<PreparedScan> made;
  if (Status prepared = prepare_scan(call, scan, true, made); !prepared.ok()) return prepared;
  PreparedScan& prepared = *made;
  KeyPlan within;
  within.residual = prepared.residual();
  for (const KeyRange& planned : prepared.ranges()) {
    KeyRange& range = within.ranges.emplace_back(planned);
    range.lower = std::max(range.lower, prepared.range.lower);
    range.upper = std::min(range.upper, prepared.range.upper);
  }
  ScanPlan described = describe_plan(within, scan.backward);
  if (!may_have_index(call, scan, prepared)) return described;
  const Result<std::shared_ptr<const TableIndexes>> indexes = indexes_for(call, scan, prepared);
  if (!indexes.ok()) return indexes.status();
  if (*indexes == nullptr) return described;
  const PropertyNames counted = counted_names(prepared, nullptr);
  const std::optional<PropertyNames> shown = shown_names(prepared, scan);
  const IndexedScan indexed{prepared.table,
                            **indexes,
                            prepared.whole_filter(),
                            prepared.planned_ranges(),
                            prepared.range,
                            shown ? &*shown : nullptr,
                            &counted};
  if (prepared.order != nullptr) {
    Result<std::optional<IndexOrder>> order =
        index_of_order(indexed, *prepared.order, prepared.after, has_one_partition(prepared));
    if (!order.ok()) return order.status();
    if (*order) {
      described.order_index = (*order)->name;
      described.order_components = (*order)->served();
    }
  }
  if (!prepared.has_filter()) return described;
  const std::stop_token never;
  IndexReading reading{core.backend().env().clock, std::chrono::nanoseconds::max(), never};
  const std::optional<bool> by_key = prepared.order == nullptr
                                         ? std::optional(scan.backward)
                                         : prepared.order->is_backward_by_key(!only_partition(prepared).empty());
  const PartOfScan part{by_key.value_or(false), entries_of_page(prepared, scan.page_entities_max, by_key.has_value())};
  Result<IndexOffer> offer = offer_of_indexes(indexed, reading, {0, true, part});
  if (!offer.ok()) return offer.status();
  described.indexes = std::move(offer->candidates);
  return described;
}

}  // namespace varve
