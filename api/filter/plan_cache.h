// Owns: the plans of long filters, kept between the pages of their scans.
// Must never: return a plan for another text, table or partition, or hold more than kPlansMax plans of kPlanBytesMax.
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

/// A filter and its plan. Immutable; concurrent scans share it.
struct PlannedFilter {
  std::string text;  // empty if it is too short for a PlanCache
  format::TableId table = 0;
  /// The partition that the plan is for. Nothing: the plan is for the whole table, as it always is if no key is named.
  std::optional<std::string> partition{};
  bool names_keys = false;
  std::size_t comparisons = 0;
  /// True if the grammar of the table service refuses the text.
  bool is_extended = false;
  KeyPlan plan;
};

/// Returns the ranges of the plan that overlap `range`.
std::span<const KeyRange> ranges_within(const KeyPlan& plan, const KeyRange& range);

/// Lets a page of a scan reuse the plan that an earlier page made, also if each page is a request of its own. Any
/// thread.
class PlanCache {
 public:
  static constexpr std::size_t kPlansMax = 16;
  static constexpr std::size_t kPlanBytesMax = std::size_t{1} << 20;
  /// Planning a filter with a shorter text is faster than finding its plan.
  static constexpr std::size_t kTextBytesMin = 256;

  /// Returns the plan, or null. Without `table`, the plan may be for any table and partition.
  std::shared_ptr<const PlannedFilter> find(std::string_view text, std::optional<format::TableId> table = {},
                                            const std::optional<std::string>& partition = {}) const;
  /// Keeps the plan in place of the oldest one, unless it is too short or too large to be worth keeping.
  void keep(const std::shared_ptr<const PlannedFilter>& planned);

 private:
  std::array<std::shared_ptr<const PlannedFilter>, kPlansMax> plans_;  // only through atomic_load() and atomic_store()
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace varve
