#include "tests/lab/machine/disk_files.h"

#include <utility>

namespace varve::lab {
namespace {

class DiskFiles final : public MachineFiles {
 public:
  DiskFiles(io::MemoryDisk disk, io::Scheduler& scheduler) : files_(scheduler, std::move(disk)) {}

  io::FileSystem& system() override { return files_; }
  std::string path(std::string_view name) const override { return "/" + std::string(name); }
  bool outlives_process() const override { return true; }

  void observe(std::function<void()> look) override {
    files_.set_observer([look = std::move(look)](const io::Operation&, io::Moment moment) {
      if (moment == io::Moment::kDuring) look();
    });
  }
  Remains snapshot() const override { return files_.snapshot(); }
  Remains process_death(io::RandomSource& random) const override { return files_.process_death(random); }
  Remains power_cut(io::CrashPolicy policy, io::RandomSource& random) const override {
    return files_.power_cut(policy, random);
  }
  std::uint64_t write_count() const override { return files_.operation_count(); }
  std::string stray(std::string_view /*path*/) const override { return ""; }

  void fail(io::FaultRule rule) override { files_.faults().add(std::move(rule)); }
  void end_faults() override { files_.faults().clear(); }
  std::uint64_t fault_count() const override { return files_.faults().hit_count(); }
  bool is_stuck() const override { return files_.stuck_count() > 0; }
  void let_go() override { files_.let_go(); }
  void fill(std::uint64_t bytes_left) override { files_.set_capacity_bytes(files_.used_bytes() + bytes_left); }
  void free_space() override { files_.set_capacity_bytes(io::MemoryFileSystem::kUnlimited); }

  bool freeze() override { return false; }
  void thaw() override {}
  void end_thawed() override {}

 private:
  mutable io::MemoryFileSystem files_;  // whose counts of faults are not const
};

}  // namespace

std::unique_ptr<MachineFiles> make_disk_files(io::MemoryDisk disk, io::Scheduler& scheduler) {
  return std::make_unique<DiskFiles>(std::move(disk), scheduler);
}

}  // namespace varve::lab
