// Owns: writing the contents of entities to files: export --contents.
// Must never: write the content of another state of the table than the rows have.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "varve/table.h"

namespace varve::tool {

/// The files in one directory. The name of a file is the number of its content, LargeValue::id().
class ContentFiles {
 public:
  /// `options` has the snapshot of the rows.
  ContentFiles(Table table, ReadOptions options, std::string directory)
      : table_(std::move(table)), options_(std::move(options)), directory_(std::move(directory)) {}

  /// Creates the directory if it does not exist. Errors: kIoError.
  Status make_directory() const;
  /// Writes the contents of the entity that this object has not written before. Errors: those of reading the contents;
  /// kIoError (a file); kCancelled (a signal).
  Status write(const Entity& entity);

 private:
  const Table table_;
  const ReadOptions options_;
  const std::string directory_;
  std::set<std::uint64_t> written_;
};

}  // namespace varve::tool
