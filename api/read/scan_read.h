// Owns: scans: their checks and plans, and reading them page by page, counting or explaining them.
// Must never: keep anything between two pages but the plans of filters.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "api/core/table_access.h"
#include "api/filter/plan_cache.h"
#include "api/read/entity_order.h"
#include "api/read/first_entities.h"
#include "api/read/index_scan.h"
#include "api/read/page_scan.h"
#include "varve/entity_view.h"
#include "varve/query.h"
#include "varve/scan_plan.h"
#include "varve/store_limits.h"

namespace varve {

// The checks that scans and listings share. Errors: kInvalidArgument.
/// Refuses a text that is not UTF-8. The message begins with `name`, for example "the bound".
Status check_utf8(std::string_view name, std::string_view text);
/// Checks the limits that a caller asks for one page.
Status check_page_bounds(std::uint32_t entities_max, std::chrono::milliseconds time_max, const StoreLimits& limits);

/// A checked scan, and the state that it reads.
struct PreparedScan {
  explicit PreparedScan(ResolvedTable&& resolved) noexcept : table(std::move(resolved)) {}

  ResolvedTable table;
  /// The requested range, without the part before the continuation. It may be empty: lower >= upper.
  KeyRange range{};
  /// Null if the range and the filter are the plan.
  std::shared_ptr<const PlannedFilter> planned{};
  /// The filter, unless the plan has the whole of it. If an earlier page planned it, it is not parsed yet.
  Filter filter{};
  /// The sort key that the continuation names.
  std::string named{};
  std::optional<std::uint64_t> remaining{};
  /// Null if the scan has the order of keys. Then the position is unused.
  std::unique_ptr<const EntityOrder> order{};
  OrderedPosition after{};
  /// The points to which an index leads, in place of the ranges of the plan.
  std::optional<std::vector<KeyRange>> points{};
  /// As IndexOffer::known.
  std::vector<std::optional<KnownEntity>> known{};

  /// The ranges to read.
  std::span<const KeyRange> ranges() const;
  /// The ranges of keys that the scan asks for, whether an index serves it or not.
  std::span<const KeyRange> planned_ranges() const;
  const Filter& residual() const noexcept;
  /// Returns the whole filter.
  const Filter& whole_filter() const noexcept;
  /// Returns whether the filter may reject an entity.
  bool has_filter() const noexcept { return planned != nullptr || !filter.matches_everything(); }
};

/// What a read of a table is made on. All of it outlives the read, which sees only what the grant permits.
struct TableCall {
  StoreCore& core;
  const TableName& name;
  NameEntry& entry;
  const Grant& grant;
};

/// Finds the table in the state that a read with these options sees. Returns nothing if the read may not wait, but
/// would have to read the catalog. Errors: as resolve_for_read().
Result<std::optional<ResolvedTable>> resolve(const TableCall& call, const ReadOptions& options, bool may_wait);

/// Checks and plans a scan. Makes `made`, which is empty before. Leaves it empty if that may not wait and would.
Status prepare_scan(const TableCall& call, const Scan& scan, bool may_wait, std::optional<PreparedScan>& made);

/// One page of a scan, read in shares. One thread at a time may use it.
class ScanRead {
 public:
  /// The time of the page begins now. The arguments outlive this object. If there is a reader, it receives the entities
  /// instead of the page.
  ScanRead(const TableCall& call, const Scan& scan, Wanted wanted, std::stop_token stop,
           const EntityReader* reader = nullptr);
  ScanRead(const ScanRead&) = delete;
  ScanRead& operator=(const ScanRead&) = delete;

  /// Passes each counted entity to `fold`, which outlives this object. Call it before go_on().
  void fold_into(EntityFold& fold) noexcept { fold_ = &fold; }

  /// Checks and plans the scan, and reads its page, or continues where the last share ended. Returns whether the page
  /// is complete. A share that may not wait also ends before a read of the catalog. Without a bound, the page is
  /// complete afterwards. Errors: as the verbs of Table; kCancelled (the stop was requested).
  Result<bool> go_on(const PageShare& share = {});
  // Return the complete page, once, or the count.
  Page take_page() noexcept { return walk_ ? walk_->take_page() : Page(); }
  Count take_count() noexcept;
  /// Returns the ranges of keys on which the content of the complete page depends, each in one partition. `page` is
  /// what take_page() returned. Errors: kInvalidArgument (InvalidInput: the scan may read several partitions in one
  /// range).
  Result<std::vector<KeyRange>> covered_by(const Page& page) const;

 private:
  Result<bool> prepare(const PageShare& share);
  void begin_order(std::uint64_t entities_max);
  Result<bool> read_index(std::uint64_t entities_max);
  Status read_points(const IndexedScan& scan, const IndexesAsked& asked);
  Status read_rest();
  void walk_in_order();
  IndexedScan indexed() const;
  /// Returns the ranges of keys inside within_.
  std::span<const KeyRange> planned_ranges() const;
  PageBounds bounds(std::uint64_t entities_max);
  /// Returns the time by which a page with an order is complete, or fails.
  std::chrono::nanoseconds order_deadline() const noexcept;

  const TableCall call_;
  const Scan& scan_;
  const Wanted wanted_;
  const std::stop_token stop_;
  const EntityReader* const reader_;
  bool is_backward_;
  bool is_in_key_order_ = true;  // or in that order backward
  EntityFold* fold_ = nullptr;
  const std::chrono::nanoseconds begun_;
  std::optional<PreparedScan> prepared_;
  std::optional<FirstEntities> first_;  // of a scan with an order
  std::optional<PageScan> walk_;        // unless the page is empty in any case
  KeyRange within_;                     // what the page reads now
  // While an index gives the page its entities part by part:
  std::shared_ptr<const TableIndexes> indexes_;
  std::optional<PropertyNames> used_;     // of each entity
  std::size_t part_entries_ = 0;          // of the next part
  std::size_t lookups_left_ = 0;          // that the page may look up in this way
  std::optional<IndexOffer::Rest> rest_;  // behind it
};

// These functions see only what the grant permits. If there is a reader, it receives the entities instead of the page.
// Errors: as the verbs of Table; kCancelled (`stop` was requested).
Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan,
                       const std::stop_token& stop = {}, const EntityReader* reader = nullptr);
/// A page, and the ranges of ScanRead::covered_by().
struct CoveredPage {
  Page page;
  std::vector<KeyRange> ranges;
};
Result<CoveredPage> read_covered_page(const TableCall& call, const Scan& scan);
/// Passes each entity to `fold`, if there is one.
Result<Count> count_entities(const TableCall& call, const Scan& scan, EntityFold* fold = nullptr);
Result<ScanPlan> explain_scan(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                              const Scan& scan);

}  // namespace varve
