// SPDX-License-Identifier: Apache-2.0
// Owns: reading all pages of a scan, page by page or entity by entity.
// Must never: read a page before it is needed, or end early without an error.
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
#include "version.h"

namespace varve {

/// The pages of one scan, one after another. Use it from one thread at a time. The pages are not one state of the
/// table, unless the scan reads at a snapshot. The caller may stop at any time; later pages are then not read.
class VARVE_EXPORT PageCursor {
 public:
  /// The value of `take` that does not limit the number of entities.
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  /// Returns at most `take` entities in all. The pages are as large as `scan` says, and begin at its continuation. If
  /// `scan.page_entities_max` is zero, there are no pages.
  explicit PageCursor(Table table, Scan scan, std::uint64_t take = kNoLimit);
  /// Makes a scan that returns this error once, and ends.
  explicit PageCursor(Status error);

  /// Returns the next page. A page may be short or empty although more pages follow. Returns nothing at the end, and
  /// after an error. Errors: as Table::scan.
  Result<std::optional<Page>> next();

  /// Returns the token for Scan::continuation with which a later scan goes on after the pages that next() returned. It
  /// is valid in another process, too. After an error it is the start of the failed page. Not set at the end of
  /// the range, and as long as no page was read, unless the scan began with a token.
  /// @{
  const std::optional<std::string>& continuation() const& noexcept { return continuation_; }
  std::optional<std::string> continuation() && noexcept { return std::move(continuation_); }
  /// @}
  /// Returns the cost so far. `key_ranges` is that of the first page (PageCost); all other figures are sums over the pages.
  /// @{
  const PageCost& cost() const& noexcept { return cost_; }
  PageCost cost() && noexcept { return std::move(cost_); }
  /// @}

 private:
  std::optional<Table> table_;
  Scan scan_;
  std::uint64_t left_ = 0;
  bool ended_ = false;
  std::optional<std::string> continuation_;
  PageCost cost_;
  Status error_;
};

/// The entities of one scan, each as a `T`:
///
///   for (Result<Order>& order : cursor) {
///     if (!order.ok()) return order.status();
///     total += order->total;
///   }
///
/// If an error ends the scan, it is the last element. It cannot be overlooked: reading the value of a failed Result
/// aborts the process. Each page is read when the loop needs it.
///
/// A cursor can be iterated once: begin() continues at the current position. Use it from one thread at a time. `Pages`
/// is the source of the entities: PageCursor or MergedPages. Source: C-06.
template <typename T, typename Pages = PageCursor>
class Cursor {
 public:
  /// Converts an entity of the scan to a `T`.
  using Resolver = std::function<Result<T>(Entity&&)>;

  /// Makes a cursor over these pages, whose elements `resolver` makes. Reads nothing yet.
  Cursor(Pages pages, Resolver resolver) : pages_(std::move(pages)), resolver_(std::move(resolver)) {}

  /// Returns the next element. Returns nothing after the last element and after an error.
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

  /// Returns the next element, or nothing at the end. Errors: as Table::scan, and those of the resolver.
  Result<std::optional<T>> first() {
    std::optional<Result<T>> found = next();
    if (!found) return std::optional<T>();
    if (!found->ok()) return found->status();
    return std::optional<T>(*std::move(*found));
  }

  /// Returns all remaining elements. After an error, returns only the error.
  Result<std::vector<T>> all() {
    std::vector<T> found;
    while (std::optional<Result<T>> element = next()) {
      if (!element->ok()) return element->status();
      found.push_back(*std::move(*element));
    }
    return found;
  }

  /// Returns the cost so far, as PageCursor::cost() or MergedPages::cost().
  PageCost cost() const { return pages_.cost(); }

  /// An input iterator over the remaining elements. The cursor must outlive it.
  class Iterator {
   public:
    /// Types that std::input_iterator requires.
    /// @{
    using value_type = Result<T>;
    using difference_type = std::ptrdiff_t;
    /// @}

    /// Reads the next element of the cursor.
    explicit Iterator(Cursor& cursor) : cursor_(&cursor), element_(cursor.next()) {}
    /// Returns the current element, which the caller may move from. Must not be called at the end.
    /// @{
    Result<T>& operator*() const { return *element_; }
    Result<T>* operator->() const { return &*element_; }
    /// @}
    /// Reads the next element of the cursor, which replaces the current one.
    /// @{
    Iterator& operator++() {
      element_ = cursor_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    /// @}
    /// Returns whether the cursor has no more elements.
    bool operator==(std::default_sentinel_t /*end*/) const noexcept { return !element_.has_value(); }

   private:
    Cursor* cursor_;
    mutable std::optional<Result<T>> element_;  // a loop may move the value out
  };

  /// Returns an iterator at the next element, which this call reads.
  Iterator begin() { return Iterator(*this); }
  /// Returns the end of every cursor.
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

/// Returns the entities of a scan unchanged.
VARVE_EXPORT Cursor<Entity> open_cursor(Table table, Scan scan, std::uint64_t take = PageCursor::kNoLimit);

}  // namespace varve
