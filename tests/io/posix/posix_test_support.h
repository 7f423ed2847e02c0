// Owns: a posix directory in a temporary one, and the outcomes of a child as text.
// Must never: be used by a test that also runs over another implementation.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/posix/posix_file_system.h"
#include "tests/io/io_test_support.h"
#include "tests/io/temporary_directory.h"

namespace varve::io {

class PosixTest : public testing::Test {
 protected:
  PosixTest() : directory_(open_at_path(temporary_.path())) {}

  static std::unique_ptr<Directory> open_at_path(const std::string& path) {
    PosixFileSystem files;
    Result<std::unique_ptr<Directory>> opened = files.open_directory(path);
    if (!opened.ok()) std::abort();
    return *std::move(opened);
  }

  Directory& directory() { return *directory_; }
  const std::string& path() const { return temporary_.path(); }
  std::string path_of(const std::string& name) const { return temporary_.path_of(name); }

 private:
  TemporaryDirectory temporary_;
  std::unique_ptr<Directory> directory_;
};

/// Returns "Ok", or the code and message, for a child's answer.
template <typename Outcome>
std::string told(const Outcome& outcome) {
  return status_of(outcome).to_string();
}

/// Returns only the code, for a child's answer.
template <typename Outcome>
std::string code_of(const Outcome& outcome) {
  return std::string(code_name(status_of(outcome).code()));
}

}  // namespace varve::io
