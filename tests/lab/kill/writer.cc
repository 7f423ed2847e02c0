#include "tests/lab/kill/writer.h"

#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

namespace varve::lab {

namespace {

/// So small that memtables are flushed and files are compacted continuously.
constexpr std::uint64_t kScarceBytes = 256 << 10;
constexpr int kFailed = 1;

Result<std::unique_ptr<Store>> open_store(const Life& life, const RealMachine& machine, bool read_only) {
  StoreOptions options;
  options.create_if_absent = !read_only;
  options.read_only = read_only;
  options.env = &machine.env();
  if (life.seed % 2 == 0) {
    ResourceOptions scarce;
    scarce.write_buffer_bytes = kScarceBytes;
    scarce.block_cache_bytes = kScarceBytes;
    Result<std::shared_ptr<Resources>> resources = Resources::create(scarce);
    if (!resources.ok()) return resources.status();
    options.resources = *std::move(resources);
  }
  return Store::open(life.store(), options);
}

Status make_basis(Store& store) {
  if (Status made = store.create_account(kKillAccount); !made.ok() && made.code() != Code::kExists) return made;
  const Status table = store.create_table(kKillAccount, kSharedTable).status();
  return table.code() == Code::kExists ? Status() : table;
}

void run_thread(Store& store, const Life& life, KillLedger& ledger, std::uint32_t thread) {
  const std::uint64_t begin = life.begins_at[thread];
  const std::uint64_t known_version = ledger.version;
  ThreadState state = life.base[thread];
  for (std::uint64_t number = begin + 1; number <= begin + life.operations_max; ++number) {
    const KillOperation operation = operation_of(life.seed, thread, number);
    ledger.threads[thread].begun = number;
    const Result<std::uint64_t> version = perform(store, operation, state);
    if (!version.ok()) {
      return ledger.complain("operation " + std::to_string(number) + " of thread " + std::to_string(thread) +
                             " failed: " + version.status().to_string());
    }
    ledger.threads[thread].acknowledged = number;
    if (*version != 0 && *version <= known_version) ledger.complain("a version was given twice or went back");
    ledger.raise_version(*version);
    apply(operation, state);
  }
}

/// Does the background operations of a store's life beside the writers.
void run_upkeep(Store& store, const Life& life, KillLedger& ledger, const std::atomic<bool>& stop) {
  for (std::uint64_t turn = life.begins_at[0]; !stop; ++turn) {
    Status done;
    switch (turn % 4) {
      case 0: done = store.sync(); break;
      case 1: {
        const std::uint64_t number = ledger.checkpoints_begun.fetch_add(1) + 1;
        done = store.checkpoint(life.checkpoint(number)).status();
        if (done.ok()) ledger.checkpoints = number;
        break;
      }
      default: done = store.compact(); break;
    }
    if (!done.ok()) return ledger.complain("upkeep failed: " + done.to_string());
  }
}

/// Checks a thread's content. It must be that of the last acknowledged operation, or of the operation begun after it.
void check_thread(const Life& life, KillLedger& ledger, std::uint32_t thread, const ThreadState& found) {
  const std::uint64_t acknowledged = ledger.threads[thread].acknowledged;
  const std::uint64_t begun = ledger.threads[thread].begun;
  ThreadState expected = state_at(life, thread, acknowledged);
  std::string first = difference(expected, found);
  ledger.recovered[thread] = acknowledged;
  if (first.empty()) return;
  if (begun > acknowledged) {
    apply(operation_of(life.seed, thread, begun), expected);
    ledger.recovered[thread] = begun;
    if (difference(expected, found).empty()) return;
  }
  ledger.complain("thread " + std::to_string(thread) + " after operation " + std::to_string(acknowledged) + " of " +
                  std::to_string(begun) + " begun: " + first);
}

void check_checkpoints(const Life& life, KillLedger& ledger) {
  std::error_code ignored;
  const RealMachine machine(life.back_end, KillCount::kNever);
  for (std::uint64_t number = 1; number <= ledger.checkpoints_begun; ++number) {
    if (!std::filesystem::exists(life.checkpoint(number), ignored)) continue;
    StoreOptions options;
    options.env = &machine.env();
    const Result<VerifyReport> report = Store::verify(life.checkpoint(number), options);
    const bool is_promised = number == ledger.checkpoints;
    if (report.ok() && !report->sound()) ledger.complain("a checkpoint is damaged: " + report->findings.front());
    if (!report.ok() && is_promised) ledger.complain("a checkpoint does not open: " + report.status().to_string());
    std::filesystem::remove_all(life.checkpoint(number), ignored);
  }
}

void check_store(const Store& store, const Life& life, KillLedger& ledger) {
  const Result<std::vector<ThreadState>> states = read_states(store);
  if (ledger.opened == 0 && states.code() == Code::kNotFound) return;  // killed before a table existed
  if (!states.ok()) return ledger.complain("reading failed: " + states.status().to_string());
  for (std::uint32_t thread = 0; thread < kKillThreads; ++thread) {
    check_thread(life, ledger, thread, (*states)[thread]);
  }
  const Result<Statistics> statistics = store.statistics();
  if (!statistics.ok()) return ledger.complain("no statistics: " + statistics.status().to_string());
  if (statistics->visible_version.ticks < ledger.version) ledger.complain("the store went back to an older version");
}

}  // namespace

ThreadState state_at(const Life& life, std::uint32_t thread, std::uint64_t number) {
  ThreadState state = life.base[thread];
  for (std::uint64_t one = life.begins_at[thread] + 1; one <= number; ++one) {
    apply(operation_of(life.seed, thread, one), state);
  }
  return state;
}

int run_writer(const Life& life, KillLedger& ledger) {
  const RealMachine machine(life.back_end, life.kill_at);
  const Result<std::unique_ptr<Store>> store = open_store(life, machine, false);
  if (!store.ok()) {
    ledger.complain("a writer could not open the store: " + store.status().to_string());
    return kFailed;
  }
  if (Status made = make_basis(**store); !made.ok()) {
    ledger.complain("no account or table: " + made.to_string());
    return kFailed;
  }
  ledger.opened = 1;
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> threads;
    std::jthread upkeep([&] { run_upkeep(**store, life, ledger, stop); });
    for (std::uint32_t thread = 0; thread < kKillThreads; ++thread) {
      threads.emplace_back([&, thread] { run_thread(**store, life, ledger, thread); });
    }
    threads.clear();
    stop = true;
  }
  if (Status closed = (*store)->close(); !closed.ok()) ledger.complain("close failed: " + closed.to_string());
  return 0;
}

int run_opener(const Life& life, KillLedger& ledger) {
  const RealMachine machine(life.back_end, life.kill_at);
  const Result<std::unique_ptr<Store>> store = open_store(life, machine, false);
  if (!store.ok()) ledger.complain("an opener could not open the store: " + store.status().to_string());
  return 0;
}

int run_checker(const Life& life, KillLedger& ledger) {
  const RealMachine machine(life.back_end, KillCount::kNever);
  const bool may_be_absent = ledger.opened == 0;  // killed during its creation
  if (life.deep && !may_be_absent) {
    StoreOptions options;
    options.env = &machine.env();
    const Result<VerifyReport> report = Store::verify(life.store(), options);
    if (!report.ok()) ledger.complain("verification failed: " + report.status().to_string());
    if (report.ok() && !report->sound()) ledger.complain("verification found: " + report->findings.front());
    ledger.verified = ledger.verified + 1;
  }
  {
    const Result<std::unique_ptr<Store>> store = open_store(life, machine, true);
    const bool is_absent = may_be_absent && store.code() == Code::kNotFound;
    if (!store.ok() && !is_absent)
      ledger.complain("the store does not open for reading: " + store.status().to_string());
    if (store.ok()) check_store(**store, life, ledger);
  }
  const Result<std::unique_ptr<Store>> store = open_store(life, machine, false);
  if (!store.ok()) {
    ledger.complain("the store does not open: " + store.status().to_string());
    return 0;
  }
  check_store(**store, life, ledger);
  if (Status made = make_basis(**store); !made.ok()) ledger.complain("it takes no commits: " + made.to_string());
  check_checkpoints(life, ledger);
  // The checker does not close the store: a close would leave the next writer nothing to recover.
  if (!life.deep) ::_exit(0);
  if (Status closed = (*store)->close(); !closed.ok()) ledger.complain("close failed: " + closed.to_string());
  return 0;
}

}  // namespace varve::lab
