// Owns: printing the rows that an import refused, and the reasons.
// Must never: repeat a fault of the file's shape for each row, or hide how many rows have it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "varve/status.h"

namespace varve::tool {

class RefusalReport {
 public:
  /// Shows `shown_max` rows, and counts the others.
  explicit RefusalReport(std::uint64_t shown_max) : shown_max_(shown_max) {}

  /// The next rows are of another text. Its `name` is printed with each row; an empty name is not.
  void begin_text(const std::string& name);
  /// Adds a refused row. `shape_fault` has the meaning of Row::shape_fault: the first row with it is shown, the others
  /// are counted.
  void add(std::uint64_t line, const Status& reason, std::uint64_t shape_fault);
  /// Prints how many rows of the text have each fault that was shown once.
  void end();

 private:
  struct ShapeFault {
    std::uint64_t first_line = 0;
    std::uint64_t repeated = 0;
  };
  std::string place(std::uint64_t line) const;

  std::uint64_t shown_max_;
  std::string name_;
  std::uint64_t shown_ = 0;
  std::map<std::uint64_t, ShapeFault> shape_faults_;
};

}  // namespace varve::tool
