#include "tools/serve/transport/memory_plan.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <unistd.h>

namespace varve::serve {
namespace {

constexpr std::uint64_t kParts = 4;
/// Memory of an idle connection: its buffer, the keys and records of TLS, and the system's buffers.
constexpr std::uint64_t kConnectionBytes = std::uint64_t{64} << 10;
/// Groups of version 1 report a number near the maximum if they have no limit.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

void lower(std::optional<std::uint64_t>& least, std::uint64_t limit) {
  if (limit < kNoLimit) least = std::min(least.value_or(limit), limit);
}

/// Lowers the limit to the one in the file. `max` means no limit.
void lower_by_file(std::optional<std::uint64_t>& least, const std::string& path) {
  std::ifstream file(path);
  std::uint64_t limit = 0;
  if (file >> limit) lower(least, limit);
}

/// Applies the limits of the group and of all groups above it. In a container the path may be that of the host. A
/// missing file is skipped.
void lower_by_groups(std::optional<std::uint64_t>& least, const std::string& mount, std::string group,
                     std::initializer_list<const char*> names) {
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    for (const char* const name : names) lower_by_file(least, mount + group + "/" + name);
    if (group.empty()) return;
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "memory") return true;
    controllers.remove_prefix(std::min(name.size() + 1, controllers.size()));
  }
  return false;
}

/// Parses a line of /proc/self/cgroup: `0::/path` for version 2, `4:memory:/path` for version 1.
void lower_by_line(std::optional<std::uint64_t>& least, const std::string& root, const std::string& line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  if (controllers.empty()) {
    for (const char* const mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      lower_by_groups(least, root + mount, group, {"memory.max", "memory.high"});
    }
  } else if (names_memory(controllers)) {
    lower_by_groups(least, root + "/sys/fs/cgroup/memory", group, {"memory.limit_in_bytes"});
  }
}

void lower_by_process(std::optional<std::uint64_t>& least) {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) lower(least, limit.rlim_cur);
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    lower(least, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes));
  }
}

MemoryPlan quarters(std::uint64_t bytes) {
  const std::uint64_t part = bytes / kParts;
  return {part, part, part, std::min(part / kConnectionBytes, MemoryPlan().connections)};
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto refused_size = [&] {
    return Status::invalid_argument("\"" + std::string(text) + "\" is not a size; give one such as 512MiB or 2G");
  };
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number == 0) return refused_size();
  std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  constexpr std::string_view kUnits = "KMGT";
  unsigned shift = 0;
  if (!unit.empty()) {
    const char letter = unit.front() >= 'a' ? static_cast<char>(unit.front() - 'a' + 'A') : unit.front();
    const std::size_t place = kUnits.find(letter);
    if (place != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(place) + 1);
      unit.remove_prefix(1);
      if (unit.substr(0, 1) == "i" && unit.size() > 1) unit.remove_prefix(1);
    }
  }
  if (!unit.empty() && unit != "B" && unit != "b") return refused_size();
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return refused_size();
  return number << shift;
}

Result<MemoryPlan> plan_memory(std::optional<std::uint64_t> asked, std::optional<std::uint64_t> limit) {
  if (!asked && !limit) return MemoryPlan();
  const std::uint64_t bytes = asked ? *asked : *limit;
  if (bytes < kMemoryMin) {
    return Status::invalid_argument(std::string(asked ? "--memory" : "the memory that this process may have") +
                                    " is too little for a server; it needs at least " +
                                    std::to_string(kMemoryMin >> 20) + " MiB");
  }
  MemoryPlan plan = quarters(bytes);
  if (asked) return plan;
  const MemoryPlan usual;
  plan.block_cache = std::min(plan.block_cache, usual.block_cache);
  plan.write_buffer = std::min(plan.write_buffer, usual.write_buffer);
  plan.bodies = std::min(plan.bodies, usual.bodies);
  return plan;
}

std::optional<std::uint64_t> memory_limit(const std::string& root) {
  std::optional<std::uint64_t> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) lower_by_line(least, root, line);
  if (root.empty()) lower_by_process(least);
  return least;
}

}  // namespace varve::serve
