// Owns: threads, condition variables and events of the operating system, and the redirection to a simulation.
// Must never: touch an Event after the store that sets it, except to wake waiters by its address: a waiter may have
// freed it.

#include "io/scheduler.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace varve::io {

namespace {

/// Longest name that the kernel keeps for a thread, without the closing zero.
constexpr std::size_t kThreadNameMax = 15;

/// Limit of a wait. The deadline is the monotonic clock's time plus the timeout, and must not overflow. A wait of more
/// than a year may return once without a notification.
constexpr std::chrono::nanoseconds kWaitMax = std::chrono::hours(24 * 365);

// Uses the system call because std::atomic::wait keeps its waiters in a table of its own. It could read the event again
// after the store.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  // EAGAIN (the word has changed) and EINTR both end in the caller's loop.
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>* word) noexcept {
  // Only the address matters. If the memory was freed, the call fails with EFAULT or wakes no thread. If it was reused,
  // a woken thread finds its own word unchanged and waits again.
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void name_this_thread(const std::string& name) noexcept {
  // The call fails only for names that are too long, and start() has shortened the name.
  ::pthread_setname_np(::pthread_self(), name.c_str());
}

/// Passes the ticket from the starting thread to the new one.
class TicketSlot {
 public:
  /// Given in place of a ticket if the thread must not run.
  static constexpr std::uint64_t kCancelled = UINT64_MAX - 1;

  void give(std::uint64_t ticket) noexcept {
    ticket_.store(ticket, std::memory_order_release);
    ticket_.notify_one();
  }
  std::uint64_t take() noexcept {
    ticket_.wait(kNone, std::memory_order_acquire);
    return ticket_.load(std::memory_order_acquire);
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;
  std::atomic<std::uint64_t> ticket_{kNone};
};

void run_with_ticket(Simulation& simulation, std::uint64_t ticket, const std::function<void()>& body) noexcept {
  if (ticket != TicketSlot::kCancelled) simulation.run_thread(ticket, body);
}

Status refused(std::string_view name, const std::system_error& error) noexcept {
  try {
    return Status::io_error("cannot start thread '" + std::string(name) + "': " + error.what());
  } catch (const std::bad_alloc&) {
    return Status(Code::kIoError);
  }
}

}  // namespace

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this == &other) return *this;
  join();
  thread_ = std::move(other.thread_);
  simulation_ = other.simulation_;
  ticket_ = other.ticket_;
  return *this;
}

void Thread::join() noexcept {
  if (!thread_.joinable()) return;
  if (simulation_ != nullptr) simulation_->join(ticket_);
  thread_.join();
}

// The thread is created first and announced second. The caller can learn that a thread was refused, but an announced
// thread that never runs could not be withdrawn.
Result<Thread> Scheduler::start_simulated(std::string name, std::function<void()> body) {
  auto slot = std::make_shared<TicketSlot>();
  std::thread thread([name, slot, simulation = simulation_, body = std::move(body)]() mutable {
    name_this_thread(name);
    // The body's captures are destroyed while the simulation still runs this thread, because a destructor may lock.
    run_with_ticket(*simulation, slot->take(), [&body] {
      body();
      body = nullptr;
    });
  });
  std::uint64_t ticket = TicketSlot::kCancelled;
  try {
    ticket = simulation_->announce_thread(name);
  } catch (const std::bad_alloc&) {
    slot->give(TicketSlot::kCancelled);
    thread.join();
    throw;
  }
  slot->give(ticket);
  Thread started(std::move(thread), simulation_, ticket);
  simulation_->yield();
  return started;
}

void Scheduler::give_way() noexcept {
  if (simulation_ != nullptr) {
    simulation_->yield();
  } else {
    std::this_thread::yield();
  }
}

Result<Thread> Scheduler::start(std::string_view name, std::function<void()> body) {
  assert(body != nullptr);
  try {
    std::string short_name(name.substr(0, kThreadNameMax));
    if (simulation_ == nullptr) {
      std::thread thread([short_name = std::move(short_name), body = std::move(body)] {
        name_this_thread(short_name);
        body();
      });
      return Thread(std::move(thread), nullptr, 0);
    }

    return start_simulated(std::move(short_name), std::move(body));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::system_error& error) {
    return refused(name, error);
  }
}

void Condition::wait(Mutex& mutex) noexcept {
  if (simulation_ != nullptr) {
    simulation_->wait(this, &mutex, std::nullopt);
    return;
  }
  std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
  condition_.wait(lock);
  lock.release();  // The caller holds the mutex again, as before.
}

bool Condition::wait_for(Mutex& mutex, std::chrono::nanoseconds timeout) noexcept {
  if (simulation_ != nullptr) return simulation_->wait(this, &mutex, std::max(timeout, std::chrono::nanoseconds(0)));
  if (timeout <= std::chrono::nanoseconds(0)) return false;
  const auto deadline = std::chrono::steady_clock::now() + std::min(timeout, kWaitMax);
  std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
  const std::cv_status woken = condition_.wait_until(lock, deadline);
  lock.release();
  return woken == std::cv_status::no_timeout;
}

void Condition::notify_one() noexcept {
  if (simulation_ != nullptr) {
    simulation_->notify(this, false);
  } else {
    condition_.notify_one();
  }
}

void Condition::notify_all() noexcept {
  if (simulation_ != nullptr) {
    simulation_->notify(this, true);
  } else {
    condition_.notify_all();
  }
}

void Event::set() noexcept {
  Simulation* const simulation = simulation_;
  std::atomic<std::uint32_t>* const word = &word_;
  const std::uint32_t before = word->exchange(kSet, std::memory_order_acq_rel);
  // From here on, a waiter may have freed the event.
  if (simulation != nullptr) {
    simulation->event_set(word);
  } else if (before == kAwaited) {
    futex_wake_all(word);
  }
}

void Event::wait() noexcept {
  if (simulation_ != nullptr) {
    simulation_->event_wait(&word_);
    return;
  }
  std::uint32_t seen = word_.load(std::memory_order_acquire);
  while (seen != kSet) {
    // A waiter first stores kAwaited, so that set() makes its system call only if a thread waits.
    if (seen == kClear && !word_.compare_exchange_weak(seen, kAwaited, std::memory_order_acquire)) continue;
    futex_wait(word_, kAwaited);
    seen = word_.load(std::memory_order_acquire);
  }
}

}  // namespace varve::io
