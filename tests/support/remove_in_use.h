// Owns: the removal of a directory in which a running store still creates files.
// Must never: wait by time.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace varve::test {

/// Removes the directory with its content. The store may create a file after the removal has listed the directory, so
/// the removal is repeated. Returns false if files appear again and again.
inline bool remove_in_use(const std::string& directory) {
  constexpr int kTriesMax = 1000;
  for (int i = 0; i < kTriesMax; ++i) {
    std::error_code failed;
    std::filesystem::remove_all(directory, failed);
    if (!failed) return true;
  }
  return false;
}

}  // namespace varve::test
