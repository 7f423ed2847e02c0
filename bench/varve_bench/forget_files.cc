#include "bench/varve_bench/forget_files.h"

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace varve::bench {

void forget_files(const std::string& directory) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    const int file = ::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ::fdatasync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

}  // namespace varve::bench
