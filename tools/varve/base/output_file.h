// Owns: writing a verb's output file, which gets its name only when it is complete.
// Must never: change an earlier file of this name before the new file is complete.
#pragma once

#include <fstream>
#include <string>

#include "varve/status.h"

namespace varve::tool {

/// Writes to a temporary name in the same directory, and renames the file at the end. An existing pipe, terminal or
/// other device (/dev/null) is written directly. A symbolic link stays, and its target is replaced.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  /// Without finish(), removes the unfinished file.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Opens the file. Errors: kIoError, which names the path.
  Status open();
  std::ostream& stream() noexcept { return out_; }
  /// Completes the file. After Ok, the file is on the device under its name. Errors: kIoError.
  Status finish();

 private:
  Status failed(int error) const;

  const std::string path_;
  /// The final path, and the temporary path. Both are empty if the output is written directly.
  std::string target_;
  std::string unfinished_;
  std::ofstream out_;
};

}  // namespace varve::tool
