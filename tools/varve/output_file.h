// Owns: a file that a verb writes, and that has its name only when it is whole.
// Must never: touch what had the name before that.
#pragma once

#include <fstream>
#include <string>

#include "varve/status.h"

namespace varve::tool {

/// Written under a name beside its own, which it is given at the end. What is there and is no file (a pipe, a terminal,
/// /dev/null) is written as it is; a symbolic link stays, and what it leads to is replaced.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  /// Without finish() nothing is left.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Errors: kIoError, naming the path.
  Status open();
  std::ostream& stream() noexcept { return out_; }
  /// The file is on the device under its name when this returns Ok. Errors: kIoError.
  Status finish();

 private:
  Status failed(int error) const;

  const std::string path_;
  /// Where it goes and what it is called until then; empty where it is written as it is.
  std::string target_;
  std::string unfinished_;
  std::ofstream out_;
};

}  // namespace varve::tool
