// Owns: sets of keys as unions of boxes: an interval of PartitionKeys by an interval of RowKeys; and the work that
// joining them may take.
// Must never: leave out a key that belongs to the set. Where the work would grow too large, a set grows instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/filter/filter.h"

namespace varve {

/// Encoded texts from `lower` on, up to but without `upper`, or to the end. Texts are compared by their encodings in
/// sort keys, whose order is that of the texts and none of which is a prefix of another.
struct KeyTexts {
  std::string lower;
  std::optional<std::string> upper;
  /// It holds one text, `lower`.
  bool is_point = false;

  bool is_empty() const noexcept { return upper.has_value() && *upper <= lower; }
  bool is_everything() const noexcept { return lower.empty() && !upper; }
};

struct KeyBox {
  KeyTexts partition_keys;
  KeyTexts row_keys;

  bool is_empty() const noexcept { return partition_keys.is_empty() || row_keys.is_empty(); }
  bool is_everything() const noexcept { return partition_keys.is_everything() && row_keys.is_everything(); }
};

/// Counts the steps of a plan, and holds those that could be many to n log n of the filter's comparisons.
class PlanEffort {
 public:
  explicit PlanEffort(std::size_t comparisons) noexcept;
  /// False: these steps are too many, and were not counted.
  bool spend(std::uint64_t steps) noexcept;
  /// Steps that are few in any case.
  void count(std::uint64_t steps) noexcept { spent_ += steps; }
  std::uint64_t spent() const noexcept { return spent_; }

 private:
  std::uint64_t left_;
  std::uint64_t spent_ = 0;
};

/// The keys that a node of a filter can match.
struct KeyCover {
  /// None: no key.
  std::vector<KeyBox> boxes = {KeyBox()};
  /// The node matches every entity with such a key: nothing of it is left to be judged.
  bool is_exact = false;
  bool names_row_keys = false;

  bool is_everything() const noexcept { return boxes.size() == 1 && boxes.front().is_everything(); }
};

KeyCover cover_of(const Comparison& comparison);
/// What any of them holds.
KeyCover union_of(std::vector<KeyCover> covers, PlanEffort& effort);
/// What all of them hold, and perhaps more: `left_out[i]` says that the cover i was not used.
KeyCover intersection_of(std::vector<KeyCover> covers, std::vector<bool>& left_out, PlanEffort& effort);

}  // namespace varve
