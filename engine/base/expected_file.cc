// Owns: reporting a missing file as damage.
// Must never: be called for a file that may be absent.
#include "engine/base/expected_file.h"

#include "format/log/file_header.h"
#include "io/os_error.h"

namespace varve::engine {

Result<std::unique_ptr<io::ReadableFile>> open_expected(io::Directory& directory, std::string_view name,
                                                        io::ReadMode mode) {
  Result<std::unique_ptr<io::ReadableFile>> file = directory.open(name, mode);
  if (!io::is_missing(file.status())) return file;
  return Status::corruption("a file of the store is missing").in_file(format::named_file(name));
}

}  // namespace varve::engine
