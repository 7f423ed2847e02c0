// Owns: printing the rows that an import refused, and the reasons.
// Must never: repeat a fault of a whole file for each row, or hide how many rows have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/varve/import/refused_row.h"

namespace varve::tool {

class RefusalReport {
 public:
  /// Shows `shown_max` rows, and counts the others.
  explicit RefusalReport(std::uint64_t shown_max) : shown_max_(shown_max) {}

  /// The next rows are of another text. Its `name` is printed with each row; an empty name is not. Returns the text's
  /// number for RowPlace.
  std::size_t begin_text(const std::string& name);
  /// Notes that a row of the present text was accepted. Until then refused rows are held back: if all rows of a text
  /// are refused for one reason, only the first ones are shown.
  void accept();
  /// Adds a refused row. Of rows with a shape_fault, the first one of a text is shown, and the others are counted.
  void add(const RefusedRow& row);
  /// Prints how many rows have each fault that is not shown for each row.
  void end();

 private:
  struct ShapeFault {
    RowPlace first;
    std::uint64_t repeated = 0;
  };
  std::string place(const RowPlace& row) const;
  void show(const RefusedRow& row);
  void release();

  std::uint64_t shown_max_;
  std::uint64_t shown_ = 0;
  std::vector<std::string> names_;
  /// By the text and the fault.
  std::map<std::pair<std::size_t, std::uint64_t>, ShapeFault> shape_faults_;
  bool holds_ = true;
  std::vector<RefusedRow> held_;
  std::uint64_t held_uncounted_ = 0;  // rows of the same reason that are not kept
};

}  // namespace varve::tool
