// Owns: the effect of each scheduler call on the threads of a simulated program.
// Must never: return from a call to a thread that does not have the baton.

#include "io/simulated/seeded_scheduler.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

namespace varve::io {

namespace {

constexpr std::chrono::nanoseconds kTimePerDecision = std::chrono::microseconds(1);
/// Initial priorities are above this number. Lowered threads get priorities below it, counting down.
constexpr std::uint64_t kInitialPriorities = std::uint64_t{1} << 32;
constexpr std::uint64_t kPolicyCount = 3;
/// More mutexes than any program holds at once, so that lock(), which cannot fail, does not allocate.
constexpr std::size_t kHeldMutexesExpected = 256;

/// The simulation that runs this thread, and the thread's id in it.
struct Identity {
  const SeededScheduler* simulation = nullptr;
  std::uint64_t id = 0;
};
thread_local Identity this_thread_identity;

}  // namespace

SeededScheduler::SeededScheduler(std::uint64_t seed, ManualClock& clock)
    : seed_(seed),
      clock_(clock),
      scheduler_(*this),
      random_(seed),
      policy_(static_cast<SchedulePolicy>(random_.next() % kPolicyCount)),
      change_rate_(std::uint64_t{8} << random_below(6)),
      // Only some seeds produce wake-ups without cause, because such a wake-up can hide a missing notification.
      spurious_rate_(random_below(4) == 0 ? 16 : 0),
      lowest_priority_(kInitialPriorities) {
  assert(this_thread_identity.simulation == nullptr);  // A thread has one simulation at a time.
  held_.reserve(kHeldMutexesExpected);
  threads_.push_back(std::make_unique<ThreadRecord>());
  threads_.front()->name = "main";
  threads_.front()->priority = kInitialPriorities + random_.next() % kInitialPriorities;
  this_thread_identity = {this, 0};
}

SeededScheduler::~SeededScheduler() {
  assert(this_thread_identity.simulation == this);
  for (std::size_t id = 1; id < threads_.size(); ++id) assert(threads_[id]->state == State::kEnded);
  this_thread_identity = {};
}

std::uint64_t SeededScheduler::trace_hash() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return trace_hash_;
}

std::uint64_t SeededScheduler::decision_count() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return decision_count_;
}

void SeededScheduler::set_decisions_max(std::uint64_t decisions_max) {
  const std::lock_guard<std::mutex> guard(mutex_);
  decisions_max_ = decisions_max;
}

// -- The seam ---------------------------------------------------------------------------------------------------------

void SeededScheduler::lock(const void* mutex) noexcept {
  const ThreadId me = self("lock");
  Baton baton(mutex_);
  switch_threads(baton, me, Call::kLock);
  take_mutex(baton, me, mutex);
}

void SeededScheduler::unlock(const void* mutex) noexcept {
  const ThreadId me = self("unlock");
  Baton baton(mutex_);
  release_mutex(me, mutex);
  switch_threads(baton, me, Call::kUnlock);
}

bool SeededScheduler::wait(const void* condition, const void* mutex,
                           std::optional<std::chrono::nanoseconds> timeout) noexcept {
  const ThreadId me = self("wait");
  Baton baton(mutex_);
  // A notification by a thread that does not hold the mutex can come here, too early.
  switch_threads(baton, me, Call::kWait);
  release_mutex(me, mutex);
  ThreadRecord& record = thread(me);
  record.timed_out = false;
  if (timeout.has_value() && timeout->count() <= 0) {
    record.timed_out = true;
    switch_threads(baton, me, Call::kWait);
  } else if (spurious_rate_ != 0 && random_below(spurious_rate_) == 0) {
    switch_threads(baton, me, Call::kWait);
  } else {
    constexpr std::chrono::nanoseconds kConditionWaitMax = std::chrono::hours(24 * 365);
    if (timeout.has_value()) record.deadline = clock_.monotonic() + std::min(*timeout, kConditionWaitMax);
    block(baton, me, State::kWaitsForCondition, condition, Call::kWait);
  }
  const bool timed_out = record.timed_out;
  take_mutex(baton, me, mutex);
  return !timed_out;
}

void SeededScheduler::notify(const void* condition, bool all) noexcept {
  const ThreadId me = self("notify");
  Baton baton(mutex_);
  switch_threads(baton, me, Call::kNotify);
  if (all) {
    wake_all(State::kWaitsForCondition, condition);
  } else {
    wake_one(condition);
  }
  switch_threads(baton, me, Call::kNotify);
}

void SeededScheduler::event_wait(const std::atomic<std::uint32_t>* word) noexcept {
  const ThreadId me = self("event_wait");
  Baton baton(mutex_);
  switch_threads(baton, me, Call::kEventWait);
  // A woken thread does not read the word again: the word is set, and another waiter may have freed it.
  if (word->load(std::memory_order_acquire) == 0) block(baton, me, State::kWaitsForEvent, word, Call::kEventWait);
}

void SeededScheduler::event_set(const std::atomic<std::uint32_t>* word) noexcept {
  const ThreadId me = self("event_set");
  Baton baton(mutex_);
  wake_all(State::kWaitsForEvent, word);
  switch_threads(baton, me, Call::kEventSet);
}

void SeededScheduler::yield() noexcept {
  const ThreadId me = self("yield");
  Baton baton(mutex_);
  switch_threads(baton, me, Call::kYield);
}

std::uint64_t SeededScheduler::announce_thread(std::string_view name) {
  (void)self("announce_thread");
  auto record = std::make_unique<ThreadRecord>();
  record->name = name;
  Baton baton(mutex_);
  record->priority = kInitialPriorities + random_.next() % kInitialPriorities;
  runnable_.reserve(threads_.size() + 1);
  threads_.push_back(std::move(record));
  return threads_.size() - 1;
}

void SeededScheduler::run_thread(std::uint64_t ticket, const std::function<void()>& body) noexcept {
  this_thread_identity = {this, ticket};
  {
    Baton baton(mutex_);
    assert(ticket < threads_.size());
    ThreadRecord& record = thread(ticket);
    // The thread may have been chosen long before the system runs it. That wait is not a decision.
    record.turn.wait(baton, [&] { return running_ == ticket; });
    mix(static_cast<std::uint64_t>(Call::kBegin));
  }
  body();
  const Baton baton(mutex_);
  ThreadRecord& record = thread(ticket);
  record.state = State::kEnded;
  for (const std::unique_ptr<ThreadRecord>& other : threads_) {
    if (other->state == State::kJoins && other->joined == ticket) wake(*other);
  }
  this_thread_identity = {};
  pass_baton(ticket, Call::kEnd);
}

void SeededScheduler::join(std::uint64_t ticket) noexcept {
  const ThreadId me = self("join");
  Baton baton(mutex_);
  switch_threads(baton, me, Call::kJoin);
  if (thread(ticket).state == State::kEnded) return;
  thread(me).joined = ticket;
  block(baton, me, State::kJoins, nullptr, Call::kJoin);
}

// -- Waiting and waking -----------------------------------------------------------------------------------------------

SeededScheduler::ThreadId SeededScheduler::self(const char* call) const noexcept {
  if (this_thread_identity.simulation != this) {
    std::fprintf(stderr, "seeded scheduler, seed %llu: %s() by a thread that it does not run\n",
                 static_cast<unsigned long long>(seed_), call);
    std::abort();
  }
  return this_thread_identity.id;
}

void SeededScheduler::switch_threads(Baton& baton, ThreadId me, Call call) noexcept {
  pass_baton(me, call);
  thread(me).turn.wait(baton, [&] { return running_ == me; });  // S1
}

void SeededScheduler::pass_baton(ThreadId me, Call call) noexcept {
  assert(running_ == me);  // S1
  if (++decision_count_ > decisions_max_) give_up("too many decisions: no thread finishes");
  clock_.advance(kTimePerDecision);
  expire_deadlines();
  const ThreadId next = choose(me);
  assert(thread(next).state == State::kRunnable);  // S2
  mix(static_cast<std::uint64_t>(call));
  mix(next);
  running_ = next;
  if (next != me) thread(next).turn.notify_one();
}

void SeededScheduler::block(Baton& baton, ThreadId me, State state, const void* awaited, Call call) noexcept {
  ThreadRecord& record = thread(me);
  record.state = state;
  record.awaited = awaited;
  switch_threads(baton, me, call);
  assert(record.state == State::kRunnable);  // S2
}

void SeededScheduler::take_mutex(Baton& baton, ThreadId me, const void* mutex) noexcept {
  for (auto held = find_held(mutex); held != held_.end(); held = find_held(mutex)) {
    if (held->owner == me) give_up("a thread locks a mutex that it holds");
    block(baton, me, State::kWaitsForMutex, mutex, Call::kLock);
  }
  held_.push_back({mutex, me});
}

void SeededScheduler::release_mutex(ThreadId me, const void* mutex) noexcept {
  const auto held = find_held(mutex);
  if (held == held_.end() || held->owner != me) give_up("a thread unlocks a mutex that it does not hold");
  held_.erase(held);
  // Wakes all of them; the first one to run takes the mutex. The system's mutexes are not fair either.
  wake_all(State::kWaitsForMutex, mutex);
}

std::vector<SeededScheduler::HeldMutex>::iterator SeededScheduler::find_held(const void* mutex) noexcept {
  return std::find_if(held_.begin(), held_.end(), [&](const HeldMutex& held) { return held.mutex == mutex; });
}

void SeededScheduler::wake_one(const void* condition) noexcept {
  const auto waits = [&](const std::unique_ptr<ThreadRecord>& record) {
    return record->state == State::kWaitsForCondition && record->awaited == condition;
  };
  const auto waiting_count = static_cast<std::uint64_t>(std::count_if(threads_.begin(), threads_.end(), waits));
  if (waiting_count == 0) return;
  std::uint64_t passed_over = random_below(waiting_count);
  for (const std::unique_ptr<ThreadRecord>& record : threads_) {
    if (waits(record) && passed_over-- == 0) return wake(*record);
  }
}

void SeededScheduler::wake_all(State state, const void* awaited) noexcept {
  for (const std::unique_ptr<ThreadRecord>& record : threads_) {
    if (record->state == state && record->awaited == awaited) wake(*record);
  }
}

void SeededScheduler::wake(ThreadRecord& record) noexcept {
  record.state = State::kRunnable;
  record.awaited = nullptr;
  record.deadline.reset();
}

}  // namespace varve::io
