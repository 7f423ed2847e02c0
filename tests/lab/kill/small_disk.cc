// Owns: the cycles of the suite full-disk on a real file system of a few megabytes.
// Must never: skip. If such a file system cannot be mounted, the in-memory file system is used, and a separate count
// shows it.
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/simulated/memory_file_system.h"
#include "tests/io/posix/small_file_system.h"
#include "tests/lab/full_disk/full_disk.h"
#include "tests/lab/kill/kill.h"
#include "tests/lab/kill/ledger.h"
#include "tests/lab/kill/processes.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kCycles = 12;
constexpr std::uint64_t kMemoryDiskBytes = std::uint64_t{64} << 20;
constexpr int kMounted = 0;
constexpr int kNotMounted = 30;

/// Takes room from the file system of `path` with a file of zeros, and gives it back.
class Filler {
 public:
  explicit Filler(std::string path) : path_(std::move(path)) {}
  void leave(std::uint64_t bytes) {
    struct statvfs room {};
    if (::statvfs(std::filesystem::path(path_).parent_path().c_str(), &room) != 0) return;
    const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    const std::string zeros(4096, '\0');
    for (std::uint64_t left = free > bytes ? free - bytes : 0; left >= zeros.size(); left -= zeros.size()) {
      if (::write(file, zeros.data(), zeros.size()) < 0) break;
    }
    ::close(file);
  }
  void remove() { static_cast<void>(::unlink(path_.c_str())); }

 private:
  std::string path_;
};

Result<std::unique_ptr<Store>> open_scarce(const std::string& path, const io::Env& env) {
  ResourceOptions scarce;
  scarce.write_buffer_bytes = 1 << 20;
  scarce.block_cache_bytes = 1 << 20;
  Result<std::shared_ptr<Resources>> resources = Resources::create(scarce);
  if (!resources.ok()) return resources.status();
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &env;
  options.resources = *std::move(resources);
  return Store::open(path, options);
}

FullDiskWorld world_of(const std::string& path, const io::Env& env) {
  FullDiskWorld world;
  world.path = path;
  world.env = [&env]() -> const io::Env& { return env; };
  world.open = [path, &env] { return open_scarce(path, env); };
  world.pass_time = [] { pause_for(50'000); };
  world.resume_steps = 400;
  return world;
}

int run_mounted(std::uint64_t seed, const std::string& directory, KillLedger& ledger) {
  if (!io::mount_small(directory, "size=64m")) return kNotMounted;
  const RealMachine machine(seed % 2 == 0 ? BackEnd::kPosix : BackEnd::kUring, KillCount::kNever);
  Filler filler(directory + "/filler");
  FullDiskWorld world = world_of(directory + "/store", machine.env());
  world.leave_room = [&](std::uint64_t bytes) { filler.leave(bytes); };
  world.give_room = [&] { filler.remove(); };
  FullDiskRun run(seed, std::move(world));
  const std::string broken = run.run(kCycles);
  if (!broken.empty()) ledger.complain("small disk: " + broken);
  ledger.verified = run.report().counts.at("times full");
  return kMounted;
}

int run_in_memory(std::uint64_t seed, KillLedger& ledger) {
  io::MemoryFileSystem files;
  files.set_capacity_bytes(kMemoryDiskBytes);
  const io::Env env{files, io::system_env().clock, io::system_env().random, io::system_env().scheduler};
  FullDiskWorld world = world_of("/store", env);
  world.leave_room = [&](std::uint64_t bytes) { files.set_capacity_bytes(files.used_bytes() + bytes); };
  world.give_room = [&] { files.set_capacity_bytes(kMemoryDiskBytes); };
  FullDiskRun run(seed, std::move(world));
  if (const std::string broken = run.run(kCycles); !broken.empty()) ledger.complain("small disk: " + broken);
  ledger.verified = run.report().counts.at("times full");
  return kMounted;
}

}  // namespace

Report run_small_disk(std::uint64_t seed, const std::string& directory) {
  Report report;
  SharedLedger ledger;
  const std::string place = directory + "/small";
  std::filesystem::create_directory(place);
  ChildEnd end = wait_for(start_child([&] { return run_mounted(seed, place, *ledger); }));
  const bool is_mounted = end.status != kNotMounted;
  if (!is_mounted) end = wait_for(start_child([&] { return run_in_memory(seed, *ledger); }));
  report.count(is_mounted ? "small disks mounted" : "small disks in memory");
  report.count("times full", ledger->verified);
  const std::string complaint = ledger->complaint();
  if (!complaint.empty()) report.find({seed, "small-disk", complaint, {}});
  if (complaint.empty() && !end.text.empty()) report.find({seed, "small-disk", "the writer: " + end.text, {}});
  return report;
}

}  // namespace varve::lab
