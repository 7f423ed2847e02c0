// Owns: the `$filter` of a table listing: conditions on TableName.
// Must never: compare in another way than filters of entities.
#pragma once

#include <string_view>
#include <utility>

#include "api/filter/filter.h"
#include "varve/result.h"

namespace varve::serve {

class TableFilter {
 public:
  /// Parses a filter. Errors: those of Filter::parse(); kInvalidArgument (InvalidInput: the filter names another
  /// property). Source: B-06 to B-08.
  static Result<TableFilter> parse(std::string_view text, FilterGrammar grammar);

  bool matches(std::string_view table) const;
  /// Returns whether the filter compares with a name that begins with `$`. Other listings leave metrics tables out.
  /// Source: D-06, AM-05.
  bool names_metrics_tables() const;

 private:
  explicit TableFilter(Filter filter) noexcept : filter_(std::move(filter)) {}
  Filter filter_;
};

}  // namespace varve::serve
