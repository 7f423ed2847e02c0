// Owns: a map from file numbers to values, as a value. Copies share their entries (shared_sequence.h).
// Must never: change an entry, since another copy may use it at the same time.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/shared_sequence.h"

namespace varve::engine {

/// A value, in the order of its numbers. A change that throws changes nothing.
template <typename Value>
class SharedMap {
 public:
  using value_type = std::pair<const std::uint64_t, Value>;
  using Entry = std::shared_ptr<const value_type>;
  using Entries = SharedSequence<Entry>;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = SharedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator() = default;
    explicit Iterator(typename Entries::Iterator place) noexcept : place_(place) {}
    reference operator*() const noexcept { return **place_; }
    pointer operator->() const noexcept { return place_->get(); }
    Iterator& operator++() noexcept {
      ++place_;
      return *this;
    }
    Iterator operator++(int) noexcept { return Iterator(place_++); }  // NOLINT(cert-dcl21-cpp)
    friend bool operator==(const Iterator& left, const Iterator& right) noexcept { return left.place_ == right.place_; }

   private:
    typename Entries::Iterator place_;
  };

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  Iterator begin() const noexcept { return Iterator(entries_.begin()); }
  Iterator end() const noexcept { return Iterator(entries_.end()); }
  Iterator find(std::uint64_t number) const noexcept {
    const std::size_t index = index_of(number);
    return index < size() && entries_[index]->first == number ? Iterator(entries_.begin() + signed_of(index)) : end();
  }
  /// Returns null if there is no such number.
  const Value* look_up(std::uint64_t number) const noexcept {
    const Entry* const found = entries_.find_first(before(number));
    return found != nullptr && (*found)->first == number ? &(*found)->second : nullptr;
  }
  bool contains(std::uint64_t number) const noexcept { return look_up(number) != nullptr; }
  /// The number must exist.
  const Value& at(std::uint64_t number) const noexcept {
    const Value* const found = look_up(number);
    assert(found != nullptr);
    return *found;
  }
  /// Returns zero if the map is empty.
  std::uint64_t largest_number() const noexcept { return empty() ? 0 : entries_.back()->first; }

  /// Returns false if the number exists; then nothing has changed.
  bool emplace(std::uint64_t number, Value value) {
    const std::size_t index = index_of(number);
    if (index < size() && entries_[index]->first == number) return false;
    entries_.insert(index, std::make_shared<const value_type>(number, std::move(value)));
    return true;
  }
  void insert_or_assign(std::uint64_t number, Value value) {
    const std::size_t index = index_of(number);
    Entry entry = std::make_shared<const value_type>(number, std::move(value));
    if (index < size() && entries_[index]->first == number) {
      entries_.replace(index, std::move(entry));
    } else {
      entries_.insert(index, std::move(entry));
    }
  }
  /// Returns false if the number does not exist.
  bool erase(std::uint64_t number) {
    const std::size_t index = index_of(number);
    if (index == size() || entries_[index]->first != number) return false;
    entries_.erase(index);
    return true;
  }
  /// Inserts all entries. Many are inserted in one pass over the map. Returns a number that existed, or that `added`
  /// contains twice; then nothing has changed.
  std::optional<std::uint64_t> insert_all(std::vector<Entry> added) {
    const auto is_less = [](const Entry& left, const Entry& right) { return left->first < right->first; };
    std::sort(added.begin(), added.end(), is_less);
    constexpr std::size_t kFew = 16;  // times this many insertions cost as much as one pass
    Entries all = entries_;
    if (added.size() * kFew < size()) {
      for (Entry& entry : added) {
        const std::size_t index = index_of_in(all, entry->first);
        if (index < all.size() && all[index]->first == entry->first) return entry->first;
        all.insert(index, std::move(entry));
      }
    } else {
      std::vector<Entry> merged;
      merged.reserve(size() + added.size());
      std::merge(entries_.begin(), entries_.end(), added.begin(), added.end(), std::back_inserter(merged), is_less);
      const auto is_same = [](const Entry& left, const Entry& right) { return left->first == right->first; };
      const auto twice = std::adjacent_find(merged.begin(), merged.end(), is_same);
      if (twice != merged.end()) return (*twice)->first;
      all = Entries(std::move(merged));
    }
    entries_ = std::move(all);
    return std::nullopt;
  }

  friend bool operator==(const SharedMap& left, const SharedMap& right) {
    return std::equal(left.entries_.begin(), left.entries_.end(), right.entries_.begin(), right.entries_.end(),
                      [](const Entry& one, const Entry& other) { return one == other || *one == *other; });
  }

 private:
  static auto before(std::uint64_t number) noexcept {
    return [number](const Entry& entry) { return entry->first < number; };
  }
  static std::size_t index_of_in(const Entries& entries, std::uint64_t number) noexcept {
    return entries.index_of_first(before(number));
  }
  std::size_t index_of(std::uint64_t number) const noexcept { return index_of_in(entries_, number); }
  static std::ptrdiff_t signed_of(std::size_t index) noexcept { return static_cast<std::ptrdiff_t>(index); }

  Entries entries_;
};

}  // namespace varve::engine
