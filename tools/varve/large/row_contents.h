// Owns: the contents that the files of a directory give to the large values of imported rows.
// Must never: read a file outside of the directory that the line names, or hold a whole content in memory.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/varve/reach/value_access.h"
#include "varve/result.h"

namespace varve::tool {

class RowContents {
 public:
  explicit RowContents(std::string directory) : directory_(std::move(directory)) {}

  /// Writes the files that the properties `names` of the row name, and then the row, whose properties are large values
  /// then. Rows with one name of a file share its content while an entity owns it. Errors: those of ValueAccess;
  /// kInvalidArgument (a name leads out of the directory; the file cannot be read; InvalidInput: the table cannot have
  /// large values); kCancelled (a signal).
  Result<ETag> write(ValueAccess& values, const WriteOperation& row, const std::vector<std::string>& names,
                     const WriteOptions& options);

 private:
  using Values = std::map<std::string, LargeValue>;  // by the names of files

  Result<LargeValue> value_of(ValueAccess& values, const std::string& file) const;

  const std::string directory_;
  Values known_;
};

}  // namespace varve::tool
