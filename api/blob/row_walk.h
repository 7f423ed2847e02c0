// Owns: the walk over the rows of a range that continues after rows that cannot be read.
// Must never: return a row of which a newer state may be hidden by damage.
//
// A block of a table file that cannot be read hides which keys it has. The walk looks for a key from which on all sources
// can be read, by halving the range from the last row to the end. If several blocks are damaged, it may pass rows between
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "engine/read/cursor.h"
#include "varve/status.h"

namespace varve {

/// As a cursor that moves forward. One thread at a time may use it. The range is not empty.
class RowWalk {
 public:
  /// Begins at the first row of [from, end). The view outlives the walk. `values_stay`: as Cursor::leave_values().
  RowWalk(const engine::ReadView& view, std::string_view from, std::string_view end, bool values_stay);

  bool valid() const noexcept { return cursor_->valid(); }
  /// Moves to the next row that can be read. valid() must be true.
  void next();
  const engine::Cursor& row() const noexcept { return *cursor_; }
  /// Returns the first error, of rows that were passed or of the end of the walk. Errors: those of Cursor::status().
  const Status& failure() const noexcept { return failure_; }

 private:
  void begin_at(std::string_view from);
  void pass_damage();
  /// Returns false if no key up to the end can be read.
  bool pass_block();

  const engine::ReadView& view_;
  const std::string end_;
  const bool values_stay_;
  std::optional<engine::Cursor> cursor_;
  std::string last_;  // No row before it will be returned.
  Status failure_;
};

}  // namespace varve
