// Owns: a writer under limits of the system: few descriptors, a limit on the size of files.
// Must never: set a limit for the process that checks.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <sys/resource.h>

#include "tests/lab/kill/kill.h"
#include "tests/lab/kill/writer.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kOperationsBefore = 40;
constexpr std::uint64_t kOperationsUnder = 400;
constexpr std::uint64_t kOperationsAfter = 20;
constexpr int kTriesAfter = 400;

struct Limit {
  std::string_view name;
  decltype(RLIMIT_NOFILE) resource;
  rlim_t value;
};

void set_limit(const Limit& limit, rlim_t value) {
  rlimit now{};
  ::getrlimit(limit.resource, &now);
  now.rlim_cur = std::min(value, now.rlim_max);
  ::setrlimit(limit.resource, &now);
}

/// Returns whether the limit may cause this error of an operation.
bool is_allowed(const Limit& limit, Code code) {
  if (limit.resource == RLIMIT_NOFILE) return code == Code::kTooManyFiles || code == Code::kIoError;
  return code == Code::kNoSpace || code == Code::kIoError;
}
bool ends_the_store(Code code) {
  return code == Code::kPoisoned || code == Code::kUnknown;
}

/// Runs the operations of one thread, and acknowledges each in the ledger.
class LimitedWriter {
 public:
  LimitedWriter(const Life& life, KillLedger& ledger, const Limit& limit)
      : life_(life), ledger_(ledger), limit_(limit) {}

  int run() {
    const RealMachine machine(life_.back_end, KillCount::kNever);
    ResourceOptions scarce;
    scarce.write_buffer_bytes = 256 << 10;
    scarce.block_cache_bytes = 64 << 10;
    Result<std::shared_ptr<Resources>> resources = Resources::create(scarce);
    if (!resources.ok()) return complain("resources", resources.status());
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &machine.env();
    options.resources = *std::move(resources);
    Result<std::unique_ptr<Store>> store = Store::open(life_.store(), options);
    if (!store.ok()) return complain("the first open", store.status());
    if (Status made = (*store)->create_account(kKillAccount); !made.ok()) return complain("the account", made);
    if (Status made = (*store)->create_table(kKillAccount, kSharedTable).status(); !made.ok()) {
      return complain("the table", made);
    }
    ledger_.opened = 1;
    if (Status done = run_some(**store, kOperationsBefore); !done.ok()) return complain("without the limit", done);
    set_limit(limit_, limit_.value);
    const Status under = run_some(**store, kOperationsUnder);
    set_limit(limit_, RLIM_INFINITY);
    if (under.ok()) return kUnhindered;
    if (ends_the_store(under.code())) return kEnded;
    if (!is_allowed(limit_, under.code())) return complain("under the limit", under);
    return go_on(**store);
  }

  /// The exit codes of the writer's process.
  static constexpr int kWentOn = 0;
  static constexpr int kUnhindered = 20;
  static constexpr int kEnded = 21;  // the log itself failed: the store must be reopened

 private:
  int complain(const std::string& what, const Status& status) {
    ledger_.complain(std::string(limit_.name) + ": " + what + ": " + status.to_string());
    return 1;
  }

  Status run_some(Store& store, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = ledger_.threads[0].acknowledged + 1;
      const KillOperation operation = operation_of(life_.seed, 0, number);
      ledger_.threads[0].begun = number;
      const Result<std::uint64_t> version = perform(store, operation, state_);
      if (!version.ok()) return version.status();
      ledger_.threads[0].acknowledged = number;
      ledger_.raise_version(*version);
      apply(operation, state_);
    }
    return Status();
  }

  /// Checks that the same store accepts writes after the limit is lifted.
  int go_on(Store& store) {
    Status status;
    for (int tries = 0; tries < kTriesAfter; ++tries) {
      status = run_some(store, kOperationsAfter);
      if (status.ok()) return store.close().ok() ? kWentOn : complain("close", status);
      if (ends_the_store(status.code())) return kEnded;
      if (!is_allowed(limit_, status.code())) break;
      pause_for(kPauseMicroseconds);
    }
    return complain("after the limit was lifted", status);
  }
  static constexpr std::uint64_t kPauseMicroseconds = 5'000;

  const Life& life_;
  KillLedger& ledger_;
  const Limit limit_;
  ThreadState state_;
};

void run_limited(std::uint64_t seed, const std::string& directory, const Limit& limit, Report& report) {
  SharedLedger ledger;
  Life life;
  life.seed = seed;
  life.directory = directory;
  life.back_end = seed % 2 == 0 ? BackEnd::kPosix : BackEnd::kUring;
  const ChildEnd end = wait_for(start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    return LimitedWriter(life, *ledger, limit).run();
  }));
  report.count(std::string("runs under ") + std::string(limit.name));
  if (end.status == LimitedWriter::kWentOn && end.text.empty()) report.count("went on after the limit");
  if (end.status == LimitedWriter::kUnhindered) report.count("never met the limit");
  if (end.status == LimitedWriter::kEnded) report.count("the limit met the log");
  const bool has_crashed =
      !end.text.empty() && end.status != LimitedWriter::kUnhindered && end.status != LimitedWriter::kEnded;
  life.deep = true;
  const ChildEnd checked = wait_for(start_child([&] { return run_checker(life, *ledger); }));
  const std::string complaint = ledger->complaint();
  if (!complaint.empty()) report.find({seed, "limits", complaint, {}});
  if (complaint.empty() && has_crashed) report.find({seed, "limits", "the writer: " + end.text, {}});
  if (complaint.empty() && !checked.text.empty()) report.find({seed, "limits", "the checker: " + checked.text, {}});
  report.count("operations", ledger->recovered[0]);
}

}  // namespace

Report run_limits(std::uint64_t seed, const std::string& directory) {
  Report report;
  for (const std::string name : {"descriptors", "descriptors2", "sizes", "sizes2"}) {
    std::filesystem::create_directory(directory + "/" + name);
  }
  const rlim_t descriptors = 8 + seed % 8;
  const rlim_t bytes = (rlim_t{1} << 20) + (seed % 8) * (rlim_t{256} << 10);
  run_limited(seed, directory + "/descriptors", {"few descriptors", RLIMIT_NOFILE, descriptors}, report);
  run_limited(seed + 1, directory + "/descriptors2", {"few descriptors", RLIMIT_NOFILE, descriptors + 9}, report);
  run_limited(seed, directory + "/sizes", {"a bound on files", RLIMIT_FSIZE, bytes}, report);
  run_limited(seed + 1, directory + "/sizes2", {"a bound on files", RLIMIT_FSIZE, bytes >> 7}, report);
  return report;
}

}  // namespace varve::lab
