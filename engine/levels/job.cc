// Owns: the comparison of jobs.
#include "engine/levels/job.h"

#include <algorithm>

namespace varve::engine {

KeyRange Job::range() const noexcept {
  KeyRange range = loaded != nullptr ? KeyRange{loaded->smallest, loaded->largest} : range_of_all(inputs);
  if (loaded != nullptr && !inputs.empty()) range = range.with(range_of_all(inputs));
  return overlapped.empty() ? range : range.with(range_of_all(overlapped));
}

bool Job::takes(std::uint64_t file_number) const noexcept {
  const auto is_it = [file_number](const LevelFilePtr& file) { return file->entry.number == file_number; };
  return std::any_of(inputs.begin(), inputs.end(), is_it) || std::any_of(overlapped.begin(), overlapped.end(), is_it);
}

bool conflict(const Job& one, const Job& other) noexcept {
  const auto taken = [&other](const LevelFilePtr& file) { return other.takes(file->entry.number); };
  if (std::any_of(one.inputs.begin(), one.inputs.end(), taken)) return true;
  if (std::any_of(one.overlapped.begin(), one.overlapped.end(), taken)) return true;
  // An unlink writes no files.
  if (one.kind == JobKind::kUnlink || other.kind == JobKind::kUnlink) return false;
  if (one.output_level < other.level || other.output_level < one.level) return false;
  return one.range().overlaps(other.range());
}

}  // namespace varve::engine
