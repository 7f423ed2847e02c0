#include "bench/varve_bench/machine.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace varve::bench {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t io_counter(const std::string& wanted) {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == wanted) return value;
  }
  return 0;
}

struct DeviceCounters {
  std::optional<std::uint64_t> reads{};
  std::optional<std::uint64_t> written_bytes{};
};

DeviceCounters device_counters(const std::string& directory) {
  constexpr std::uint64_t kUnitBytes = 512;  // of every device's counters
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return {};
  std::ifstream file("/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" +
                     std::to_string(minor(status.st_dev)) + "/stat");
  std::uint64_t reads = 0;
  std::uint64_t skipped = 0;
  std::uint64_t written = 0;
  if (!(file >> reads)) return {};
  for (int i = 0; i < 5; ++i) file >> skipped;
  if (!(file >> written)) return {reads, std::nullopt};
  return {reads, written * kUnitBytes};
}

}  // namespace

Usage usage(const std::string& directory) {
  rusage resources{};
  ::getrusage(RUSAGE_SELF, &resources);
  const DeviceCounters device = device_counters(directory);
  return {seconds_of(resources.ru_utime) + seconds_of(resources.ru_stime), io_counter("write_bytes:"),
          io_counter("read_bytes:"), device.reads, device.written_bytes};
}

double thread_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::uint64_t resident_bytes() {
  ::malloc_trim(0);  // memory that was freed but is kept for later allocations is not in use
  std::ifstream file("/proc/self/statm");
  std::uint64_t size_pages = 0;
  std::uint64_t resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t anonymous_bytes() noexcept {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + sizeof("RssAnon:"), nullptr, 10) * 1024;
  }
  return 0;
}

double load_average() {
  double average = 0;
  return ::getloadavg(&average, 1) == 1 ? average : 0;
}

std::uint64_t occupied_bytes(const std::string& directory, const std::string& suffix) {
  constexpr std::uint64_t kBlockBytes = 512;  // the unit of st_blocks on every file system
  std::uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    struct stat status {};  // a file can vanish during the listing
    if (!entry->path().native().ends_with(suffix) || ::lstat(entry->path().c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode)) bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
  }
  return bytes;
}

}  // namespace varve::bench
