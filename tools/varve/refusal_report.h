// Owns: the lines that tell a person which rows an import refused, and why.
// Must never: repeat a fault of the file's shape for each row, or hide how many rows have it.
#pragma once

#include <cstdint>
#include <map>

#include "varve/status.h"

namespace varve::tool {

class RefusalReport {
 public:
  /// Shows `shown_max` rows; counts the others.
  explicit RefusalReport(std::uint64_t shown_max) : shown_max_(shown_max) {}

  /// `shape_fault` as Row has it: the first row with it is shown, the others are counted.
  void add(std::uint64_t line, const Status& reason, std::uint64_t shape_fault);
  /// Prints how many rows have a fault of the shape that was shown once.
  void end() const;

 private:
  struct ShapeFault {
    std::uint64_t first_line = 0;
    std::uint64_t repeated = 0;
  };
  std::uint64_t shown_max_;
  std::uint64_t shown_ = 0;
  std::map<std::uint64_t, ShapeFault> shape_faults_;
};

}  // namespace varve::tool
