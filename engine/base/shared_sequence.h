// Owns: a sequence of items as a value. Copies share their parts, so a change of one item copies a few small parts.
// Must never: change a part, since another copy may use it at the same time.
//
// The sequence is a tree in which all leaves have the same depth. A part has at most kWidth items or kWidth parts. A
// change makes new parts on the path from the root to one leaf: for 30,000 items, three parts.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace varve::engine {

/// The weight of items whose weight is never asked for.
struct NoWeight {
  template <typename T>
  constexpr std::uint64_t operator()(const T& /*item*/) const noexcept {
    return 0;
  }
};

/// A value. Different copies may be used by different threads. A change that throws changes nothing. `Weigh` returns
/// the weight of an item; sums of weights cost no more than the search for an item.
template <typename T, typename Weigh = NoWeight>
class SharedSequence {
  struct Part;
  using PartPtr = std::shared_ptr<const Part>;

 public:
  static constexpr std::size_t kWidth = 32;

  class Iterator;
  class Span;
  using value_type = T;
  using const_iterator = Iterator;  // NOLINT(readability-identifier-naming): the library's name

  SharedSequence() = default;
  explicit SharedSequence(std::vector<T> items) {
    std::vector<PartPtr> row;
    for (std::size_t begin = 0; begin < items.size(); begin += kFilled) {
      const std::size_t end = std::min(begin + kFilled, items.size());
      auto leaf = std::make_shared<Part>();
      leaf->items.assign(std::make_move_iterator(items.begin() + static_cast<std::ptrdiff_t>(begin)),
                         std::make_move_iterator(items.begin() + static_cast<std::ptrdiff_t>(end)));
      row.push_back(std::move(leaf));
    }
    while (row.size() > 1) row = parents_of(row);
    if (!row.empty()) root_ = std::move(row.front());
  }

  std::size_t size() const noexcept { return root_ == nullptr ? 0 : root_->size(); }
  bool empty() const noexcept { return root_ == nullptr; }
  const T& operator[](std::size_t index) const noexcept { return item_at(root_.get(), index); }
  const T& front() const noexcept { return (*this)[0]; }
  const T& back() const noexcept { return root_->last(); }
  Iterator begin() const noexcept { return Iterator(root_.get(), 0); }
  Iterator end() const noexcept { return Iterator(root_.get(), size()); }
  /// Returns `count` items from `first`, valid as long as some copy of this sequence is unchanged.
  Span span(std::size_t first, std::size_t count) const noexcept { return Span(root_.get(), first, count); }
  /// Copies all items. A change of the copy costs as much as it has items.
  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }  // NOLINT: lists of items are copied so

  /// Returns the sum of the weights of all items, or of the first `count` items.
  std::uint64_t weight() const noexcept { return root_ == nullptr ? 0 : root_->weight(); }
  std::uint64_t weight_of_first(std::size_t count) const noexcept { return weight_before(root_.get(), count); }

  /// Returns the first item for which `is_before` is false, or null. `is_before` is true for a row of leading items.
  template <typename IsBefore>
  const T* find_first(const IsBefore& is_before) const noexcept {
    return search(is_before, [](std::size_t /*passed*/) {});
  }
  /// Returns the index of that item, or size().
  template <typename IsBefore>
  std::size_t index_of_first(const IsBefore& is_before) const noexcept {
    std::size_t index = 0;
    (void)search(is_before, [&index](std::size_t passed) { index += passed; });
    return index;
  }

  /// Inserts the item before the item at `index`, which may be size().
  void insert(std::size_t index, T item) {
    assert(index <= size());
    if (root_ == nullptr) {
      auto leaf = std::make_shared<Part>();
      leaf->items.push_back(std::move(item));
      root_ = std::move(leaf);
      return;
    }
    Halves grown = with_item(*root_, index, item);
    root_ = grown.second == nullptr ? std::move(grown.first) : parents_of({grown.first, grown.second}).front();
  }
  void replace(std::size_t index, T item) {
    assert(index < size());
    root_ = with_replaced(*root_, index, item);
  }
  void erase(std::size_t index) {
    assert(index < size());
    PartPtr root = without_item(*root_, index);
    while (root != nullptr && root->children.size() == 1) root = root->children.front().part;
    root_ = std::move(root);
  }

 private:
  /// Parts that are built at once are filled to here, so that the next insertion splits nothing.
  static constexpr std::size_t kFilled = kWidth * 3 / 4;

  struct Child {
    PartPtr part;
    const T* last;  // its last item
    std::size_t size;
    std::uint64_t weight;
  };

  /// Never empty. Has either items or children.
  struct Part {
    std::vector<T> items;
    std::vector<Child> children;

    std::size_t width() const noexcept { return items.size() + children.size(); }
    const T& last() const noexcept { return children.empty() ? items.back() : *children.back().last; }
    std::size_t size() const noexcept {
      std::size_t sum = items.size();
      for (const Child& child : children) sum += child.size;
      return sum;
    }
    std::uint64_t weight() const noexcept {
      std::uint64_t sum = 0;
      for (const T& item : items) sum += Weigh()(item);
      for (const Child& child : children) sum += child.weight;
      return sum;
    }
  };

  /// A part that was changed. `second` is null unless it became too wide.
  struct Halves {
    PartPtr first;
    PartPtr second;
  };

  static Child child_of(PartPtr part) noexcept {
    const Part& seen = *part;
    return {std::move(part), &seen.last(), seen.size(), seen.weight()};
  }

  static std::vector<PartPtr> parents_of(const std::vector<PartPtr>& row) {
    std::vector<PartPtr> parents;
    for (std::size_t begin = 0; begin < row.size(); begin += kFilled) {
      auto parent = std::make_shared<Part>();
      for (std::size_t at = begin; at < std::min(begin + kFilled, row.size()); ++at) {
        parent->children.push_back(child_of(row[at]));
      }
      parents.push_back(std::move(parent));
    }
    return parents;
  }

  /// Returns the child with the item at `index`, which becomes the index within the child.
  static std::size_t child_at(const Part& part, std::size_t& index) noexcept {
    std::size_t at = 0;
    while (index >= part.children[at].size && at + 1 < part.children.size()) index -= part.children[at++].size;
    return at;
  }

  template <typename U>
  static std::vector<U> cut_second_half(std::vector<U>& all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::vector<U> half(std::make_move_iterator(middle), std::make_move_iterator(all.end()));
    all.erase(middle, all.end());
    return half;
  }

  static Halves split_if_wide(std::shared_ptr<Part> part) {
    if (part->width() <= kWidth) return {std::move(part), nullptr};
    auto second = std::make_shared<Part>();
    second->items = cut_second_half(part->items);
    second->children = cut_second_half(part->children);
    return {std::move(part), std::move(second)};
  }

  static Halves with_item(const Part& part, std::size_t index, T& item) {
    auto copy = std::make_shared<Part>();
    if (part.children.empty()) {
      const auto middle = part.items.begin() + static_cast<std::ptrdiff_t>(index);
      copy->items.reserve(part.items.size() + 1);
      copy->items.assign(part.items.begin(), middle);
      copy->items.push_back(std::move(item));
      copy->items.insert(copy->items.end(), middle, part.items.end());
      return split_if_wide(std::move(copy));
    }
    const std::size_t at = child_at(part, index);
    Halves grown = with_item(*part.children[at].part, index, item);
    copy->children.reserve(part.children.size() + 1);
    copy->children = part.children;
    copy->children[at] = child_of(std::move(grown.first));
    if (grown.second != nullptr) {
      copy->children.insert(copy->children.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                            child_of(std::move(grown.second)));
    }
    return split_if_wide(std::move(copy));
  }

  static PartPtr with_replaced(const Part& part, std::size_t index, T& item) {
    auto copy = std::make_shared<Part>(part);
    if (part.children.empty()) {
      copy->items[index] = std::move(item);
    } else {
      const std::size_t at = child_at(part, index);
      copy->children[at] = child_of(with_replaced(*part.children[at].part, index, item));
    }
    return copy;
  }

  /// Returns null if nothing remains.
  static PartPtr without_item(const Part& part, std::size_t index) {
    if (part.width() == 1 && part.children.empty()) return nullptr;
    auto copy = std::make_shared<Part>(part);
    if (part.children.empty()) {
      copy->items.erase(copy->items.begin() + static_cast<std::ptrdiff_t>(index));
      return copy;
    }
    const std::size_t at = child_at(part, index);
    PartPtr less = without_item(*part.children[at].part, index);
    if (less == nullptr) {
      copy->children.erase(copy->children.begin() + static_cast<std::ptrdiff_t>(at));
      if (copy->children.empty()) return nullptr;
      return copy;
    }
    copy->children[at] = child_of(std::move(less));
    const std::size_t place = at > 0 && join(*copy, at - 1) ? at - 1 : at;
    if (place + 1 < copy->children.size()) (void)join(*copy, place);
    return copy;
  }

  /// Joins the child at `at` with the next one if they are small, so that many removals leave no row of small parts.
  static bool join(Part& part, std::size_t at) {
    const Part& first = *part.children[at].part;
    const Part& second = *part.children[at + 1].part;
    if (first.width() + second.width() > kFilled) return false;
    auto both = std::make_shared<Part>(first);
    both->items.insert(both->items.end(), second.items.begin(), second.items.end());
    both->children.insert(both->children.end(), second.children.begin(), second.children.end());
    part.children[at] = child_of(std::move(both));
    part.children.erase(part.children.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return true;
  }

  /// Calls `pass` with the number of items that each step passes.
  template <typename IsBefore, typename Pass>
  const T* search(const IsBefore& is_before, const Pass& pass) const noexcept {
    const Part* part = root_.get();
    if (part == nullptr) return nullptr;
    while (!part->children.empty()) {
      const auto child = std::partition_point(part->children.begin(), part->children.end(),
                                              [&](const Child& each) { return is_before(*each.last); });
      for (auto passed = part->children.begin(); passed != child; ++passed) pass(passed->size);
      if (child == part->children.end()) return nullptr;
      part = child->part.get();
    }
    const auto item = std::partition_point(part->items.begin(), part->items.end(), is_before);
    pass(static_cast<std::size_t>(item - part->items.begin()));
    return item == part->items.end() ? nullptr : &*item;
  }

  /// Returns the leaf with the item at `index`, which becomes the index within the leaf.
  static const Part& leaf_at(const Part* part, std::size_t& index) noexcept {
    while (!part->children.empty()) part = part->children[child_at(*part, index)].part.get();
    return *part;
  }
  static const T& item_at(const Part* root, std::size_t index) noexcept {
    const Part& leaf = leaf_at(root, index);
    assert(index < leaf.items.size());
    return leaf.items[index];
  }

  static std::uint64_t weight_before(const Part* part, std::size_t count) noexcept {
    std::uint64_t sum = 0;
    while (part != nullptr && !part->children.empty()) {
      const std::size_t at = child_at(*part, count);
      for (std::size_t before = 0; before < at; ++before) sum += part->children[before].weight;
      part = part->children[at].part.get();
    }
    for (std::size_t item = 0; item < count; ++item) sum += Weigh()(part->items[item]);
    return sum;
  }

  PartPtr root_;

 public:
  /// Valid as long as some copy of its sequence is unchanged.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const Part* root, std::size_t index) noexcept : root_(root) { move_to(index); }

    reference operator*() const noexcept { return items_[index_ - first_]; }
    pointer operator->() const noexcept { return &**this; }
    reference operator[](difference_type steps) const noexcept { return *(*this + steps); }
    Iterator& operator+=(difference_type steps) noexcept {
      move_to(static_cast<std::size_t>(static_cast<difference_type>(index_) + steps));
      return *this;
    }
    Iterator& operator-=(difference_type steps) noexcept { return *this += -steps; }
    Iterator& operator++() noexcept { return *this += 1; }
    Iterator& operator--() noexcept { return *this -= 1; }
    Iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }  // NOLINT(cert-dcl21-cpp)
    Iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }  // NOLINT(cert-dcl21-cpp)
    friend Iterator operator+(Iterator from, difference_type steps) noexcept { return from += steps; }
    friend Iterator operator+(difference_type steps, Iterator from) noexcept { return from += steps; }
    friend Iterator operator-(Iterator from, difference_type steps) noexcept { return from -= steps; }
    friend difference_type operator-(const Iterator& to, const Iterator& from) noexcept {
      return static_cast<difference_type>(to.index_) - static_cast<difference_type>(from.index_);
    }
    friend bool operator==(const Iterator& left, const Iterator& right) noexcept { return left.index_ == right.index_; }
    friend auto operator<=>(const Iterator& left, const Iterator& right) noexcept {
      return left.index_ <=> right.index_;
    }

   private:
    void move_to(std::size_t index) noexcept {
      index_ = index;
      if (index >= first_ && index < end_) return;
      if (root_ == nullptr) return;
      std::size_t within = index;
      const Part& leaf = leaf_at(root_, within);
      if (within >= leaf.items.size()) return;  // at the end
      items_ = leaf.items.data();
      first_ = index - within;
      end_ = first_ + leaf.items.size();
    }

    const Part* root_ = nullptr;
    std::size_t index_ = 0;
    const T* items_ = nullptr;  // of one leaf, from first_ to end_
    std::size_t first_ = 0;
    std::size_t end_ = 0;
  };

  /// Neighbouring items.
  class Span {
   public:
    using value_type = T;
    using const_iterator = Iterator;  // NOLINT(readability-identifier-naming): the library's name

    Span() = default;
    Span(const Part* root, std::size_t first, std::size_t count) noexcept : root_(root), first_(first), count_(count) {}

    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    const T& operator[](std::size_t index) const noexcept { return item_at(root_, first_ + index); }
    const T& front() const noexcept { return (*this)[0]; }
    const T& back() const noexcept { return (*this)[count_ - 1]; }
    Iterator begin() const noexcept { return Iterator(root_, first_); }
    Iterator end() const noexcept { return Iterator(root_, first_ + count_); }
    std::uint64_t weight() const noexcept {
      return weight_before(root_, first_ + count_) - weight_before(root_, first_);
    }

   private:
    const Part* root_ = nullptr;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };
};

}  // namespace varve::engine
