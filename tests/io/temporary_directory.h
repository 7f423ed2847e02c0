// Owns: a directory of the real file system for one test, gone with its content afterwards.
// Must never: be made in the source tree.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace varve::io {

/// In $VARVE_TEST_DIRECTORY, else in the system's directory for temporary files.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* chosen = ::getenv("VARVE_TEST_DIRECTORY");
    path_ = (chosen != nullptr ? std::string(chosen) : std::filesystem::temp_directory_path().string());
    path_ += "/varve-io-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) abort();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const noexcept { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace varve::io
