// Owns: which of several walks comes first: is at the smallest entry or, of walks backward, at the greatest.
// Must never: compare an entry of a walk that has moved since it was read.
//
// G1  every walk but the ended ones stands at its first entry that does not come before the one at the top, in the
//     heap's direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/entry_cursor.h"

namespace varve::engine {

enum class Direction : std::uint8_t { kForward, kBackward };

/// Over walks that it does not own, known by their places in a list. Where two hold the same (sort key, version), the
/// one of the earlier walk comes first forward, and last backward.
template <Direction kDirection>
class DirectedMergeHeap {
 public:
  struct Head {
    Entry entry;
    std::size_t walk = 0;
  };

  void reserve(std::size_t count) { heads_.reserve(count); }
  void clear() noexcept { heads_.clear(); }
  bool empty() const noexcept { return heads_.empty(); }
  const Head& top() const noexcept { return heads_.front(); }
  /// The next one after the top, or null.
  const Head* second() const noexcept {
    if (heads_.size() < 2) return nullptr;
    const bool right = heads_.size() > 2 && comes_later(heads_[1], heads_[2]);
    return right ? &heads_[2] : &heads_[1];
  }

  void add(const Entry& entry, std::size_t walk) { heads_.push_back({entry, walk}); }
  /// After the last add().
  void order() noexcept { std::make_heap(heads_.begin(), heads_.end(), comes_later); }

  /// The walk at the top has moved to `entry`.
  void replace_top(const Entry& entry) noexcept {
    heads_.front().entry = entry;
    sift_down();
  }
  /// The walk at the top has ended.
  void remove_top() noexcept {
    heads_.front() = heads_.back();
    heads_.pop_back();
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

  /// The one at the top may come later than those below it.
  void sift_down() noexcept {
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

  std::vector<Head> heads_;
};

using MergeHeap = DirectedMergeHeap<Direction::kForward>;

}  // namespace varve::engine
