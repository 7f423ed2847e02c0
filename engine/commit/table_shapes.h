// Owns: the shapes of tables, by which the leader knows batches that were made before a table's indexes changed.
// Must never: allocate between the assignment of a version and its publication: reserve() comes first, then set().
//
// A shape is a number for the set of indexes that writers of the table maintain. A commit that changes the set gives the
// table another shape. Only changes since the store was opened are noted, because every batch rests on rows that were read
// after the open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/keys/sort_key.h"
#include "varve/status.h"

namespace varve::engine {

/// The shape of a table that never had another one.
inline constexpr std::uint64_t kFirstShape = 0;
/// Means every shape, in a batch that writes no entity of the table.
inline constexpr std::uint64_t kAnyShape = UINT64_MAX;

/// The error string of a commit that was made for another shape of its table. It is no string of the table service.
inline constexpr ErrorName kTableReshaped("TableReshaped");

struct TableShape {
  format::TableId table = 0;
  std::uint64_t shape = kFirstShape;
};

/// The owner guards it.
class TableShapes {
  template <typename Shapes>
  static auto find(Shapes& shapes, format::TableId table) noexcept {
    return std::lower_bound(shapes.begin(), shapes.end(), table,
                            [](const TableShape& shape, format::TableId sought) { return shape.table < sought; });
  }

 public:
  bool empty() const noexcept { return changed_.empty(); }
  /// Makes room for `count` more tables. May throw std::bad_alloc; then nothing has changed.
  void reserve(std::size_t count) {
    const std::size_t needed = changed_.size() + count;
    if (needed > changed_.capacity()) changed_.reserve(std::max(needed, 2 * changed_.capacity()));
  }
  /// Sets the table's shape. The caller has reserved room.
  void set(const TableShape& shape) noexcept {
    const auto place = find(changed_, shape.table);
    if (place != changed_.end() && place->table == shape.table) {
      place->shape = shape.shape;
    } else {
      changed_.insert(place, shape);
    }
  }
  /// Returns whether a batch for these tables, made for these shapes, may be committed. A table that `made_for` does not
  /// name has kFirstShape there.
  bool allow(std::span<const format::TableId> tables, std::span<const TableShape> made_for) const noexcept {
    return std::all_of(tables.begin(), tables.end(), [&](format::TableId table) {
      const auto place = find(changed_, table);
      if (place == changed_.end() || place->table != table) return true;
      const auto made = std::find_if(made_for.begin(), made_for.end(),
                                     [table](const TableShape& shape) { return shape.table == table; });
      const std::uint64_t shape = made == made_for.end() ? kFirstShape : made->shape;
      return shape == kAnyShape || shape == place->shape;
    });
  }

 private:
  std::vector<TableShape> changed_;  // by table
};

}  // namespace varve::engine
