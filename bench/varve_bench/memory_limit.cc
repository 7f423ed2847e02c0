#include "bench/varve_bench/memory_limit.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "bench/varve_bench/forget_files.h"

namespace varve::bench {

namespace {

/// The directory of control groups, and the names of the limit and of the events, by the version of the interface.
struct Interface {
  const char* groups;
  const char* bound;
  const char* events;
};
constexpr Interface kInterfaces[]{{"/sys/fs/cgroup", "memory.max", "memory.events"},
                                  {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"}};

std::string group_of(const Interface& interface, pid_t parent) {
  return std::string(interface.groups) + "/varve-bench-" + std::to_string(parent);
}

bool write_number(const std::string& path, std::uint64_t number) {
  std::ofstream file(path);
  file << number;
  return static_cast<bool>(file.flush());
}

}  // namespace

bool limit_memory(std::uint64_t bytes) {
  for (const Interface& interface : kInterfaces) {
    const std::string group = group_of(interface, ::getppid());
    std::error_code error;
    if (!std::filesystem::create_directory(group, error)) continue;
    const bool is_bound = std::filesystem::exists(group + "/" + interface.bound) &&
                          write_number(group + "/" + interface.bound, bytes) &&
                          write_number(group + "/cgroup.procs", static_cast<std::uint64_t>(::getpid()));
    if (is_bound) return true;
    std::filesystem::remove(group, error);
  }
  return false;
}

void begin_under_limit(Session& session, std::uint64_t bytes, std::uint64_t& limit) {
  session.close();
  forget_files(session.directory());
  limit = limit_memory(bytes) ? bytes : 0;
}

WorkloadRow telling_memory(WorkloadRow row, const std::shared_ptr<std::uint64_t>& limit) {
  row.run = [run = std::move(row.run), limit](Session& session) -> Result<Outcome> {
    Result<Outcome> outcome = run(session);
    if (outcome.ok()) outcome->figures["memory limit MB"] = static_cast<double>(*limit) / 1e6;
    return outcome;
  };
  return row;
}

bool has_limit_ended_child() {
  for (const Interface& interface : kInterfaces) {
    std::ifstream events(group_of(interface, ::getpid()) + "/" + interface.events);
    std::string name;
    std::uint64_t count = 0;
    while (events >> name >> count) {
      if (name == "oom_kill" && count > 0) return true;
    }
  }
  return false;
}

void remove_memory_limit() {
  for (const Interface& interface : kInterfaces) {
    std::error_code error;
    // a group counts as empty although it contains interface files
    std::filesystem::remove(group_of(interface, ::getpid()), error);
  }
}

}  // namespace varve::bench
