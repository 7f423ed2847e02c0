// Owns: the beginning and the end of a schedule (clients.h): its store, its threads, its faults.
// Must never: let a fault outlive the clients.
#include "tests/lab/schedules/clients.h"
#include "tests/support/small_trees.h"

namespace varve::lab {
namespace {

constexpr std::string_view kScheduleStore = "store";
constexpr std::string_view kScheduleAccount = "account";

}  // namespace

World::World(std::uint64_t seed_given, bool on_rados)
    : seed(seed_given),
      random(seed_given),
      machine(empty_machine(on_rados, seed_given), seed_given),
      device_mutex_(machine.scheduler()),
      device_woken_(machine.scheduler()) {
  ResourceOptions chosen;
  chosen.write_buffer_bytes = io::one_in(random, 2) ? 64 << 10 : 64 << 20;
  chosen.block_cache_bytes = io::one_in(random, 2) ? 0 : 1 << 20;
  test::suit_tree_to(chosen.write_buffer_bytes);
  resources_ = *Resources::create(chosen);
}

World::~World() {
  fixed.reset();
  changing.reset();
  named.reset();
  store.reset();
}

bool World::excuses(const Status& status, const char* verb) {
  if (status.ok()) return true;
  const Code code = status.code();
  const bool is_of_a_fault = code == Code::kIoError || code == Code::kNoSpace || code == Code::kUnknown ||
                             code == Code::kPoisoned || code == Code::kTooManyFiles;
  if (has_faults && is_of_a_fault) return true;
  recorder.broken(std::string(verb) + ": " + status.to_string());
  return false;
}

Status World::open() {
  StoreOptions options;
  options.create_if_absent = true;
  options.resources = resources_;
  options.env = &machine.env();
  Result<std::unique_ptr<Store>> opened = Store::open(machine.files->path(kScheduleStore), options);
  if (!opened.ok()) return opened.status();
  store = *std::move(opened);
  return Status();
}

void World::prepare() {
  if (const Status opened = open(); !opened.ok()) return recorder.broken("an open: " + opened.to_string());
  if (const Status made = store->create_account(kScheduleAccount); !made.ok()) return recorder.broken(made.to_string());
  for (std::size_t object = 0; object < kHistories; ++object) {
    HistoryOperation made;
    made.invoked = recorder.tick();
    made.returned = recorder.tick();
    made.sets = {{0, 1}};
    made.text = "the table is made";
    recorder.add(object, made);
  }
  fixed = *store->create_table(kScheduleAccount, "Fixed");
  changing = *store->create_table(kScheduleAccount, "Changing");
  named = *store->create_table(kScheduleAccount, "Named");
  const Status declared = store->create_index(kScheduleAccount, "Named", {"ByName", {{"Name"}}, {}, true});
  if (!declared.ok()) return recorder.broken("an index: " + declared.to_string());
  has_faults = io::one_in(random, 4);
  if (has_faults) add_faults();
  if (io::one_in(random, 4)) refuse_links();
  has_stuck = !has_faults && io::one_in(random, 3);
  if (has_stuck) add_stuck();
  syncs_all = (has_faults || has_stuck) && !machine.files->outlives_process();
}

void World::add_faults() {
  constexpr std::array<io::FaultEffect, 3> kEffects = {io::FaultEffect::kError, io::FaultEffect::kShortThenError,
                                                       io::FaultEffect::kErrorAfterwards};
  io::FaultRule rule;
  rule.mutating_only = true;
  if (io::one_in(random, 2)) rule.kind = io::OperationKind::kLogWrite;
  rule.skip_count = io::random_below(random, 40);
  rule.effect = kEffects[io::random_below(random, kEffects.size())];
  if (io::one_in(random, 3)) rule.fail_count = io::FaultRule::kFromThenOn;
  machine.files->fail(std::move(rule));
}

/// Refuses links. Checkpoints then copy files, so this is not a fault.
void World::refuse_links() {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kLink;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.code = Code::kUnsupported;
  rule.reason = "Operation not supported";
  machine.files->fail(std::move(rule));
}

/// Makes a log write, a read of a table, or any step that changes the disk stay in flight until be_device() ends it.
void World::add_stuck() {
  io::FaultRule rule;
  rule.effect = io::FaultEffect::kNever;
  switch (io::random_below(random, 3)) {
    case 0: rule.kind = io::OperationKind::kLogWrite; break;
    case 1:
      rule.kind = io::OperationKind::kRead;
      rule.name_suffix = ".sst";
      break;
    default: rule.mutating_only = true; break;
  }
  rule.skip_count = io::random_below(random, 40);
  rule.fail_count = 1 + io::random_below(random, 2);
  machine.files->fail(std::move(rule));
}

void World::run() {
  prepare();
  run_threads();
  finish();
  look_at_checkpoints();
}

void World::run_threads() {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<io::Thread> threads;
  const std::size_t count = 2 + io::random_below(random, 3);
  for (std::size_t i = 0; i <= count; ++i) {
    clients.push_back(std::make_unique<Client>(*this, random.next(), io::one_in(random, 3)));
    Client& client = *clients.back();
    const bool maintains = i == count;
    Result<io::Thread> thread =
        scheduler().start("client", [&client, maintains] { maintains ? client.maintain(6) : client.run(16); });
    if (!thread.ok()) return recorder.broken("a thread: " + thread.status().to_string());
    threads.push_back(*std::move(thread));
  }
  std::optional<io::Thread> device;
  if (has_stuck) device = *scheduler().start("device", [this] { be_device(); });
  for (io::Thread& thread : threads) thread.join();
  const io::MutexGuard guard(device_mutex_);
  clients_ended_ = true;
  device_woken_.notify_all();
}

/// Ends stuck operations after a while. A process killed meanwhile has lost no data.
void World::be_device() {
  constexpr std::chrono::microseconds kLook{200};
  constexpr std::uint64_t kLooksBeforeAnswer = 20;
  std::uint64_t looks = io::random_below(random, kLooksBeforeAnswer);
  for (;;) {
    {
      const io::MutexGuard guard(device_mutex_);
      if (clients_ended_) return;
      (void)device_woken_.wait_for(device_mutex_, kLook);
    }
    if (!machine.files->is_stuck() || looks-- > 0) continue;
    was_stuck = true;
    look_at_killed_process();
    machine.files->end_faults();
    machine.files->let_go();
    return;
  }
}

void World::look_at_killed_process() {
  const std::uint64_t killed_at = recorder.tick();
  const CopyMachine copy(machine.files->process_death(machine.random), seed);
  StoreOptions options;
  options.env = &copy.env;
  options.read_only = true;  // Threads of a writer would belong to another simulation.
  const Result<std::unique_ptr<Store>> opened = open_as_standby(copy.files->path(kScheduleStore), options);
  if (!opened.ok()) return recorder.broken("killed while a call was stuck: " + opened.status().to_string());
  add_view(**opened, killed_at, (*(*opened)->statistics()).visible_version.ticks, "killed while a call was stuck");
}

void World::finish() {
  machine.files->end_faults();
  machine.files->let_go();
  excuses(store->close(), "a close");
  store.reset();
  if (const Status opened = open(); !opened.ok()) return recorder.broken("a reopen: " + opened.to_string());
  // Handles belong to the store that created them, so they are opened again. A handle of the closed store would also keep
  // its memtables, which the write buffer counts.
  fixed.reset();
  changing.reset();
  named.reset();
  fixed = *store->open_table(kScheduleAccount, "Fixed");
  named = *store->open_table(kScheduleAccount, "Named");
  const Result<Table> there = store->open_table(kScheduleAccount, "Changing");
  if (there.ok()) changing = *there;
  if (!there.ok()) {
    // Makes a handle whose table does not exist: the table is created and dropped.
    changing = *store->create_table(kScheduleAccount, "Changing");
    if (const Status dropped = store->drop_table(kScheduleAccount, "Changing"); !dropped.ok()) {
      recorder.broken("a drop: " + dropped.to_string());
    }
  }
  Client(*this, random.next(), false).read_everything();
  const std::string stray = machine.files->stray(machine.files->path(kScheduleStore));
  if (!stray.empty()) recorder.broken("an object that no entry names: " + stray);
}

void World::look_at_checkpoints() {
  for (const auto& [path, version] : checkpoints) {
    StoreOptions options;
    options.env = &machine.env();
    Result<std::unique_ptr<Store>> opened = Store::open(path, options);
    if (!opened.ok()) return recorder.broken("a checkpoint: " + opened.status().to_string());
    add_view(**opened, 0, version, "a checkpoint");
  }
}

/// Records another store's content as the content at one version. It must have all commits that were
/// acknowledged before the moment.
void World::add_view(Store& looked_at, std::uint64_t moment, std::uint64_t version, const char* text) {
  ViewRecord view;
  view.invoked = moment;
  view.text = text;
  view.version = version;
  const Result<Page> page = (*looked_at.open_table(kScheduleAccount, "Fixed")).scan(Scan());
  if (!page.ok()) return recorder.broken(std::string(text) + ": " + page.status().to_string());
  for (const Entity& entity : page->entities) {
    const auto* const value = entity.find("V")->get_if<std::int64_t>();
    view.content.at(static_cast<std::size_t>(entity.partition_key().at(1) - '0'))
        .at(static_cast<std::size_t>(entity.row_key().at(1) - '0')) = *value;
  }
  recorder.add(std::move(view));
}

}  // namespace varve::lab
