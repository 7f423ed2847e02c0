// SPDX-License-Identifier: Apache-2.0
// Owns: going through all pages of a scan: entity by entity, or page by page.
// Must never: read a page before it is needed, or end early without saying why.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query.h"
#include "result.h"
#include "status.h"
#include "table.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// The pages of one scan, one after the other. One object, one thread at a time. Pages are not one state of the table
/// together, unless the scan reads at a snapshot. It may be left at any time: what was not asked for is not read.
class PageWalk {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  /// At most `take` entities in all; page sizes are as `scan` has them, which begins at its continuation.
  explicit PageWalk(Table table, Scan scan, std::uint64_t take = kNoLimit);
  /// A walk that gives this error and ends.
  explicit PageWalk(Status error);

  /// The next page, which may be short or empty though others follow; nothing at the end, and after an error.
  /// Errors: as Table::scan.
  Result<std::optional<Page>> next();

  /// Where a later walk of the same scan goes on, behind the pages that next() gave: a token for Scan::continuation,
  /// good in another process too. Nothing: at the end of the range. After an error: where that page began.
  const std::optional<std::string>& continuation() const noexcept { return continuation_; }
  /// What the pages cost together; key_ranges is that of the first.
  const PageCost& cost() const noexcept { return cost_; }

 private:
  std::optional<Table> table_;
  Scan scan_;
  std::uint64_t left_ = 0;
  bool ended_ = false;
  std::optional<std::string> continuation_;
  PageCost cost_;
  Status error_;
};

/// The entities of one scan, each as a `T`, or why there are no more:
///
///   for (Result<Order>& order : walk) {
///     if (!order.ok()) return order.status();
///     total += order->total;
///   }
///
/// An error is the last element. It cannot be overlooked: who takes the value of a Result that has none ends the
/// process. Pages are read when the loop comes to them. One pass: begin() goes on where the walk stands. One object,
/// one thread at a time. `Pages` is where the entities come from: PageWalk, or MergedPages. Source: C-06.
template <typename T, typename Pages = PageWalk>
class Walk {
 public:
  /// Makes a `T` of an entity that the scan returned.
  using Resolver = std::function<Result<T>(Entity&&)>;

  Walk(Pages pages, Resolver resolver) : pages_(std::move(pages)), resolver_(std::move(resolver)) {}

  /// The next one; nothing behind the last, or behind an error.
  std::optional<Result<T>> next() {
    if (ended_) return std::nullopt;
    while (at_ == page_.size()) {
      Result<std::optional<Page>> page = pages_.next();
      if (!page.ok()) return end_with(page.status());
      if (!page->has_value()) {
        ended_ = true;
        return std::nullopt;
      }
      page_ = std::move((*page)->entities);
      at_ = 0;
    }
    Result<T> resolved = resolver_(std::move(page_[at_++]));
    ended_ = !resolved.ok();
    return resolved;
  }

  /// The next one, if there is one. Errors: as Table::scan, and those of the resolver.
  Result<std::optional<T>> first() {
    std::optional<Result<T>> found = next();
    if (!found) return std::optional<T>();
    if (!found->ok()) return found->status();
    return std::optional<T>(*std::move(*found));
  }

  /// All that are left; nothing of them after an error.
  Result<std::vector<T>> all() {
    std::vector<T> found;
    while (std::optional<Result<T>> element = next()) {
      if (!element->ok()) return element->status();
      found.push_back(*std::move(*element));
    }
    return found;
  }

  /// What was read for it so far.
  PageCost cost() const { return pages_.cost(); }

  class Iterator {
   public:
    using value_type = Result<T>;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Walk& walk) : walk_(&walk), element_(walk.next()) {}
    Result<T>& operator*() const { return *element_; }
    Result<T>* operator->() const { return &*element_; }
    Iterator& operator++() {
      element_ = walk_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t /*end*/) const noexcept { return !element_.has_value(); }

   private:
    Walk* walk_;
    mutable std::optional<Result<T>> element_;  // a loop may move the value out
  };

  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Result<T> end_with(const Status& status) {
    ended_ = true;
    return status;
  }

  Pages pages_;
  Resolver resolver_;
  std::vector<Entity> page_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

/// The entities of a scan as they are.
Walk<Entity> walk(Table table, Scan scan, std::uint64_t take = PageWalk::kNoLimit);

}  // namespace varve

#pragma GCC visibility pop
