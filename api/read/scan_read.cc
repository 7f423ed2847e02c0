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

Status check_utf8(std::string_view name, std::string_view text) {
  if (format::is_valid_utf8(text)) return Status();
  return service_error::invalid_input(std::string(name) + " " + quoted(text) + " is not valid UTF-8");
}

Status check_page_bounds(std::uint32_t entities_max, std::chrono::milliseconds time_max, const StoreLimits& limits) {
  if (entities_max > limits.page_entities_max) {
    return service_error::invalid_input("page_entities_max is " + std::to_string(entities_max) + "; at most " +
                                        std::to_string(limits.page_entities_max) + " is allowed");
  }
  if (time_max < std::chrono::milliseconds(0) || time_max > limits::kPageTimeMax) {
    return service_error::invalid_input("page_time_max is " + std::to_string(time_max.count()) +
                                        " ms; 0 to 5000 ms are allowed");
  }
  return Status();
}

Result<std::optional<ResolvedTable>> resolve(const TableCall& call, const ReadOptions& options, bool may_wait) {
  if (!may_wait) {
    if (options.snapshot) return std::optional<ResolvedTable>();
    return call.core.catalog().resolve_cached(call.entry);
  }
  Result<ResolvedTable> table = resolve_for_read(call.core, call.name, call.entry, options);
  if (!table.ok()) return table.status();
  return std::optional<ResolvedTable>(*std::move(table));
}

namespace {

Status check_scan(const Scan& scan, const StoreLimits& limits) {
  if (Status checked = check_page_bounds(scan.page_entities_max, scan.page_time_max, limits); !checked.ok())
    return checked;
  return check_selection(scan.read);
}

Status check_range(const ScanRange& range) {
  if (Status checked = check_utf8("the bound", range.partition_key()); !checked.ok()) return checked;
  if (Status checked = check_utf8("the bound", range.from()); !checked.ok()) return checked;
  return check_utf8("the bound", range.to().value_or(std::string()));
}

/// Returns null if the scan has the order of keys.
Result<std::unique_ptr<const EntityOrder>> order_of_scan(const Scan& scan) {
  if (scan.order_by.empty()) return std::unique_ptr<const EntityOrder>();
  Result<EntityOrder> order = EntityOrder::parse(scan.order_by);
  if (!order.ok()) return order.status();
  if (scan.backward) {
    return service_error::invalid_input("a scan with order_by is not backward; write desc behind a name instead");
  }
  const std::uint64_t entities_max = std::min<std::uint64_t>(scan.page_entities_max, scan.take.value_or(UINT64_MAX));
  if (entities_max > limits::kOrderedPageEntitiesMax) {
    return more_than_a_page_keeps(*order, scan.page_entities_max);
  }
  return std::unique_ptr<const EntityOrder>(std::make_unique<EntityOrder>(*std::move(order)));
}

Status is_without_take(bool takes) {
  return service_error::invalid_input("the continuation token is from a scan " +
                                      std::string(takes ? "without" : "with") +
                                      " take; use the options of the first page");
}

/// Sets the position after which the page of a scan with an order begins. Returns false if that may not wait and would.
Result<bool> begin_behind(const Scan& scan, PreparedScan& prepared, bool may_wait) {
  if (!scan.continuation.empty()) {
    Result<OrderedPosition> after = decode_ordered_token(*prepared.order, prepared.table.id, scan.continuation);
    if (!after.ok()) return after.status();
    if (after->remaining.has_value() != scan.take.has_value()) return is_without_take(scan.take.has_value());
    if (scan.take) prepared.remaining = std::min(*scan.take, *after->remaining);
    if (!after->long_values.empty()) {
      if (!may_wait) return false;
      const std::string& key = after->last->sort_key;
      const bool is_inside = key >= prepared.range.lower && key < prepared.range.upper;
      const auto found =
          is_inside ? prepared.table.view.get(key) : Result<std::optional<engine::FoundEntry>>(std::nullopt);
      if (!found.ok()) return found.status();
      const Status read =
          after->read_long_values(*prepared.order, *found ? std::optional((*found)->value) : std::nullopt);
      if (!read.ok()) return read;
    }
    prepared.after = *std::move(after);
  }
  prepared.after.remaining = prepared.remaining;
  return true;
}

Result<std::optional<ScanPosition>> position_of(const Scan& scan) {
  if (scan.continuation.empty() || !scan.order_by.empty()) return std::optional<ScanPosition>();
  Result<ScanPosition> position = decode_scan_token(scan.continuation);
  if (!position.ok()) return position.status();
  if (position->backward != scan.backward) {
    return service_error::invalid_input(
        "the continuation token is from a scan in the other direction; set backward as for the first page");
  }
  if (position->remaining.has_value() != scan.take.has_value()) {
    return is_without_take(scan.take.has_value());
  }
  return std::optional<ScanPosition>(*std::move(position));
}

/// Makes `made`, which is empty before. Leaves it empty if that may not wait and would.
Status prepare_scan(const TableCall& call, const Scan& scan, bool may_wait, std::optional<PreparedScan>& made) {
  StoreCore& core = call.core;
  if (Status granted = call.grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_scan(scan, core.limits()); !checked.ok()) return checked;
  if (Status checked = check_range(scan.range); !checked.ok()) return checked;
  Result<AskedFilter> asked = ask_filter(core.plans(), core.limits(), scan);
  if (!asked.ok()) return asked.status();
  Result<std::unique_ptr<const EntityOrder>> order = order_of_scan(scan);
  if (!order.ok()) return order.status();
  const Result<std::optional<ScanPosition>> position = position_of(scan);
  if (!position.ok()) return position.status();
  Result<std::optional<ResolvedTable>> table = resolve(call, scan.read, may_wait);
  if (!table.ok()) return table.status();
  if (!*table) return Status();

  PreparedScan& prepared = made.emplace(PreparedScan{**std::move(table), {}, nullptr, {}, {}, scan.take});
  prepared.order = *std::move(order);
  KeyRange& range = prepared.range;
  range = call.grant.within(keys_in(prepared.table.id, scan.range), prepared.table.id);
  if (prepared.order != nullptr) {
    const Result<bool> has_begun = begin_behind(scan, prepared, may_wait);
    if (!has_begun.ok()) return has_begun.status();
    if (!*has_begun) {
      made.reset();
      return Status();
    }
  }
  if (*position) {
    const ScanPosition& at = **position;
    if (scan.take) prepared.remaining = std::min(*scan.take, *at.remaining);
    prepared.named = *format::encode_sort_key(prepared.table.id, at.partition_key, at.row_key);
    if (scan.backward) {
      range.upper = std::min(range.upper, format::end_of_prefix(prepared.named));  // No other key begins with this one.
    } else {
      range.lower = std::max(range.lower, prepared.named);
    }
  }
  if (range.lower >= range.upper) return Status();
  Result<std::shared_ptr<const PlannedFilter>> planned =
      plan_asked(core.plans(), core.limits(), scan, *asked, prepared.table.id);
  if (!planned.ok()) return planned.status();
  prepared.planned = *std::move(planned);
  prepared.filter = std::move(asked->parsed);
  return Status();
}

/// Returns whether an index of the table may serve the scan. Answers yes if that is not known without a read.
bool may_have_index(const TableCall& call, const Scan& scan, const PreparedScan& prepared) {
  if (!call.core.backend().has_indexes()) [[likely]]
    return false;
  const bool is_of_use = prepared.planned != nullptr || prepared.order != nullptr;
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

/// The names may be null.
IndexedScan indexed_scan(const PreparedScan& prepared, const TableIndexes& indexes, const PropertyNames* used) {
  return {prepared.table, indexes, prepared.whole_filter(), prepared.planned_ranges(), prepared.range, used};
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

std::span<const KeyRange> PreparedScan::ranges() const {
  if (points && range.lower < range.upper) return *points;
  return planned_ranges();
}

std::span<const KeyRange> PreparedScan::planned_ranges() const {
  if (range.lower >= range.upper) return {};
  return planned == nullptr ? std::span(&range, 1) : ranges_within(planned->plan, range);
}

const Filter& PreparedScan::residual() const noexcept {
  static const Filter everything;
  return planned == nullptr ? everything : planned->plan.residual;
}

const Filter& PreparedScan::whole_filter() const noexcept {
  return planned != nullptr && planned->plan.has_whole_residual ? planned->plan.residual : filter;
}

ScanRead::ScanRead(const TableCall& call, const Scan& scan, Wanted wanted, std::stop_token stop,
                   const EntityReader* reader)
    : call_(call),
      scan_(scan),
      wanted_(wanted),
      stop_(std::move(stop)),
      reader_(reader),
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
  if (prepared_->order != nullptr) begin_order(entities_max);
  walk_->fold_into(fold_);
  const Result<bool> is_complete = has_index ? read_index(entities_max) : Result<bool>(false);
  if (!is_complete.ok()) return is_complete;
  if (first_) walk_->bound_order(order_deadline(), scan_.order_time_max);
  walk_->set_ranges(*is_complete ? std::span<const KeyRange>() : prepared_->ranges(), prepared_->range);
  walk_->know(prepared_->known);
  return true;
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
  const Result<std::shared_ptr<const TableIndexes>> indexes = indexes_for(call_, scan_, *prepared_);
  if (!indexes.ok()) return indexes.status();
  if (*indexes == nullptr) return false;
  const std::optional<PropertyNames> used =
      wanted_ == Wanted::kCount ? counted_names(*prepared_, fold_) : shown_names(*prepared_, scan_);
  const IndexedScan scan = indexed_scan(*prepared_, **indexes, used ? &*used : nullptr);
  if (first_) {
    const Result<std::optional<IndexOrder>> order = index_of_order(scan, *prepared_->order, prepared_->after);
    if (!order.ok()) return order.status();
    if (*order) {
      // An index that compares more with `eq` may lead to less than the page looks up in any case.
      if (Status read = read_points(scan, {(*order)->plan.component + 1}); !read.ok()) return read;
      if (prepared_->points && prepared_->points->size() <= first_->count()) return false;
      prepared_->points.reset();
      const OrderReading reading{call_.core.backend().env().clock, order_deadline(), stop_};
      const Result<bool> is_served = offer_in_order(scan, **order, *walk_, *first_, reading);
      if (!is_served.ok() || *is_served) return is_served;
      begin_order(entities_max);
    }
  }
  const Status read = read_points(scan, {});
  return read.ok() ? Result<bool>(false) : read;
}

/// Sets the points to which one of these indexes leads.
Status ScanRead::read_points(const IndexedScan& scan, const IndexesAsked& asked) {
  if (prepared_->planned == nullptr) return Status();
  const std::chrono::nanoseconds deadline = first_ ? order_deadline() : begun_ + scan_.page_time_max;
  IndexReading reading{call_.core.backend().env().clock, deadline, stop_, walk_->read_cost()};
  Result<IndexOffer> offer = offer_of_indexes(scan, reading, asked);
  if (!offer.ok()) return offer.code() == Code::kCancelled ? was_stopped() : offer.status();
  prepared_->points = std::move(offer->points);
  prepared_->known = std::move(offer->known);
  walk_->read_cost() = reading.cost;
  return Status();
}

Result<bool> ScanRead::go_on(const PageShare& share) {
  if (!prepared_) {
    const Result<bool> has_begun = prepare(share);
    if (!has_begun.ok() || !*has_begun) return has_begun;
  }
  if (!walk_) return true;
  const Result<bool> is_complete = walk_->go_on(share);
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
  IndexedScan indexed = indexed_scan(prepared, **indexes, shown ? &*shown : nullptr);
  indexed.counted = &counted;
  if (prepared.order != nullptr) {
    Result<std::optional<IndexOrder>> order = index_of_order(indexed, *prepared.order, prepared.after);
    if (!order.ok()) return order.status();
    if (*order) described.order_index = (*order)->name;
  }
  if (prepared.planned == nullptr) return described;
  const std::stop_token never;
  IndexReading reading{core.backend().env().clock, std::chrono::nanoseconds::max(), never};
  Result<IndexOffer> offer = offer_of_indexes(indexed, reading, {0, true});
  if (!offer.ok()) return offer.status();
  described.indexes = std::move(offer->candidates);
  return described;
}

}  // namespace varve
