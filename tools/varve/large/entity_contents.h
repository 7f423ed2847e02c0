// Owns: the contents that the files of a line give to the large values of one entity: --content NAME=FILE.
// Must never: hold a whole content in memory, or leave a content that no entity names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/varve/input/file_input.h"
#include "tools/varve/reach/table_access.h"
#include "tools/varve/reach/value_access.h"
#include "tools/varve/session/session.h"
#include "varve/result.h"

namespace varve::tool {

class EntityContents {
 public:
  /// Opens the files. Each word is NAME=FILE; - is standard input. Errors: kInvalidArgument (a word of another form,
  /// a name or standard input given twice), kIoError (a file cannot be opened).
  static Result<EntityContents> open(const std::vector<std::string>& words);

  bool empty() const noexcept { return files_.empty(); }
  /// Checks that the entity has none of the properties. Errors: kInvalidArgument.
  Status check(const Entity& entity) const;
  /// Writes the contents, and adds the properties to the entity, which `values` shall write next. Errors: those of
  /// ValueAccess and of the files; kCancelled (a signal, see stop_signal()).
  Status write(ValueAccess& values, Entity& entity);
  /// Returns the number of the signal that ended write(), or 0.
  int stop_signal() const noexcept { return stop_signal_; }

 private:
  struct File {
    std::string property;
    std::unique_ptr<FileInput> input;
  };

  std::vector<File> files_;
  int stop_signal_ = 0;
};

/// Returns the access to the large values of a table that exists. Errors: those of opening the table; kInvalidArgument (the
/// store is at an address).
Result<std::unique_ptr<ValueAccess>> reach_values(StoreAccess& access, const Place& place);

/// Writes one input as a content. Errors: as EntityContents::write().
Result<LargeValue> write_content(ValueAccess& values, FileInput& input, bool shows_progress);

}  // namespace varve::tool
