// Owns: a directory of the real file system for one test. It is removed with its content afterwards.
// Must never: be created in the source tree.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace varve::io {

/// Created in $VARVE_TEST_DIRECTORY, or by default in the system's temporary directory.
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
