#include "bench/varve_bench/drive.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace varve::bench {

namespace {

constexpr std::uint64_t kStallNanoseconds = 100'000'000;

/// What the threads of one drive share.
struct Course {
  const Operation& operation;
  Effort effort;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Effect effect;
  Status failure;
};

/// So that all threads together do what was asked, not one more.
std::uint64_t share_of(const Effort& effort, int thread) {
  if (effort.operations == 0) return UINT64_MAX;
  const auto threads = static_cast<std::uint64_t>(effort.threads);
  const bool takes_one_more = static_cast<std::uint64_t>(thread) < effort.operations % threads;
  return effort.operations / threads + (takes_one_more ? 1 : 0);
}

void run(Course& course, int thread) {
  const std::uint64_t operations_max = share_of(course.effort, thread);
  Worker worker{thread, 0, Random(static_cast<std::uint64_t>(thread) * 7919 + now())};
  Histogram latencies;
  std::uint64_t entities = 0;
  std::uint64_t stalled = 0;
  Status failure;
  std::uint64_t before = now();
  while (worker.done < operations_max && !course.stop.load(std::memory_order_relaxed)) {
    const Result<std::uint64_t> moved = course.operation(worker);
    const std::uint64_t after = now();
    if (!moved.ok()) {
      failure = moved.status();
      course.stop = true;
      break;
    }
    latencies.add(after - before);
    if (after - before >= kStallNanoseconds) stalled += after - before;
    before = after;
    entities += *moved;
    ++worker.done;
  }
  const std::lock_guard lock(course.mutex);
  course.effect.entities += entities;
  course.effect.stalled_seconds += static_cast<double>(stalled) / 1e9;
  course.effect.latencies.merge(latencies);
  if (!failure.ok()) course.failure = failure;
}

double microseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3;
}

}  // namespace

std::uint64_t now() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

Stopwatch::Stopwatch(const std::string& directory) : directory_(directory), begun_(now()), before_(usage(directory)) {}

double Stopwatch::seconds() const {
  return static_cast<double>(now() - begun_) / 1e9;
}

Effect Stopwatch::effect(std::uint64_t entities) const {
  Effect effect;
  effect.seconds = seconds();
  const Usage after = usage(directory_);
  effect.entities = entities;
  effect.cpu_seconds = after.cpu_seconds - before_.cpu_seconds;
  effect.written_bytes = after.written_bytes - before_.written_bytes;
  if (after.device_reads && before_.device_reads) effect.device_reads = *after.device_reads - *before_.device_reads;
  return effect;
}

Result<Effect> drive(Session& session, const Effort& effort, const Operation& operation) {
  Course course{operation, effort, {}, {}, {}, {}};
  const Stopwatch watch(session.directory());
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < effort.threads; ++thread) running.emplace_back([&, thread] { run(course, thread); });
    if (effort.seconds > 0) {
      const std::uint64_t end = now() + static_cast<std::uint64_t>(effort.seconds * 1e9);
      while (now() < end && !course.stop) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<std::uint64_t>(end - now(), 10'000'000)));
      }
      course.stop = true;
    }
  }
  if (!course.failure.ok()) return course.failure;
  Effect effect = watch.effect(course.effect.entities);
  effect.stalled_seconds = course.effect.stalled_seconds;
  effect.latencies = course.effect.latencies;
  return effect;
}

Outcome outcome_of(const Effect& effect, Moves moves) {
  Outcome outcome{effect.rate(), "/s", true, {}, {}};
  const double entities = static_cast<double>(std::max<std::uint64_t>(effect.entities, 1));
  if (effect.latencies.count() > 0) {
    outcome.figures["p50 us"] = microseconds(effect.latencies.quantile(0.5));
    outcome.figures["p99 us"] = microseconds(effect.latencies.quantile(0.99));
    outcome.figures["p99.9 us"] = microseconds(effect.latencies.quantile(0.999));
    outcome.figures["p99.99 us"] = microseconds(effect.latencies.quantile(0.9999));
    outcome.figures["max us"] = microseconds(effect.latencies.max());
    outcome.figures["stalled s"] = effect.stalled_seconds;
  }
  outcome.figures["CPU s/M"] = effect.cpu_seconds / entities * 1e6;
  if (moves == Moves::kWrites) {
    outcome.figures["written/user"] = static_cast<double>(effect.written_bytes) / entities / kEntityBytes;
  } else if (effect.device_reads) {
    outcome.figures["reads/op"] = static_cast<double>(*effect.device_reads) / entities;
  }
  return outcome;
}

Result<Outcome> measure_open(Session& session, const Settings& settings) {
  session.close();
  const Stopwatch watch(session.directory());
  if (Status opened = session.reopen(settings); !opened.ok()) return opened;
  return Outcome{watch.seconds() * 1e3, "ms", false, {}, {}};
}

}  // namespace varve::bench
