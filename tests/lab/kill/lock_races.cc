// Owns: races of many processes that open one store, and the attempts of a fork of the winner to use it.
// Must never: depend on the time that a loser waits.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <new>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lab/kill/kill.h"
#include "tests/lab/kill/processes.h"
#include "varve/store.h"

namespace varve::lab {

namespace {

constexpr int kRacers = 6;
constexpr std::uint64_t kNone = 1000;

/// The result of a race: each process stores the code of its open.
struct Race {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::array<std::atomic<std::uint64_t>, kRacers> codes{};
};

class SharedRace {
 public:
  SharedRace()
      : race_(new (::mmap(nullptr, sizeof(Race), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Race{}) {
    for (auto& code : race_->codes) code = kNone;
  }
  ~SharedRace() { ::munmap(race_, sizeof(Race)); }
  SharedRace(const SharedRace&) = delete;
  SharedRace& operator=(const SharedRace&) = delete;
  Race* operator->() noexcept { return race_; }
  Race& operator*() noexcept { return *race_; }

 private:
  Race* race_;
};

/// Returns different names of one directory.
std::vector<std::string> aliases_of(const std::string& directory) {
  return {directory + "/real/store",   "store",        directory + "/link/store", directory + "/real/../real/./store",
          directory + "/real//store/", "../real/store"};
}

int race(Race& race, std::size_t racer, const std::string& working_directory, const std::string& path) {
  if (::chdir(working_directory.c_str()) != 0) return 2;
  const RealMachine machine(racer % 2 == 0 ? BackEnd::kPosix : BackEnd::kUring, KillCount::kNever);
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &machine.env();
  race.ready.fetch_add(1);
  while (!race.go) ::sched_yield();
  const Result<std::unique_ptr<Store>> store = Store::open(path, options);
  race.codes[racer] = static_cast<std::uint64_t>(store.code());
  if (!store.ok()) return 0;
  for (;;) ::pause();  // until the process is killed
}

void wait_until_all_told(Race& race) {
  const auto told = [&] {
    return std::count_if(race.codes.begin(), race.codes.end(), [](const auto& code) { return code != kNone; });
  };
  while (told() < kRacers) ::sched_yield();
}

void run_race(std::uint64_t seed, const std::string& directory, Report& report) {
  const auto find = [&](const std::string& what) { report.find({seed, "locks", what, {}}); };
  SharedRace shared;
  const std::vector<std::string> names = aliases_of(directory);
  std::vector<pid_t> racers;
  for (std::size_t racer = 0; racer < kRacers; ++racer) {
    racers.push_back(start_child([&] { return race(*shared, racer, directory + "/real", names[racer]); }));
    if (racers.back() < 0) return find("fork failed");
  }
  while (shared->ready < kRacers) ::sched_yield();
  shared->go = true;
  wait_until_all_told(*shared);
  int winners = 0;
  for (std::size_t racer = 0; racer < kRacers; ++racer) {
    const auto code = static_cast<Code>(shared->codes[racer].load());
    if (code == Code::kOk) ++winners;
    if (code != Code::kOk && code != Code::kLocked) {
      find("the open of " + names[racer] + " was refused with " + std::string(code_name(code)));
    }
    // The winner is killed. The losers have ended or are about to end.
    const ChildEnd end = code == Code::kOk ? kill_after(racers[racer], 0) : wait_for(racers[racer]);
    if (!end.text.empty()) find("an opener: " + end.text);
  }
  if (winners != 1) find(std::to_string(winners) + " of " + std::to_string(kRacers) + " openers won the store");
  const pid_t heir = start_child([&] {
    const RealMachine machine(BackEnd::kPosix, KillCount::kNever);
    StoreOptions options;
    options.env = &machine.env();
    return Store::open(directory + "/link/store", options).ok() ? 0 : 1;
  });
  if (!wait_for(heir).text.empty()) find("nobody gets the store of a winner that was killed");
  report.count("lock races");
  report.count("openers refused", static_cast<std::uint64_t>(kRacers - winners));
}

/// Checks that a fork of a process with an open store cannot use the store.
int try_in_a_fork(Store& store, Table table, const std::string& path) {
  const pid_t fork = start_child([&] {
    if (table.insert(Entity("fork", "row")).code() != Code::kLocked) return 11;
    if (store.create_table("account1", "Other").code() != Code::kLocked) return 12;
    if (store.drop_table("account1", "Table1").code() != Code::kLocked) return 13;
    StoreOptions options;
    return Store::open(path, options).code() == Code::kLocked ? 0 : 14;
  });
  const ChildEnd end = wait_for(fork);
  return end.text.empty() ? 0 : std::max(end.status, 1);
}

int own_and_fork(const std::string& path) {
  const RealMachine machine(BackEnd::kPosix, KillCount::kNever);
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &machine.env();
  const Result<std::unique_ptr<Store>> store = Store::open(path, options);
  if (!store.ok() || !(*store)->create_account("account1").ok()) return 21;
  Result<Table> table = (*store)->create_table("account1", "Table1");
  if (!table.ok() || !table->insert(Entity("before", "row")).ok()) return 22;
  if (const int failed = try_in_a_fork(**store, *table, path); failed != 0) return failed;
  if (!table->insert(Entity("after", "row")).ok()) return 23;
  const Result<Page> page = table->scan(Scan{});
  if (!page.ok() || page->entities.size() != 2) return 24;
  return (*store)->close().ok() ? 0 : 25;
}

}  // namespace

Report run_lock_races(std::uint64_t seed, const std::string& directory) {
  constexpr int kRaces = 2;  // the first race creates the store
  Report report;
  std::filesystem::create_directory(directory + "/real");
  std::filesystem::create_directory_symlink(directory + "/real", directory + "/link");
  for (int race = 0; race < kRaces; ++race) run_race(seed, directory, report);
  const ChildEnd end = wait_for(start_child([&] { return own_and_fork(directory + "/forked"); }));
  if (!end.text.empty()) report.find({seed, "locks", "a fork of an owner, or the owner after it: " + end.text, {}});
  report.count("forks refused");
  return report;
}

}  // namespace varve::lab
