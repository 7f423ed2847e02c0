// Owns: finding and keeping plans (plan_cache.h).
// Must never: wait for another thread.
#include "api/filter/plan_cache.h"

#include <algorithm>

namespace varve {
namespace {

std::size_t bytes_of(const PlannedFilter& planned) noexcept {
  std::size_t bytes = planned.text.size() + (planned.partition ? planned.partition->size() : 0);
  for (const KeyRange& range : planned.plan.ranges) bytes += sizeof range + range.lower.size() + range.upper.size();
  return bytes;
}

}  // namespace

std::span<const KeyRange> ranges_within(const KeyPlan& plan, const KeyRange& range) {
  const auto first = std::partition_point(plan.ranges.begin(), plan.ranges.end(),
                                          [&](const KeyRange& planned) { return planned.upper <= range.lower; });
  const auto last = std::partition_point(first, plan.ranges.end(),
                                         [&](const KeyRange& planned) { return planned.lower < range.upper; });
  return {first, last};
}

std::shared_ptr<const PlannedFilter> PlanCache::find(std::string_view text, std::optional<format::TableId> table,
                                                     const std::optional<std::string>& partition) const {
  if (text.size() < kTextBytesMin) return nullptr;
  for (const std::shared_ptr<const PlannedFilter>& place : plans_) {
    std::shared_ptr<const PlannedFilter> kept = std::atomic_load(&place);
    if (kept == nullptr || (table && (kept->table != *table || kept->partition != partition))) continue;
    if (kept->text == text) return kept;
  }
  return nullptr;
}

void PlanCache::keep(const std::shared_ptr<const PlannedFilter>& planned) {
  if (planned->text.size() < kTextBytesMin || bytes_of(*planned) > kPlanBytesMax) return;
  std::atomic_store(&plans_[next_.fetch_add(1, std::memory_order_relaxed) % kPlansMax], planned);
}

}  // namespace varve
