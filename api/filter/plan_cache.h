// Owns: the plans of filters that take time to plan, kept from page to page of their scans.
// Must never: return a plan for another text or another table, or hold more than kPlansMax plans of kPlanBytesMax.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/filter/key_plan.h"

namespace varve {

/// Never changes once made; scans that run at the same time share it.
struct PlannedFilter {
  std::string text;
  format::TableId table = 0;
  std::size_t comparisons = 0;
  /// Within the whole table.
  KeyPlan plan;
};

/// Those of the plan's ranges that lie within the range at least in part.
std::span<const KeyRange> ranges_within(const KeyPlan& plan, const KeyRange& range);

/// A page of a scan finds here what the page before it planned, whether it came through the same object or as a request
/// of its own. Any thread.
class PlanCache {
 public:
  static constexpr std::size_t kPlansMax = 16;
  static constexpr std::size_t kPlanBytesMax = std::size_t{1} << 20;
  /// With less text a filter is planned sooner than found.
  static constexpr std::size_t kTextBytesMin = 256;

  /// Null if it is not there. Without a table, the plan may be one for any.
  std::shared_ptr<const PlannedFilter> find(std::string_view text, std::optional<format::TableId> table = {}) const;
  /// Keeps it, instead of the one that was kept longest, if it is worth it.
  void keep(const std::shared_ptr<const PlannedFilter>& planned);

 private:
  std::array<std::shared_ptr<const PlannedFilter>, kPlansMax> plans_;  // atomic_load() and atomic_store() alone
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace varve
