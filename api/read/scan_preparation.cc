// Owns: the steps of a scan from the request to the ranges of keys that it asks for (scan_read.h).
// Must never: read an entity, except the one whose values the token of an ordered page is too short for.
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/filter/asked_filter.h"
#include "api/filter/plan_cache.h"
#include "api/model/continuation_token.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/entity_read.h"
#include "api/read/scan_read.h"
#include "format/keys/sort_key.h"
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
  if (range.kind() == ScanRange::Kind::kTable) return Status();  // It has no text.
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

}  // namespace

Status prepare_scan(const TableCall& call, const Scan& scan, bool may_wait, std::optional<PreparedScan>& made) {
  StoreCore& core = call.core;
  if (Status granted = call.grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_scan(scan, core.limits()); !checked.ok()) return checked;
  if (Status checked = check_range(scan.range); !checked.ok()) return checked;
  AskedFilter asked;
  if (Status parsed = ask_filter(core.plans(), core.limits(), scan, asked); !parsed.ok()) return parsed;
  Result<std::unique_ptr<const EntityOrder>> order = order_of_scan(scan);
  if (!order.ok()) return order.status();
  const Result<std::optional<ScanPosition>> position = position_of(scan);
  if (!position.ok()) return position.status();
  Result<std::optional<ResolvedTable>> table = resolve(call, scan.read, may_wait);
  if (!table.ok()) return table.status();
  if (!*table) return Status();

  PreparedScan& prepared = made.emplace(**std::move(table));
  prepared.remaining = scan.take;
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
      plan_asked(core.plans(), core.limits(), scan, asked, prepared.table.id);
  if (!planned.ok()) return planned.status();
  prepared.planned = *std::move(planned);
  prepared.filter = std::move(asked.parsed);
  return Status();
}

std::span<const KeyRange> PreparedScan::ranges() const {
  if (points && range.lower < range.upper) return *points;
  return planned_ranges();
}

std::span<const KeyRange> PreparedScan::planned_ranges() const {
  if (range.lower >= range.upper) return {};
  return planned == nullptr ? std::span(&range, 1) : ranges_within(planned->plan, range);
}

const Filter& PreparedScan::residual() const noexcept {
  return planned == nullptr ? filter : planned->plan.residual;
}

const Filter& PreparedScan::whole_filter() const noexcept {
  return planned != nullptr && planned->plan.has_whole_residual ? planned->plan.residual : filter;
}

}  // namespace varve
