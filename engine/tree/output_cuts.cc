// Owns: the rules by which outputs are cut.
#include "engine/tree/output_cuts.h"

namespace varve::engine {

OutputCuts::OutputCuts(const Levels& levels, const Job& job, const TreeShape& shape) : shape_(shape) {
  if (job.output_level > 0 && job.output_level < kLastLevel) {
    grandparents_ = levels.overlapping(job.output_level + 1, job.range());
  }
}

bool OutputCuts::begins_new_file(std::string_view key, std::uint64_t file_bytes, std::uint64_t table_bytes,
                                 bool same_table) noexcept {
  const bool empty = file_bytes == 0;
  const bool at_boundary = pass_grandparents(key, !empty);
  if (empty) return false;
  // At the edge of a file below, a cut saves the next step down from touching that file twice; one that is nearly full
  // waits for nothing better.
  const bool full = file_bytes >= shape_.file_bytes || (at_boundary && file_bytes >= shape_.file_bytes / 4 * 3);
  const bool too_wide = passed_bytes_ > shape_.grandparent_bytes_max;
  const bool table_ends = !same_table && table_bytes >= own_file_bytes(shape_);
  if (!full && !too_wide && !table_ends) return false;
  passed_bytes_ = 0;
  return true;
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
