// Owns: the contents that the files of a directory give to the large values of imported rows.
// Must never: read a file outside of the directory that the line names, or hold a whole content in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/large_value.h"
#include "varve/result.h"
#include "varve/table.h"

namespace varve::tool {

class RowContents {
 public:
  explicit RowContents(std::string directory) : directory_(std::move(directory)) {}

  using Write = std::function<Result<ETag>(const Entity& whole)>;
  /// Writes the files that the properties `names` of the row name, and calls `write` with the row, whose properties are
  /// large values then. Rows with one name of a file share its content while an entity owns it. Errors: those of
  /// `write` and of LargeValueWriter; kInvalidArgument (a name leads out of the directory; the file cannot be read;
  /// InvalidInput: the table cannot have large values); kCancelled (a signal).
  Result<ETag> write(Table& table, const Entity& row, const std::vector<std::string>& names, const Write& write);

 private:
  using Values = std::map<std::string, LargeValue>;  // by the names of files

  Result<LargeValue> value_of(Table& table, const std::string& file, std::vector<LargeValueWriter>& writers) const;

  const std::string directory_;
  Values known_;
};

}  // namespace varve::tool
