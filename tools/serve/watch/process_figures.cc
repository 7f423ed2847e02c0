#include "tools/serve/watch/process_figures.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

namespace varve::serve {
namespace {

/// Returns the fields of /proc/self/stat from the third one on. The second one, the program's name, may have spaces.
std::vector<std::string> stat_fields() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

/// Returns the time of the start of the machine in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return std::nullopt;
  std::uint64_t entries = 0;
  while (::readdir(directory) != nullptr) ++entries;
  ::closedir(directory);
  constexpr std::uint64_t kOthers = 3;  // `.`, `..` and the descriptor of the directory itself
  return entries < kOthers ? 0 : entries - kOthers;
}

}  // namespace

ProcessFigures process_figures() {
  // The numbers of fields are those of proc(5) less three.
  constexpr std::size_t kUserTicks = 11;
  constexpr std::size_t kSystemTicks = 12;
  constexpr std::size_t kThreads = 17;
  constexpr std::size_t kStartTicks = 19;
  constexpr std::size_t kVirtualBytes = 20;
  constexpr std::size_t kResidentPages = 21;
  ProcessFigures figures;
  const std::vector<std::string> fields = stat_fields();
  const auto field = [&](std::size_t place) { return std::strtoull(fields[place].c_str(), nullptr, 10); };
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (fields.size() > kResidentPages && ticks > 0) {
    const auto per_second = static_cast<double>(ticks);
    figures.cpu_seconds = static_cast<double>(field(kUserTicks) + field(kSystemTicks)) / per_second;
    figures.threads = field(kThreads);
    figures.virtual_bytes = field(kVirtualBytes);
    figures.resident_bytes = field(kResidentPages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::optional<double> boot = boot_time();
    if (boot) figures.start_time_seconds = *boot + static_cast<double>(field(kStartTicks)) / per_second;
  }
  figures.open_descriptors = count_descriptors();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) figures.descriptors_max = limit.rlim_cur;
  return figures;
}

}  // namespace varve::serve
