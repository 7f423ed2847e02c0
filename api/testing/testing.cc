// Owns: the public simulator over the one of io (varve/testing.h).
// Must never: hold a store.
#include "varve/testing.h"

#include <utility>

#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/seeded_scheduler.h"
#include "varve/verify.h"

namespace varve::testing {
namespace {

using io::OperationKind;

bool is_of(Step step, OperationKind kind) {
  switch (step) {
    case Step::kAny: return true;
    case Step::kWrite:
      return kind == OperationKind::kAppend || kind == OperationKind::kFill || kind == OperationKind::kLogWrite ||
             kind == OperationKind::kReplaceWrite;
    case Step::kSync:
      return kind == OperationKind::kSync || kind == OperationKind::kReplaceSync ||
             kind == OperationKind::kReplaceDirectorySync || kind == OperationKind::kDirectorySync;
    case Step::kRead: return kind == OperationKind::kRead;
    case Step::kCreate:
      return kind == OperationKind::kCreateDirectory || kind == OperationKind::kCreate ||
             kind == OperationKind::kCreateLogSegment || kind == OperationKind::kCreateSharedMemory ||
             kind == OperationKind::kCreateLockFile;
    case Step::kRemove: return kind == OperationKind::kRemove;
    case Step::kRename: return kind == OperationKind::kReplaceRename;
  }
  return false;
}

io::FaultEffect effect_of(Effect effect) {
  switch (effect) {
    case Effect::kError: return io::FaultEffect::kError;
    case Effect::kPartialWrite: return io::FaultEffect::kShortThenError;
    case Effect::kLostSync: return io::FaultEffect::kSyncLeftOut;
    case Effect::kLostWrite: return io::FaultEffect::kLostWrite;
    case Effect::kFlippedBit: return io::FaultEffect::kFlipBitOnce;
    case Effect::kStuck: return io::FaultEffect::kNever;
  }
  return io::FaultEffect::kError;
}

io::FaultRule rule_of(const Fault& fault) {
  io::FaultRule rule;
  rule.name_suffix = fault.file_suffix;
  rule.predicate = [step = fault.step](const io::Operation& operation) { return is_of(step, operation.kind); };
  rule.skip_count = fault.skip;
  rule.fail_count = fault.count;
  rule.effect = effect_of(fault.effect);
  rule.os_error = fault.os_error;
  return rule;
}

}  // namespace

struct Disk::Content {
  io::MemoryDisk disk;
};

Disk::Disk() : content_(std::make_unique<Content>()) {}
Disk::Disk(std::unique_ptr<Content> content) : content_(std::move(content)) {}
Disk::Disk(const Disk& other) : content_(std::make_unique<Content>(*other.content_)) {}
Disk::Disk(Disk&& other) noexcept = default;
Disk& Disk::operator=(const Disk& other) {
  return *this = Disk(other);
}
Disk& Disk::operator=(Disk&& other) noexcept = default;
Disk::~Disk() = default;

class Machine::Parts {
 public:
  Parts(std::uint64_t seed, Threads threads, io::MemoryDisk disk)
      : randomness(seed),
        simulation(threads == Threads::kBySeed ? std::make_unique<io::SeededScheduler>(seed, clock) : nullptr),
        files(scheduler(), std::move(disk)),
        env{files, clock, randomness, scheduler()} {}

  io::Scheduler& scheduler() { return simulation ? simulation->scheduler() : free_threads; }

  io::ManualClock clock;
  io::SeededRandom randomness;
  io::Scheduler free_threads;
  std::unique_ptr<io::SeededScheduler> simulation;
  io::MemoryFileSystem files;
  io::Env env;
};

Machine::Machine(std::uint64_t seed, Threads threads)
    : parts_(std::make_unique<Parts>(seed, threads, io::MemoryDisk())) {}

Machine::Machine(std::uint64_t seed, const Disk& disk, Threads threads)
    : parts_(std::make_unique<Parts>(seed, threads, disk.content_->disk)) {}

Machine::~Machine() = default;

Result<std::unique_ptr<Store>> Machine::open(std::string_view path, StoreOptions options) {
  options.env = &parts_->env;
  return Store::open(path, options);
}

Result<VerifyReport> Machine::verify(std::string_view path) {
  StoreOptions options;
  options.env = &parts_->env;
  return Store::verify(path, options);
}

void Machine::advance_clock(std::chrono::nanoseconds time) {
  parts_->clock.advance(time);
}

Disk Machine::disk() const {
  return Disk(std::make_unique<Disk::Content>(Disk::Content{parts_->files.snapshot()}));
}

std::vector<Disk> Machine::power_cuts(std::size_t images_max) {
  std::vector<Disk> disks;
  for (io::MemoryDisk& image : parts_->files.power_cuts(parts_->randomness, images_max)) {
    disks.push_back(Disk(std::make_unique<Disk::Content>(Disk::Content{std::move(image)})));
  }
  return disks;
}

Disk Machine::process_death() {
  return Disk(std::make_unique<Disk::Content>(Disk::Content{parts_->files.process_death(parts_->randomness)}));
}

void Machine::observe_steps(std::function<void()> observer) {
  if (!observer) return parts_->files.set_observer({});
  parts_->files.set_observer([observer = std::move(observer)](const io::Operation&, io::Moment moment) {
    if (moment == io::Moment::kAfter) observer();
  });
}

std::uint64_t Machine::step_count() const {
  return parts_->files.operation_count();
}

void Machine::set_capacity(std::uint64_t bytes) {
  parts_->files.set_capacity_bytes(bytes);
}

void Machine::add_fault(const Fault& fault) {
  parts_->files.faults().add(rule_of(fault));
}

void Machine::clear_faults() {
  parts_->files.faults().clear();
  parts_->files.let_go();
}

std::uint64_t Machine::fault_count() const {
  return parts_->files.faults().hit_count();
}

Status Machine::run(const std::vector<std::function<void()>>& functions) {
  std::vector<io::Thread> threads;
  Status status;
  for (const std::function<void()>& function : functions) {
    Result<io::Thread> thread = parts_->scheduler().start("test", function);
    if (!thread.ok()) {
      status = thread.status();
      break;
    }
    threads.push_back(*std::move(thread));
  }
  for (io::Thread& thread : threads) thread.join();
  return status;
}

}  // namespace varve::testing
