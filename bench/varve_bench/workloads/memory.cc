// Owns: the race of memory against budget: the peak memory of a process during its work, compared with its limit.
// Must never: count mapped or cached files, which the kernel can reclaim, or memory from before the measurement.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

/// Records the peak memory between two moments. It samples a hundred times a second.
class Peak {
 public:
  Peak() : thread_([this] { watch(); }) {}
  Peak(const Peak&) = delete;
  Peak& operator=(const Peak&) = delete;
  ~Peak() {
    stopping_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  void watch() noexcept {
    while (!stopping_.load(std::memory_order_relaxed)) {
      bytes_.store(std::max(bytes(), anonymous_bytes()), std::memory_order_relaxed);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Returns Varve's default budget for four million entities, scaled to the race. Both parts are full early.
Settings budget_of(const Choice& choice) {
  constexpr std::uint64_t kEntitiesOfDefaults = 4'000'000;
  Settings settings;
  settings.cache_bytes = (std::uint64_t{256} << 20) * choice.entities / kEntitiesOfDefaults;
  settings.write_buffer_bytes = settings.cache_bytes;
  return settings;
}

using Work = Result<Effect> (*)(Session&);

Result<Effect> put_anywhere(Session& session) {
  const std::uint64_t entities = session.choice().entities;
  return drive(session, {2, 0, entities}, [&](Worker& worker) -> Result<std::uint64_t> {
    const std::uint64_t n = worker.random.below(entities);
    Keys keys = keys_of(n);
    const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n + worker.done)}};
    const Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    return 1;
  });
}

Result<Effect> get_anywhere(Session& session) {
  return drive(session, {2, 2 * session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
    const Keys keys = keys_of(worker.random.below(session.choice().entities));
    const Result<bool> found = session.contender().get(0, keys.partition, keys.row);
    if (!found.ok()) return found.status();
    if (!*found) return Status::corruption("a get did not find what was loaded");
    return 1;
  });
}

Result<Effect> scan_all(Session& session) {
  return drive(session, {1, session.choice().seconds, 0},
               [&](Worker&) { return session.contender().scan_table(0, Scanned::kMade); });
}

/// `before`: the memory of the process when it had opened nothing.
WorkloadRow memory_row(std::string name, Work work, const std::shared_ptr<std::uint64_t>& before) {
  return {std::move(name), [work, before](Session& session) -> Result<Outcome> {
            const Settings settings = budget_of(session.choice());
            const auto budget = static_cast<double>(settings.cache_bytes + settings.write_buffer_bytes);
            const Peak peak;
            const Result<Effect> effect = work(session);
            if (!effect.ok()) return effect.status();
            const auto held = static_cast<double>(peak.bytes() - std::min(peak.bytes(), *before));
            Outcome outcome{held / budget, "x", false, {}, {}};
            outcome.figures["budget MB"] = budget / 1e6;
            outcome.figures["peak MB"] = held / 1e6;
            outcome.figures["/s"] = effect->rate();
            return outcome;
          }};
}

}  // namespace

Workload memory_workload() {
  auto before = std::make_shared<std::uint64_t>(0);
  Workload workload{"memory",
                    "the most memory that is held, of what was allowed for blocks and for writes",
                    budget_of,
                    {memory_row("memory of random puts, of the budget", put_anywhere, before),
                     memory_row("memory of random gets, of the budget", get_anywhere, before),
                     memory_row("memory of full scans, of the budget", scan_all, before)},
                    "loaded",
                    load_and_compact};
  workload.begin = [before](Session& session) {
    session.close();
    *before = anonymous_bytes();
    return session.reopen(budget_of(session.choice()));
  };
  workload.in_order = true;
  return workload;
}

}  // namespace varve::bench
