// Owns: the contents that the files of a line give to the large values of one entity: --content NAME=FILE.
// Must never: hold a whole content in memory, or leave a content that no entity names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/varve/input/file_input.h"
#include "varve/large_value.h"
#include "varve/result.h"
#include "varve/table.h"

namespace varve::tool {

class EntityContents {
 public:
  /// Opens the files. Each word is NAME=FILE; - is standard input. Errors: kInvalidArgument (a word of another form,
  /// a name or standard input given twice), kIoError (a file cannot be opened).
  static Result<EntityContents> open(const std::vector<std::string>& words);

  bool empty() const noexcept { return files_.empty(); }
  /// Checks that the entity has none of the properties. Errors: kInvalidArgument.
  Status check(const Entity& entity) const;
  /// Writes the contents for the table, and adds the properties to the entity. The contents stay while this object
  /// exists, and afterwards if an entity names them. Errors: those of Table::write_large_value() and LargeValueWriter;
  /// those of the files; kCancelled (a signal, see stop_signal()).
  Status write(Table& table, Entity& entity);
  /// Returns the number of the signal that ended write(), or 0.
  int stop_signal() const noexcept { return stop_signal_; }

 private:
  struct File {
    std::string property;
    std::unique_ptr<FileInput> input;
  };

  std::vector<File> files_;
  std::vector<LargeValueWriter> writers_;
  int stop_signal_ = 0;
};

/// Writes one input as a content for the table. `writers` receives the writer, which must exist until an entity names
/// the value. Errors: as EntityContents::write().
Result<LargeValue> write_content(Table& table, FileInput& input, bool shows_progress,
                                 std::vector<LargeValueWriter>& writers);

/// Returns the failure with a hint, if it says that a table cannot have large values.
Status with_large_value_hint(const Status& failure, const std::string& table);

}  // namespace varve::tool
