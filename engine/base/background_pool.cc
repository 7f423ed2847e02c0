// Owns: the queues of seats and the loop of a worker (background_pool.h).
// Must never: call a source under the mutex.
#include "engine/base/background_pool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "io/posix/posix_process.h"

namespace varve::engine {
namespace {

constexpr std::size_t kMergesMin = 2;  // A merge waits for the disk for a seventh of its time, even on one core.
constexpr std::size_t kMergesMax = 16;
/// On two processors, helpers cost a tenth more processor time in the background, and gain nothing beside a writer.
constexpr std::size_t kProcessorsToHelp = 4;

/// The parts of one piece of work, handed out one by one.
class Parts final : public BackgroundPool::Source {
 public:
  Parts(std::size_t count, const std::function<void(std::size_t)>& part) noexcept : count_(count), part_(part) {}

  /// Set before the first call of work().
  void invite_through(BackgroundPool::Seat& seat) noexcept { seat_ = &seat; }

  BackgroundPool::Pause work(bool /*is_due*/) noexcept override {
    const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= count_) return std::nullopt;
    if (number + 1 < count_) seat_->wake();  // Another thread may be free too.
    part_(number);
    return std::chrono::nanoseconds(0);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& part_;
  BackgroundPool::Seat* seat_ = nullptr;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

BackgroundPool::Seat::Seat(BackgroundPool& pool, Source& source, Kind kind) noexcept
    : pool_(pool), source_(source), kind_(kind) {
  const io::MutexGuard guard(pool_.mutex_);
  next_ = pool_.seats_;
  if (next_ != nullptr) next_->previous_ = this;
  pool_.seats_ = this;
}

void BackgroundPool::Seat::wake() noexcept {
  const io::MutexGuard guard(pool_.mutex_);
  if (!has_left_) pool_.enqueue(*this);
}

void BackgroundPool::Seat::leave() noexcept {
  const io::MutexGuard guard(pool_.mutex_);
  if (!has_left_) {
    has_left_ = true;
    pool_.dequeue(*this);
    if (previous_ != nullptr) previous_->next_ = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    if (pool_.seats_ == this) pool_.seats_ = next_;
  }
  while (threads_inside_ > 0) pool_.left_.wait(pool_.mutex_);
}

BackgroundPool::BackgroundPool(const io::Env& env, std::size_t merges_max, Helpers helpers) noexcept
    : env_(env),
      merges_max_(merges_max),
      helpers_(helpers),
      mutex_(env.scheduler),
      changed_(env.scheduler),
      left_(env.scheduler) {}

void BackgroundPool::stop() noexcept {
  const io::MutexGuard guard(mutex_);
  assert(seats_ == nullptr);
  stopping_ = true;
  changed_.notify_all();
}

void BackgroundPool::run() noexcept {
  mutex_.lock();
  while (!stopping_) {
    Seat* const seat = take();
    if (seat == nullptr) {
      ++resting_;
      wait();
      --resting_;
      continue;
    }
    const bool is_due = std::exchange(seat->is_due_, false);
    mutex_.unlock();
    const Pause pause = seat->source_.work(is_due);
    mutex_.lock();
    put_back(*seat, pause);
  }
  mutex_.unlock();
}

std::chrono::nanoseconds BackgroundPool::now() const noexcept {
  return std::max(env_.clock.monotonic(), reached_);
}

void BackgroundPool::wait() noexcept {
  const Pause next = enqueue_due();
  if (!next) return changed_.wait(mutex_);
  if (*next <= std::chrono::nanoseconds(0)) return;
  const std::chrono::nanoseconds end = now() + *next;
  if (!changed_.wait_for(mutex_, *next)) reached_ = std::max(reached_, end);
}

BackgroundPool::Seat* BackgroundPool::take() noexcept {
  Seat* seat = queue_of(Kind::kFlush).first;
  if (seat == nullptr && merging_ < merges_max_) {
    seat = queue_of(Kind::kMerge).first;
    if (seat == nullptr) seat = queue_of(Kind::kSpare).first;
  }
  if (seat == nullptr) return nullptr;
  dequeue(*seat);
  ++seat->threads_inside_;
  if (seat->kind_ != Kind::kFlush) ++merging_;
  return seat;
}

void BackgroundPool::put_back(Seat& seat, Pause pause) noexcept {
  if (seat.kind_ != Kind::kFlush) --merging_;
  --seat.threads_inside_;
  if (seat.has_left_) {
    if (seat.threads_inside_ == 0) left_.notify_all();
    return;
  }
  const bool is_called_again = pause && *pause <= std::chrono::nanoseconds(0);
  if (pause && !is_called_again) seat.due_ = now() + *pause;
  if (std::exchange(seat.was_woken_inside_, false) || is_called_again) enqueue(seat);
}

void BackgroundPool::enqueue(Seat& seat) noexcept {
  if (seat.is_queued_) return;
  if (seat.kind_ != Kind::kMerge && seat.threads_inside_ > 0) {
    seat.was_woken_inside_ = true;
    return;
  }
  seat.is_queued_ = true;
  seat.next_in_queue_ = nullptr;
  Queue& queue = queue_of(seat.kind_);
  (queue.last == nullptr ? queue.first : queue.last->next_in_queue_) = &seat;
  queue.last = &seat;
  changed_.notify_one();
}

void BackgroundPool::dequeue(Seat& seat) noexcept {
  if (!seat.is_queued_) return;
  seat.is_queued_ = false;
  Queue& queue = queue_of(seat.kind_);
  Seat* before = nullptr;
  for (Seat* one = queue.first; one != &seat; one = one->next_in_queue_) before = one;
  (before == nullptr ? queue.first : before->next_in_queue_) = seat.next_in_queue_;
  if (queue.last == &seat) queue.last = before;
}

/// Returns zero if a seat was queued.
BackgroundPool::Pause BackgroundPool::enqueue_due() noexcept {
  Pause next;
  const std::chrono::nanoseconds time = now();
  for (Seat* seat = seats_; seat != nullptr; seat = seat->next_) {
    if (!seat->due_) continue;
    const std::chrono::nanoseconds left = std::max(*seat->due_ - time, std::chrono::nanoseconds(0));
    if (left == std::chrono::nanoseconds(0)) {
      seat->due_.reset();
      seat->is_due_ = true;
      enqueue(*seat);
    }
    next = next ? std::min(*next, left) : left;
  }
  return next;
}

std::size_t BackgroundPool::free_threads() const noexcept {
  if (helpers_ == Helpers::kNone) return 0;
  const io::MutexGuard guard(mutex_);
  return std::min(resting_, merges_max_ - merging_);
}

void BackgroundPool::share(std::size_t count, const std::function<void(std::size_t)>& part) noexcept {
  Parts parts(count, part);
  Seat seat(*this, parts, Kind::kMerge);
  parts.invite_through(seat);
  while (parts.work(false)) {
  }
}

Result<std::shared_ptr<PoolThreads>> PoolThreads::start(const io::Env& env, std::size_t merges_max,
                                                        BackgroundPool::Helpers helpers) {
  assert(merges_max > 0);
  std::shared_ptr<PoolThreads> started(new PoolThreads(std::make_shared<BackgroundPool>(env, merges_max, helpers)));
  started->threads_.reserve(merges_max + 1);
  for (std::size_t i = 0; i < merges_max + 1; ++i) {
    Result<io::Thread> thread = env.scheduler.start("varve-work", [pool = started->pool_.get()] { pool->run(); });
    if (!thread.ok()) return thread.status();
    started->threads_.push_back(*std::move(thread));
  }
  return started;
}

Result<std::shared_ptr<PoolThreads>> PoolThreads::start(const io::Env& env) {
  if (env.scheduler.simulation() != nullptr) return start(env, kMergesMin);
  const std::size_t processors = io::processor_count();
  using Helpers = BackgroundPool::Helpers;
  return start(env, std::clamp<std::size_t>(processors / 2, kMergesMin, kMergesMax),
               processors < kProcessorsToHelp ? Helpers::kNone : Helpers::kThreadsThatRest);
}

PoolThreads::~PoolThreads() {
  pool_->stop();
  threads_.clear();
}

std::shared_ptr<PoolThreads> SharedPool::running(const io::Scheduler& scheduler) const {
  const io::MutexGuard guard(mutex_);
  const auto found = running_.find(&scheduler);
  return found == running_.end() ? nullptr : found->second.lock();
}

/// Starts and ends threads outside the mutex: under a simulated scheduler, both let other threads run.
Result<std::shared_ptr<PoolThreads>> SharedPool::threads_for(const io::Env& env) {
  if (std::shared_ptr<PoolThreads> found = running(env.scheduler)) return found;
  Result<std::shared_ptr<PoolThreads>> started = PoolThreads::start(env);
  if (!started.ok()) return started;
  std::shared_ptr<PoolThreads> chosen = *started;
  {
    const io::MutexGuard guard(mutex_);
    std::weak_ptr<PoolThreads>& place = running_[&env.scheduler];
    if (std::shared_ptr<PoolThreads> other = place.lock()) {
      chosen = std::move(other);  // Another open was faster. The new threads end with `started`.
    } else {
      place = chosen;
    }
  }
  return chosen;
}

}  // namespace varve::engine
