// Owns: the ways in which a run (run.h) ends and reopens the store: closes, kills, power cuts, and faults before them.
// Must never: accept a recovered state that no commit had.
#include <chrono>

#include "tests/lab/content/index_comparison.h"
#include "tests/lab/model/run.h"

namespace varve::lab {
namespace {

/// One more image policy than those of power cuts: the death of the process.
constexpr std::uint32_t kImagePolicies = static_cast<std::uint32_t>(std::size(io::kCrashPolicies)) + 1;
constexpr std::uint32_t kKilled = kImagePolicies - 1;
constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

void Run::make_machine(Remains remains, std::uint64_t seed) {
  machine_ = std::make_unique<ScheduledMachine>(std::move(remains), seed);
  machine_->files->observe([this] { take_image(); });
}

/// Returns the version that a crash must leave at least.
std::uint64_t Run::floor_of(bool killed) const {
  return killed && !faults_ && machine_->files->outlives_process() ? acknowledged_ : promised_;
}

StoreOptions Run::options(const io::Env& env) const {
  StoreOptions chosen;
  chosen.create_if_absent = true;
  chosen.short_pages = profile_.short_pages;
  chosen.resources = resources_;
  chosen.env = &env;
  return chosen;
}

Status Run::open() {
  note_clock_at_open();
  Result<std::unique_ptr<Store>> opened = open_as_standby(path(), options(machine_->env()));
  if (!opened.ok()) return opened.status();
  store_ = *std::move(opened);
  count("opens");
  return Status();
}

void Run::close() {
  const Status closed = store_->close();
  if (!closed.ok() && !is_excused(closed)) broken("a close: " + closed.to_string());
  if (closed.ok() && !unknown_) promised_ = acknowledged_;
  for (std::optional<Held>& held : held_) {
    if (held && held->tables.empty()) held.reset();
    if (!held) continue;
    ReadOptions read;
    read.snapshot = held->snapshot;
    if (held->tables.begin()->second.get("a", "a", read).code() != Code::kClosed) {
      broken("a snapshot of a closed store answers something else than kClosed");
    }
  }
  held_ = {};
  handles_.clear();
  store_.reset();
}

StatePointer Run::state_at(std::uint64_t version, const char* where) {
  if (const auto found = history_.find(version); found != history_.end()) return found->second;
  if (const auto build = builds_.upper_bound(version); build != builds_.end() && build->second.after < version) {
    return build->second.state;
  }
  if (unknown_ && version > version_) {
    auto state = std::make_shared<State>(*state_);
    (*unknown_)(*state, ETag::of_timestamp(DateTime{version}));
    return state;
  }
  broken(std::string(where) + ": the store is at a version that no commit had");
  return nullptr;
}

void Run::recovered(std::uint64_t floor, const char* where) {
  const std::uint64_t version = visible().ticks;
  if (version < floor) return broken(std::string(where) + ": something acknowledged was lost");
  const StatePointer state = state_at(version, where);
  if (failed()) return;
  if (version > version_) count("Unknown writes that had happened");
  state_ = state;
  history_.erase(history_.upper_bound(version), history_.end());
  builds_.erase(builds_.upper_bound(version), builds_.end());
  history_[version] = state_;
  version_ = promised_ = acknowledged_ = version;
  highest_ = std::max(highest_, version);
  unknown_.reset();
  misfortune_ = faults_ = false;
  pass_near_ends();
  if (!failed()) compare_store(*store_, *state_, where);
}

void Run::reopen(std::uint32_t faults) {
  // Acknowledged buffered writes live as long as the process. After faults, only the log decides whether they are lost.
  const bool may_lose = faults_ || (misfortune_ && !machine_->files->outlives_process());
  const std::uint64_t floor = may_lose ? promised_ : acknowledged_;
  const bool go_on = faults % 2 == 1;  // the faults last until the open has failed, or its background work has begun
  const std::uint64_t hits = machine_->files->fault_count();
  const bool full = misfortune_ && !faults_;
  if (!go_on) machine_->files->end_faults();
  if (!go_on) machine_->files->free_space();
  close();
  if (failed()) return;
  Status opened = open();
  if (!opened.ok() && go_on && is_excused(opened)) {
    count("opens that failed");
    machine_->files->end_faults();
    machine_->files->free_space();
    opened = open();
  }
  machine_->files->end_faults();
  if (!opened.ok()) return broken("a reopen: " + opened.to_string());
  machine_->files->free_space();
  recovered(std::max(floor, promised_), "a reopen");
  if (go_on && (full || machine_->files->fault_count() != hits)) misfortune_ = faults_ = true;
  count("reopens");
}

void Run::verify() {
  if (misfortune_) return;
  close();
  if (failed()) return;
  const Result<VerifyReport> report = Store::verify(path(), options(machine_->env()));
  if (!report.ok()) return broken("a verification: " + report.status().to_string());
  if (!report->sound()) return broken("a verification: " + report->findings.front());
  const std::uint64_t latest = std::max({latest_time_, highest_ + io::kTicksPerSecond, machine_->clock.wall()});
  const std::size_t most = living(*state_, version_)->entities();
  if (report->entities > most || report->entities < living(*state_, latest)->entities()) {
    return broken("a verification: the number of entities differs");
  }
  if (const std::string differs = index_difference(machine_->env(), path(), false); !differs.empty()) {
    return broken("a verification: " + differs);
  }
  if (const Status opened = open(); !opened.ok()) return broken("a reopen: " + opened.to_string());
  recovered(acknowledged_, "a reopen");
  count("verifications");
}

void Run::read_only_open() {
  if (misfortune_) return;
  const CopyMachine copy(machine_->files->process_death(random_), random_.next());
  StoreOptions chosen = options(copy.env);
  chosen.create_if_absent = false;
  chosen.read_only = true;
  const Result<std::unique_ptr<Store>> opened = open_as_standby(path(), chosen);
  if (!opened.ok()) return broken("a read-only open: " + opened.status().to_string());
  const std::uint64_t version = (*(*opened)->snapshot()).version().ticks;
  if (version < floor_of(true) || version > version_) return broken("a read-only open: at another version");
  const StatePointer state = state_at(version, "a read-only open");
  if (failed()) return;
  compare_store(**opened, *state, "a read-only open");
  if ((*opened)->create_account("third").code() != Code::kReadOnly) broken("a read-only open: it writes");
  if (copy.files->write_count() != 0) broken("a read-only open: it changed a file");
  count("read-only opens");
}

void Run::crash(bool killed, io::CrashPolicy policy) {
  const std::uint64_t floor = floor_of(killed);
  Remains remains = killed ? machine_->files->process_death(random_) : machine_->files->power_cut(policy, random_);
  held_ = {};
  handles_.clear();
  image_.armed = false;
  machine_->files->end_faults();
  store_.reset();
  const bool has_ends = next_end(*state_, 0) != kNoEnd;
  const io::Ticks wall = machine_->clock.wall();
  machine_.reset();  // A thread can have only one simulation at a time.
  const std::uint64_t seed = random_.next();
  make_machine(std::move(remains), seed);
  if (seed % 2 == 0 && has_ends) machine_->clock.set_wall(wall);  // Otherwise it begins where the first one began.
  if (const Status opened = open(); !opened.ok()) {
    return broken(std::string("after ") + (killed ? "a kill: " : "a power cut: ") + opened.to_string());
  }
  recovered(floor, killed ? "a kill" : "a power cut");
  count(killed ? "kills" : "power cuts");
}

void Run::take_over() {
  if (!machine_->files->freeze()) return;
  const std::uint64_t floor = promised_;
  std::unique_ptr<Store> former = std::exchange(store_, nullptr);
  std::map<std::string, Table> former_handles = std::exchange(handles_, {});
  held_ = {};
  image_.armed = false;
  machine_->files->end_faults();
  machine_->files->free_space();
  make_resources();
  if (const Status opened = open(); !opened.ok()) return broken("a takeover: " + opened.to_string());
  recovered(floor, "a takeover");
  if (failed()) return;
  machine_->files->thaw();
  for (auto& [name, table] : former_handles) {
    const Code read = table.get("a", "a").code();
    if (read == Code::kOk || read == Code::kNotFound) broken("a takeover: the former owner answers a read of " + name);
    if (table.insert_or_replace(Entity("a", "thawed")).ok()) broken("a takeover: the former owner writes");
  }
  (void)former->sync();
  former_handles.clear();
  (void)former->close();
  former.reset();
  machine_->files->end_thawed();
  count("takeovers");
}

void Run::plan_image(const Numbers& numbers) {
  image_.armed = true;
  image_.steps_left = numbers[0] % 64;
  image_.policy = numbers[1] % kImagePolicies;
  image_.remains.reset();
}

/// Called at each step of the machine, by the thread that makes the step. Only one thread runs at a time.
void Run::take_image() {
  if (!image_.armed || image_.steps_left-- > 0) return;
  image_.armed = false;
  image_.floor = floor_of(image_.policy == kKilled);
  image_.remains = image_.policy == kKilled ? machine_->files->process_death(random_)
                                            : machine_->files->power_cut(io::kCrashPolicies[image_.policy], random_);
}

/// Checks the image after the operation in which it was taken, so that the ledger contains the commit that was in
/// flight.
void Run::check_image() {
  if (!image_.remains || failed()) return;
  Remains remains = *std::move(image_.remains);
  image_.remains.reset();
  check_disk(std::move(remains), image_.floor, "a crash inside of an operation");
  count("crash images");
}

void Run::check_disk(Remains remains, std::uint64_t floor, const char* where) {
  const CopyMachine copy(std::move(remains), random_.next());
  const Result<std::unique_ptr<Store>> opened = open_as_standby(path(), options(copy.env));
  if (!opened.ok()) return broken(std::string(where) + ": " + opened.status().to_string());
  const std::uint64_t version = (*(*opened)->snapshot()).version().ticks;
  if (version < floor) return broken(std::string(where) + ": something acknowledged was lost");
  const StatePointer state = state_at(version, where);
  if (!failed()) compare_store(**opened, *state, where);
}

void Run::fail(const Numbers& numbers) {
  constexpr std::array<Code, 4> kCodes = {Code::kIoError, Code::kNoSpace, Code::kTooManyFiles, Code::kReadOnly};
  constexpr std::array<io::FaultEffect, 5> kEffects = {
      io::FaultEffect::kError, io::FaultEffect::kShortThenError, io::FaultEffect::kErrorAfterwards,
      io::FaultEffect::kSyncFailsCacheKept, io::FaultEffect::kSyncFailsCacheReverted};
  io::FaultRule rule;
  rule.mutating_only = true;
  rule.skip_count = numbers[0] % 64;
  rule.code = kCodes[numbers[1] % kCodes.size()];
  rule.effect = kEffects[numbers[2] % kEffects.size()];
  if (numbers[3] % 2 == 1) rule.fail_count = io::FaultRule::kFromThenOn;
  machine_->files->fail(std::move(rule));
  misfortune_ = faults_ = true;
  count("faults");
}

void Run::fill_disk(std::uint32_t pages) {
  machine_->files->fill(pages % 600 * kPageBytes);
  misfortune_ = true;
  count("full disks");
}

void Run::let_others_run() {
  io::Mutex mutex(machine_->scheduler());
  io::Condition never(machine_->scheduler());
  const io::MutexGuard guard(mutex);
  never.wait_for(mutex, std::chrono::milliseconds(100));
}

/// Frees the disk. If lack of space was the only fault, writes must work within a second.
void Run::free_disk() {
  machine_->files->free_space();
  if (!misfortune_ || faults_) return;
  std::uint32_t table = 0;
  while (table < kTables && state_->table(table_name(table)) == nullptr) ++table;
  if (table == kTables) return;
  const std::uint64_t before = version_;
  for (int tenths = 0; tenths < 10; ++tenths) {
    write(OperationName::kInsertOrReplace, {table, 0, 0, 0, 0, 0});
    if (failed() || version_ != before) return count("disks freed");
    let_others_run();
  }
  broken("a full disk: writes do not go on though there is room");
}

}  // namespace varve::lab
