#include "tests/lab/schedules/schedules.h"

#include <thread>

#include "tests/lab/schedules/clients.h"
#include "tests/lab/schedules/read_gate.h"

namespace varve::lab {
namespace {

struct Trace {
  std::uint64_t decisions = 0;
  std::uint64_t schedule = 0;
  std::uint64_t answers = 0;
  bool operator==(const Trace&) const = default;
};

Trace run_world(std::uint64_t seed, bool on_rados, Report* report) {
  World world(seed, on_rados);
  world.run();
  const Trace trace{world.machine.simulation.decision_count(), world.machine.simulation.trace_hash(),
                    world.recorder.hash()};
  if (report == nullptr) return trace;
  report->add(world.recorder.judge(seed));
  report->count("schedules");
  if (on_rados) report->count("schedules on RADOS");
  report->count("decisions", trace.decisions);
  report->count("checkpoints", world.checkpoints.size());
  if (world.has_faults) report->count("schedules with faults");
  if (world.was_stuck) report->count("schedules with a stuck call");
  return trace;
}

Report run_round(std::uint64_t seed, bool on_rados) {
  Report report;
  const Trace first = run_world(seed, on_rados, &report);
  const Trace second = run_world(seed, on_rados, nullptr);
  report.count("determinism pairs");
  if (first != second) report.find({seed, "", "the same seed ran in two ways", ""});
  report.add(run_stalled_writer(seed, on_rados));
  return report;
}

/// A store whose only writer stops at its next read of a table file, while it holds a row of partition A.
class StalledWriter {
 public:
  StalledWriter(std::uint64_t seed, bool on_rados)
      : seed_(seed),
        machine_(empty_machine(on_rados, seed), seed),
        before_read_([this](std::string_view) { wait_at_gate(); }),
        files_(make_read_gate(machine_.files->system(), before_read_)),
        env_{*files_, machine_.clock, machine_.random, machine_.scheduler()},
        stopped_(machine_.scheduler()),
        released_(machine_.scheduler()) {}

  Report run() {
    Report report;
    if (prepare()) meet(report);
    store_.reset();
    if (!what_.empty()) report.find({seed_, "", what_, ""});
    return report;
  }

 private:
  /// A thread of the store itself may read too.
  void wait_at_gate() {
    if (!armed_ || std::this_thread::get_id() != writer_) return;
    armed_ = false;
    stopped_.set();
    released_.wait();
  }

  bool fine(const Status& status, const char* verb) {
    if (!status.ok() && what_.empty()) what_ = std::string(verb) + ": " + status.to_string();
    return status.ok();
  }

  bool prepare() {
    ResourceOptions resources;
    resources.block_cache_bytes = 0;  // so that the writer must read the file to see the entity
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env_;
    options.resources = *Resources::create(resources);
    Result<std::unique_ptr<Store>> opened = Store::open(machine_.files->path("store"), options);
    if (!fine(opened.status(), "an open")) return false;
    store_ = *std::move(opened);
    if (!fine(store_->create_account("account"), "an account")) return false;
    table_ = *store_->create_table("account", "Orders");
    for (const char* const partition : {"A", "B"}) {
      if (!fine(table_->insert(Entity(partition, "r")).status(), "an insert")) return false;
    }
    if (!fine(store_->compact(), "compact")) return false;
    // It opens the file, for which other readers would wait too.
    return fine(table_->get("A", "r").status(), "a read");
  }

  void meet(Report& report) {
    armed_ = true;
    Result<ETag> stalled = ETag();
    Result<io::Thread> thread = machine_.scheduler().start("writer", [&] {
      writer_ = std::this_thread::get_id();
      stalled = table_->replace(Entity("A", "r"), ETag::any());
    });
    if (!fine(thread.status(), "a thread")) return;
    stopped_.wait();
    WriteOptions impatient;
    impatient.wait_max = std::chrono::milliseconds(0);
    if (table_->insert_or_replace(Entity("A", "r"), impatient).code() != Code::kBusy) {
      what_ = "a stalled writer does not hold the lock of its row";
    }
    EntityGroupTransaction group;
    for (const char* const row : {"s", "t"}) group.insert_or_replace(Entity("A", row));
    if (table_->execute(group, impatient).code() != Code::kBusy) {
      what_ = "a transaction goes on in a partition of which a stalled writer holds a row";
    }
    fine(table_->insert_or_replace(Entity("A", "s"), impatient).status(), "another row's upsert");
    for (int i = 0; i < 10; ++i) {
      fine(table_->insert_or_replace(Entity("B", std::to_string(i)), impatient).status(), "another partition's upsert");
      fine(table_->replace(Entity("B", "r"), ETag::any(), impatient).status(), "another partition's replace");
    }
    released_.set();
    thread->join();
    fine(stalled.status(), "the stalled write");
    report.count("commits beside a stalled writer", 21);
  }

  const std::uint64_t seed_;
  ScheduledMachine machine_;
  const BeforeRead before_read_;
  std::unique_ptr<io::FileSystem> files_;
  io::Env env_;
  io::Event stopped_;
  io::Event released_;
  bool armed_ = false;
  std::thread::id writer_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::string what_;
};

}  // namespace

Report run_stalled_writer(std::uint64_t seed, bool on_rados) {
  return StalledWriter(seed, on_rados).run();
}

Report run_schedules(const Share& share) {
  Report report;
  for (std::uint64_t seed = share.seed; seed < share.seed + share.rounds; ++seed) {
    report.add(run_round(seed, is_on_rados(share, seed)));
  }
  return report;
}

}  // namespace varve::lab
