#include "bench/varve_bench/drive.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace varve::bench {

namespace {

constexpr std::uint64_t kStallNanoseconds = 100'000'000;

/// The state that the threads of one drive share.
struct Course {
  Course(const Operation& what, const Effort& how_long) : operation(what), effort(how_long) {}

  const Operation& operation;
  Effort effort;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Effect effect;
  Status failure;
  double driven_cpu_seconds = 0;
  std::uint64_t begun = now();
};

/// Returns the operations of one thread, so that all threads together do exactly the requested number.
std::uint64_t share_of(const Effort& effort, int thread) {
  if (effort.operations == 0) return UINT64_MAX;
  const auto threads = static_cast<std::uint64_t>(effort.threads);
  const bool takes_one_more = static_cast<std::uint64_t>(thread) < effort.operations % threads;
  return effort.operations / threads + (takes_one_more ? 1 : 0);
}

/// Returns the due time of a thread's nth operation. The threads take turns.
std::uint64_t due_time(const Course& course, int thread, std::uint64_t n) {
  const double turn = static_cast<double>(n * static_cast<std::uint64_t>(course.effort.threads)) + thread;
  return course.begun + static_cast<std::uint64_t>(turn / course.effort.rate * 1e9);
}

/// Sleeps until shortly before the due time, and spins for the rest.
void wait_until(std::uint64_t due) {
  constexpr std::uint64_t kAwakeBefore = 100'000;
  for (std::uint64_t time = now(); time < due; time = now()) {
    if (due - time > kAwakeBefore) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(due - time - kAwakeBefore));
    } else {
      std::this_thread::yield();
    }
  }
}

Histogram& slot_at(std::vector<Histogram>& slots, const Course& course, std::uint64_t time) {
  const auto slot =
      static_cast<std::size_t>(static_cast<double>(time - course.begun) / 1e9 / course.effort.slot_seconds);
  if (slots.size() <= slot) slots.resize(slot + 1);
  return slots[slot];
}

void merge_slots(std::vector<Histogram>& all, const std::vector<Histogram>& more) {
  if (all.size() < more.size()) all.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) all[i].merge(more[i]);
}

void drive_thread(Course& course, int thread) {
  const std::uint64_t operations_max = share_of(course.effort, thread);
  Worker worker{thread, 0, Random(static_cast<std::uint64_t>(thread) * 7919 + now())};
  Histogram latencies;
  std::uint64_t entities = 0;
  std::uint64_t stalled = 0;
  Status failure;
  std::vector<Histogram> slots;
  const double cpu_before = thread_cpu_seconds();
  std::uint64_t before = now();
  while (worker.done < operations_max && !course.stop.load(std::memory_order_relaxed)) {
    if (course.effort.rate > 0) wait_until(before = due_time(course, thread, worker.done));
    const Result<std::uint64_t> moved = course.operation(worker);
    const std::uint64_t after = now();
    if (!moved.ok()) {
      failure = moved.status();
      course.stop = true;
      break;
    }
    latencies.add(after - before);
    if (course.effort.slot_seconds > 0) slot_at(slots, course, after).add(after - before);
    if (after - before >= kStallNanoseconds) stalled += after - before;
    before = after;
    entities += *moved;
    ++worker.done;
  }
  const std::lock_guard lock(course.mutex);
  course.effect.entities += entities;
  course.effect.stalled_seconds += static_cast<double>(stalled) / 1e9;
  course.effect.latencies.merge(latencies);
  course.driven_cpu_seconds += thread_cpu_seconds() - cpu_before;
  merge_slots(course.effect.slots, slots);
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
  effect.read_bytes = after.read_bytes - before_.read_bytes;
  if (after.device_reads && before_.device_reads) effect.device_reads = *after.device_reads - *before_.device_reads;
  if (after.device_written_bytes && before_.device_written_bytes) {
    effect.device_written_bytes = *after.device_written_bytes - *before_.device_written_bytes;
  }
  return effect;
}

Result<Effect> drive(Session& session, const Effort& effort, const Operation& operation) {
  Course course(operation, effort);
  const Stopwatch watch(session.directory());
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < effort.threads; ++thread)
      running.emplace_back([&, thread] { drive_thread(course, thread); });
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
  effect.slots = std::move(course.effect.slots);
  effect.background_cpu_seconds = std::max(0.0, effect.cpu_seconds - course.driven_cpu_seconds);
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
  const double user_bytes = effect.user_bytes > 0 ? static_cast<double>(effect.user_bytes) : entities * kEntityBytes;
  outcome.figures["CPU s/M"] = effect.cpu_seconds / entities * 1e6;
  outcome.figures["read/user"] = static_cast<double>(effect.read_bytes) / user_bytes;
  outcome.figures["read MB/M"] = static_cast<double>(effect.read_bytes) / entities;
  if (moves == Moves::kWrites) {
    if (effect.background_cpu_seconds > 0)
      outcome.figures["background CPU s/M"] = effect.background_cpu_seconds / entities * 1e6;
    outcome.figures["written/user"] = static_cast<double>(effect.written_bytes) / user_bytes;
    outcome.figures["written MB/M"] = static_cast<double>(effect.written_bytes) / entities;
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
