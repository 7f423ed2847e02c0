// Owns: entities as a table of aligned columns, for people.
// Must never: keep more than the rows it was given last; a table of any length is printed page by page.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "varve/types.h"

namespace varve::tool {

/// Prints pages of entities one below another. Columns and their widths are those of the first page; a page with a
/// property that has no column yet begins a new table.
class EntityTable {
 public:
  /// `select` are the properties to show, in this order; empty shows all there are. Lines are at most `columns_max`
  /// wide.
  EntityTable(std::ostream& out, std::vector<std::string> select, std::size_t columns_max);

  void print(const std::vector<Entity>& page);
  /// Properties that had no room, in their order; never a key.
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }

 private:
  struct Column {
    std::string name;
    std::size_t width = 0;
    bool numbers = false;  // and nothing else: set to the right
  };
  void begin_table(const std::vector<Entity>& page);
  void fit();
  bool has_columns_for(const std::vector<Entity>& page) const;
  void print_line(const std::vector<std::string>& cells);

  std::ostream& out_;
  std::vector<std::string> select_;
  std::size_t columns_max_;
  std::vector<Column> columns_;
  std::vector<std::string> left_out_;
};

}  // namespace varve::tool
