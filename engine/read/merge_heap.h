// Owns: finding which of several iterations has the smallest entry or, backward, the greatest.
// Must never: compare an entry of an iteration that has moved since the entry was read.
//
// G1  every iteration that has not ended is at its first entry that does not come before the top's entry, in the heap's
//     direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/entry_cursor.h"

namespace varve::engine {

enum class Direction : std::uint8_t { kForward, kBackward };

/// A heap of iterations that it does not own, named by their indexes in a list. If two have an equal (sort key,
/// version), the earlier one comes first forward, and last backward.
template <Direction kDirection>
class DirectedMergeHeap {
 public:
  struct Head {
    Entry entry;
    std::size_t walk = 0;
  };

  void reserve(std::size_t count) { heads_.reserve(count); }
  void clear() noexcept {
    heads_.clear();
    forget_order();
  }
  bool empty() const noexcept { return heads_.empty(); }
  const Head& top() const noexcept { return heads_.front(); }
  /// Returns the head that comes after the top, or null.
  const Head* second() const noexcept {
    if (heads_.size() < 2) return nullptr;
    if (second_ == kUnknown) second_ = heads_.size() > 2 && comes_later(heads_[1], heads_[2]) ? 2 : 1;
    return &heads_[second_];
  }
  /// Returns whether no other iteration is at the key of the top.
  bool is_key_alone() noexcept {
    if (!is_key_alone_) is_key_alone_ = heads_.size() < 2 || second()->entry.sort_key != top().entry.sort_key;
    return is_key_alone_;
  }

  void add(const Entry& entry, std::size_t walk) { heads_.push_back({entry, walk}); }
  /// Called after the last add().
  void order() noexcept {
    forget_order();
    std::make_heap(heads_.begin(), heads_.end(), comes_later);
  }

  /// The iteration at the top has moved to `entry`. Mostly it stays at the top, and nothing else moves.
  void replace_top(const Entry& entry) noexcept {
    heads_.front().entry = entry;
    if (heads_.size() == 1) return;
    const int compared = entry.sort_key.compare(second()->entry.sort_key);
    is_key_alone_ = kDirection == Direction::kForward ? compared < 0 : compared > 0;
    if (!is_key_alone_) sift_down();
  }
  /// The iteration at the top has ended.
  void remove_top() noexcept {
    heads_.front() = heads_.back();
    heads_.pop_back();
    forget_order();
    if (!heads_.empty()) sift_down();
  }

 private:
  static bool comes_later(const Head& a, const Head& b) noexcept {
    return kDirection == Direction::kForward ? is_behind(a, b) : is_behind(b, a);
  }
  static bool is_behind(const Head& a, const Head& b) noexcept {
    if (const int compared = a.entry.sort_key.compare(b.entry.sort_key); compared != 0) return compared > 0;
    if (a.entry.version != b.entry.version) return a.entry.version < b.entry.version;
    return a.walk > b.walk;
  }

  void forget_order() noexcept {
    second_ = kUnknown;
    is_key_alone_ = false;
  }

  /// Moves the top down, because it may come later than its children.
  void sift_down() noexcept {
    forget_order();
    if (heads_.size() == 1) return;
    const Head moving = heads_.front();
    std::size_t at = 0;
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heads_.size()) break;
      if (child + 1 < heads_.size() && comes_later(heads_[child], heads_[child + 1])) ++child;
      if (!comes_later(moving, heads_[child])) break;
      heads_[at] = heads_[child];
      at = child;
    }
    heads_[at] = moving;
  }

  static constexpr std::size_t kUnknown = 0;

  std::vector<Head> heads_;
  mutable std::size_t second_ = kUnknown;  // the place of the head after the top
  bool is_key_alone_ = false;              // false: perhaps
};

using MergeHeap = DirectedMergeHeap<Direction::kForward>;

}  // namespace varve::engine
