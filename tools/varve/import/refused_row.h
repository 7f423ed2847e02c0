// Owns: a row that an import refused: its place and the reason.
// Must never: name a text other than the row's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tools/varve/rows/row_source.h"
#include "varve/status.h"

namespace varve::tool {

/// Where a row begins.
struct RowPlace {
  std::uint64_t line = 0;
  /// As Row::row.
  std::uint64_t row = 0;
  /// The number of the text, from 0, in the order in which the texts are imported.
  std::size_t text = 0;
};

struct RefusedRow {
  RowPlace place;
  Status reason;
  /// As in Row.
  std::uint64_t shape_fault = 0;
  RowFault fault = RowFault::kNone;
};

/// Called for each refused row.
using Refusal = std::function<void(const RefusedRow& row)>;

}  // namespace varve::tool
