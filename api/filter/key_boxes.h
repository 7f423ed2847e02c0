// Owns: sets of keys as unions of boxes, and the effort that joining them may take. A box is an interval of
// PartitionKeys by an interval of RowKeys.
// Must never: leave out a key of the set. If the effort would be too large, the set grows instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/filter/filter.h"

namespace varve {

/// The encoded texts in [lower, upper). Without `upper` there is no upper bound. Texts are compared in the encoding of
/// sort keys, which keeps their order; no encoding is a prefix of another one.
struct KeyTexts {
  std::string lower;
  std::optional<std::string> upper;
  /// True if the interval holds only the text `lower`.
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

/// Counts the steps of a plan, and limits expensive steps to n log n for a filter of n comparisons.
class PlanEffort {
 public:
  explicit PlanEffort(std::size_t comparisons) noexcept;
  /// Returns false, and counts nothing, if these steps would exceed the limit.
  bool spend(std::uint64_t steps) noexcept;
  /// Counts steps that are few in any case.
  void count(std::uint64_t steps) noexcept { spent_ += steps; }
  std::uint64_t spent() const noexcept { return spent_; }

 private:
  std::uint64_t left_;
  std::uint64_t spent_ = 0;
};

/// The keys that a node of a filter can match.
struct KeyCover {
  /// If empty, the node matches no key.
  std::vector<KeyBox> boxes = {KeyBox()};
  /// True if the node matches every entity with such a key. Then nothing of it remains to be evaluated.
  bool is_exact = false;
  bool names_row_keys = false;

  bool is_everything() const noexcept { return boxes.size() == 1 && boxes.front().is_everything(); }
};

KeyCover cover_of(const Comparison& comparison);
/// Returns the union of the covers.
KeyCover union_of(std::vector<KeyCover> covers, PlanEffort& effort);
/// Returns the intersection of the covers, or more. If `left_out[i]` is set, cover i was not used.
KeyCover intersection_of(std::vector<KeyCover> covers, std::vector<bool>& left_out, PlanEffort& effort);

}  // namespace varve
