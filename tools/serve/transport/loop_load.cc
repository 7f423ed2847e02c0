// Owns: reading the processor time of each loop, and the plan that follows from it (loop_load.h).
// Must never: make a loop wait for another one.
#include "tools/serve/transport/loop_load.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include <pthread.h>

namespace varve::serve {

std::optional<LoopMove> plan_move(const std::vector<LoopWork>& loops, std::chrono::nanoseconds interval) {
  if (loops.size() < 2) return std::nullopt;
  const auto [idlest, busiest] = std::minmax_element(
      loops.begin(), loops.end(),
      [](const LoopWork& left, const LoopWork& right) { return left.processor_time < right.processor_time; });
  const std::chrono::nanoseconds difference = busiest->processor_time - idlest->processor_time;
  if (difference < interval / 4) return std::nullopt;
  // Half of the difference evens it out.
  const double share =
      0.5 * static_cast<double>(difference.count()) / static_cast<double>(busiest->processor_time.count());
  const auto requests = static_cast<std::uint64_t>(share * static_cast<double>(busiest->requests));
  if (requests == 0) return std::nullopt;
  return LoopMove{static_cast<std::size_t>(busiest - loops.begin()), static_cast<std::size_t>(idlest - loops.begin()),
                  requests};
}

void LoopLoad::count_request(Part& part) {
  const std::uint64_t interval = interval_.load(std::memory_order_relaxed);
  if (part.interval != interval) part = {interval, 0, part.interval + 1 == interval ? part.requests : 0};
  ++part.requests;
  const std::uint64_t requests = requests_.load(std::memory_order_relaxed) + 1;
  requests_.store(requests, std::memory_order_relaxed);  // Only this thread writes it.
  if (balance_ != nullptr && requests % kRequestsBetween == 0) balance_->look(std::chrono::steady_clock::now());
}

boost::asio::io_context* LoopLoad::take_move(const Part& part) noexcept {
  std::uint64_t to_move = to_move_.load(std::memory_order_acquire);
  if (to_move == 0) return nullptr;
  const std::uint64_t interval = interval_.load(std::memory_order_relaxed);
  const bool is_counted_anew = part.interval == interval;
  const bool is_of_last = part.interval + 1 == interval;
  const std::uint64_t requests = is_counted_anew ? part.requests_before : is_of_last ? part.requests : 0;
  if (requests == 0 || requests > to_move) return nullptr;  // Without requests it is no part of the plan.
  boost::asio::io_context* const to = move_to_.load(std::memory_order_relaxed);
  // If this fails, a new interval has just begun, and the next answer of a connection looks at its plan.
  return to_move_.compare_exchange_strong(to_move, to_move - requests, std::memory_order_relaxed) ? to : nullptr;
}

LoopBalance::LoopBalance(const std::vector<boost::asio::io_context*>& contexts) {
  for (boost::asio::io_context* const context : contexts) {
    Loop& loop = loops_.emplace_back();
    loop.load = &boost::asio::use_service<LoopLoad>(*context);
    loop.load->balance_ = this;
  }
}

void LoopBalance::runs_here(boost::asio::io_context& context) noexcept {
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) != 0) return;
  const std::lock_guard lock(mutex_);
  for (Loop& loop : loops_) {
    if (&loop.load->context_ == &context) loop.clock = clock;
  }
}

boost::asio::io_context& LoopBalance::least_loaded() noexcept {
  const std::size_t first = turn_.fetch_add(1, std::memory_order_relaxed);
  LoopLoad* least = nullptr;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    LoopLoad* const load = loops_[(first + i) % loops_.size()].load;
    if (load->connections() >= fewest) continue;
    fewest = load->connections();
    least = load;
  }
  return least->context_;
}

void LoopBalance::look(std::chrono::steady_clock::time_point now) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const std::chrono::nanoseconds interval = now - looked_;
  if (interval < kInterval) return;
  const bool is_first = looked_ == std::chrono::steady_clock::time_point{};
  looked_ = now;
  std::vector<LoopWork> worked;
  try {
    worked.reserve(loops_.size());
  } catch (const std::bad_alloc&) {
    return;
  }
  for (Loop& loop : loops_) {
    timespec used{};
    if (!loop.clock || ::clock_gettime(*loop.clock, &used) != 0) return;
    const LoopWork work{std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec),
                        loop.load->requests_.load(std::memory_order_relaxed)};
    worked.push_back({work.processor_time - loop.before.processor_time, work.requests - loop.before.requests});
    loop.before = work;
  }
  end_interval(is_first ? std::nullopt : plan_move(worked, interval));
}

void LoopBalance::end_interval(const std::optional<LoopMove>& move) noexcept {
  for (const Loop& loop : loops_) {
    loop.load->to_move_.store(0, std::memory_order_relaxed);  // what the last interval has left
    loop.load->interval_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!move) return;
  LoopLoad& from = *loops_[move->from].load;
  from.move_to_.store(&loops_[move->to].load->context_, std::memory_order_relaxed);
  from.to_move_.store(move->requests, std::memory_order_release);
}

}  // namespace varve::serve
