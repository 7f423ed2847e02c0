// Owns: the rules for cutting outputs.
#include "engine/compaction/output_cuts.h"

#include <utility>

#include "format/keys/sort_key.h"

namespace varve::engine {

OutputCuts::OutputCuts(const Levels& levels, const Job& job, const TreeShape& shape, std::set<TableId> large_tables)
    : shape_(shape), large_tables_(std::move(large_tables)) {
  if (job.output_level > 0 && job.output_level < kLastLevel) {
    grandparents_ = levels.overlapping(job.output_level + 1, job.range());
  }
}

bool OutputCuts::begins_new_file(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                                 std::optional<TableId> new_table) noexcept {
  const bool empty = file_bytes == 0;
  const bool apart = new_table && stands_apart(*new_table);
  if (new_table) table_ = new_table;
  const bool at_boundary = pass_grandparents(key, !empty);
  if (empty) return false;
  // A cut at the edge of a file below prevents the next merge down from using that file twice. So a file that is three
  // quarters full is cut at such an edge.
  const bool full = file_bytes >= shape_.file_bytes || (at_boundary && file_bytes >= shape_.file_bytes / 4 * 3);
  const bool too_wide = passed_bytes_ > shape_.grandparent_bytes_max;
  const bool table_ends = new_table && table_bytes >= own_file_bytes(shape_);
  if (!full && !too_wide && !table_ends && !apart) return false;
  passed_bytes_ = 0;
  return true;
}

/// Returns true for a large table, so that its drop leaves nothing to rewrite. Also returns true for the first table
/// after the store's own tables (account zero), since these change whenever a table is created or dropped.
bool OutputCuts::stands_apart(TableId table) const noexcept {
  const bool first_of_users = table_ && format::account_of(*table_) == 0 && format::account_of(table) != 0;
  return first_of_users || large_tables_.contains(table);
}

bool OutputCuts::pass_grandparents(std::string_view key, bool counted) noexcept {
  bool passed = false;
  while (place_ < grandparents_.size() && grandparents_[place_]->entry.largest_key < key) {
    if (counted) passed_bytes_ += grandparents_[place_]->entry.size_bytes;
    passed = true;
    ++place_;
  }
  return passed;
}

}  // namespace varve::engine
