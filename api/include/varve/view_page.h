// SPDX-License-Identifier: Apache-2.0
// Owns: a page of a scan as views of one memory, for callers that keep a page and need no objects of their own.
// Must never: move an entity's memory while the page exists.
//
//   Result<ViewPage> page = scan_views(table, scan);
//   for (const EntityView& entity : page->entities.all()) total += entity.properties.size();
//
// Such a page takes a half to two thirds of the processor time of Table::scan(), because no text has memory of its own.
// For entities of hundreds of properties it takes a third.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "entity_view.h"
#include "query.h"
#include "result.h"
#include "table.h"
#include "version.h"

namespace varve {

/// A list of entities in one memory. It copies each added entity, and its views are valid as long as the list. A list that
/// is moved keeps its memory, and with it the views. Use it from one thread at a time.
class VARVE_EXPORT EntityViews {
 public:
  EntityViews() noexcept;
  EntityViews(EntityViews&& other) noexcept;
  EntityViews& operator=(EntityViews&& other) noexcept;
  ~EntityViews();

  /// Returns the entities in the order in which they were added. The span is valid until add().
  /// @{
  std::span<const EntityView> all() const& noexcept;
  /// Refused by the compiler: the views would point into a temporary.
  template <typename T = EntityView>
  std::span<const T> all() && noexcept {
    static_assert(result_detail::kNever<T>, "a temporary list ends before its views: hold the list in a variable");
    return {};
  }
  /// @}
  /// Returns the number of entities.
  std::size_t size() const noexcept;
  /// Returns the bytes of memory that the list holds.
  std::size_t memory_bytes() const noexcept;

  /// Appends a copy of the entity, for example in a reader of AsyncTable::scan_in_place. Throws only std::bad_alloc,
  /// and the list is then as before.
  void add(const EntityView& entity);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One page of a scan, as Page.
struct ViewPage {
  /// The entities in key order; for a backward scan, in reverse key order.
  EntityViews entities;
  /// As Page::continuation.
  std::optional<std::string> continuation;
  /// The cost of this page alone.
  PageCost cost;
};

/// Does Table::scan(), and returns the page as views. Errors: as Table::scan().
VARVE_EXPORT Result<ViewPage> scan_views(const Table& table, const Scan& scan);

}  // namespace varve
