// Owns: merging dead prefixes into ranges.
#include "engine/levels/dead_ranges.h"

#include <algorithm>
#include <limits>

#include "format/bytes/bytes.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

DeadRanges::DeadRanges(std::span<const format::DeadId> dead_ids, CommitVersion reclaimable_version) {
  constexpr std::size_t kAccountBytes = 4;
  std::vector<Range> found;
  for (const format::DeadId& dead : dead_ids) {
    if (dead.drop_version > reclaimable_version) continue;
    if (dead.prefix.size() == kAccountBytes) {
      const std::uint32_t account = format::load_u32_big_endian(dead.prefix.data());
      found.push_back({format::make_table_id(account, 0),
                       format::make_table_id(account, std::numeric_limits<std::uint32_t>::max())});
    } else if (dead.prefix.size() == format::kTableIdBytes) {
      const TableId table = format::load_u64_big_endian(dead.prefix.data());
      found.push_back({table, table});
    }
  }
  std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (const Range& range : found) {
    // Adjacent ids are merged into one range, so that covers() finds a file that spans several of them.
    if (!ranges_.empty() && (range.first <= ranges_.back().last || range.first - 1 == ranges_.back().last)) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool DeadRanges::covers(TableId first, TableId last) const noexcept {
  const auto ends_before = [](const Range& range, TableId id) { return range.last < id; };
  const auto found = std::lower_bound(ranges_.begin(), ranges_.end(), first, ends_before);
  return found != ranges_.end() && found->first <= first && last <= found->last;
}

bool DeadRanges::touches(TableId first, TableId last) const noexcept {
  const auto ends_before = [](const Range& range, TableId id) { return range.last < id; };
  const auto found = std::lower_bound(ranges_.begin(), ranges_.end(), first, ends_before);
  return found != ranges_.end() && found->first <= last;
}

}  // namespace varve::engine
