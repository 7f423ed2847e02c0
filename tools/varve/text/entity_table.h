// Owns: printing entities as a table of aligned columns.
// Must never: keep rows other than the last page. A table of any length is printed page by page.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "varve/types.h"

namespace varve::tool {

/// Prints pages of entities one below another. The first page determines the columns and their widths. A page that has
/// a property without a column begins a new table.
class EntityTable {
 public:
  /// `select` contains the properties to show, in this order. If it is empty, all properties are shown. Lines have at
  /// most `columns_max` columns.
  EntityTable(std::ostream& out, std::vector<std::string> select, std::size_t columns_max);
  /// Prints no keys: the entities are rows of other figures.
  void hide_keys() noexcept { keys_ = 0; }

  void print(const std::vector<Entity>& page);
  /// Returns the properties that had no room, in their order. Keys always have room.
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }

 private:
  struct Column {
    std::string name;
    std::size_t width = 0;
    bool numbers = false;  // only numbers: aligned to the right
  };
  void begin_table(const std::vector<Entity>& page);
  void fit();
  bool has_columns_for(const std::vector<Entity>& page) const;
  void print_line(const std::vector<std::string>& cells);

  std::ostream& out_;
  std::vector<std::string> select_;
  std::size_t columns_max_;
  std::size_t keys_ = 2;  // the first columns, which are always shown
  std::vector<Column> columns_;
  std::vector<std::string> left_out_;
};

}  // namespace varve::tool
