#include "bench/messages/waiting.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/blobs/measure.h"
#include "bench/varve_bench/machine.h"
#include "varve/async.h"

namespace varve::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Messages = Result<std::vector<ReceivedMessage>>;

constexpr std::size_t kWaitersOfQueue = 10;
constexpr std::chrono::hours kLongWait{24};
constexpr std::string_view kText = "a message that somebody waits for";

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// Returns how much of a core this process uses for the next `seconds`, in hundredths.
double core_percent(double seconds) {
  const double before = usage(".").cpu_seconds;
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return (usage(".").cpu_seconds - before) / (microseconds_since(begin) / 1e6) * 100;
}

Status put_buffered(Queue& queue) {
  PutOptions options;
  options.durability = Durability::kBuffered;
  return queue.put(kText, options).status();
}

GetOptions waiting_get() {
  GetOptions options;
  options.wait = kLongWait;
  return options;
}

WriteOptions buffered() {
  WriteOptions options;
  options.durability = Durability::kBuffered;
  return options;
}

/// Waits until `is_done`, at most a minute.
void await(const std::function<bool()>& is_done) {
  const Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  while (!is_done()) {
    if (Clock::now() > end) check(Status::corruption("a message did not reach its consumer"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Where a consumer notes that it has a message.
class Received {
 public:
  void note() {
    last_ = Clock::now();
    count_.fetch_add(1, std::memory_order_release);
    count_.notify_one();
  }
  /// Returns the time of the note with this number, the newest one.
  Clock::time_point await(int number) const {
    for (int count = count_.load(std::memory_order_acquire); count < number;
         count = count_.load(std::memory_order_acquire)) {
      count_.wait(count, std::memory_order_acquire);
    }
    return last_;
  }

 private:
  Clock::time_point last_{};
  std::atomic<int> count_{0};
};

Status consume(Queue queue, Received& received, int messages) {
  for (int i = 0; i < messages; ++i) {
    const Messages got = queue.get(waiting_get());
    if (!got.ok()) return got.status();
    if (got->empty()) return Status::corruption("a wait of hours ended early");
    received.note();
    if (Status removed = queue.remove(got->front(), buffered()); !removed.ok()) return removed;
  }
  return Status();
}

Task<Status> consume_as_coroutine(AsyncQueue queue, Received* received, int messages) {
  for (int i = 0; i < messages; ++i) {
    const Messages got = co_await queue.get(waiting_get());
    if (!got.ok()) co_return got.status();
    if (got->empty()) co_return Status::corruption("a wait of hours ended early");
    received->note();
    if (Status removed = co_await queue.remove(got->front(), buffered()); !removed.ok()) co_return removed;
  }
  co_return Status();
}

/// Sends the messages to the consumer that `consumer` runs, and returns the median time to it.
double median_time_to(Queue& queue, int messages, const std::function<Status(Received&)>& consumer) {
  Received received;
  std::thread thread([&] { check(consumer(received)); });
  std::vector<double> times;
  for (int i = 1; i <= messages; ++i) {
    // The consumer deletes the message before, and waits again.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point begin = Clock::now();
    check(put_buffered(queue));
    times.push_back(std::chrono::duration<double, std::micro>(received.await(i) - begin).count());
  }
  thread.join();
  return median(std::move(times));
}

}  // namespace

IdleCosts costs_of_idle_waiters(VarveMessages& varve, std::size_t queues, double seconds) {
  Store& store = varve.store();
  std::vector<Queue> all;
  for (std::size_t i = 0; i < queues; ++i) {
    all.push_back(take(store.create_queue("bench", "idle" + std::to_string(i))));
  }
  IdleCosts costs;
  costs.alone_percent = core_percent(seconds);
  std::atomic<std::size_t> served{0};
  std::atomic<std::size_t> ended{0};
  for (std::size_t i = 0; i < queues * kWaitersOfQueue; ++i) {
    start(AsyncQueue(all[i % queues]).get(waiting_get()), [&](const Messages& messages) {
      if (messages.ok() && !messages->empty()) served.fetch_add(1);
      ended.fetch_add(1);
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the gets look at their queues first
  costs.with_waiters_percent = core_percent(seconds);
  if (ended != 0) check(Status::corruption("a wait of hours ended early"));
  for (Queue& queue : all) check(put_buffered(queue));
  await([&] { return served >= queues; });
  check(store.close());
  await([&] { return ended == queues * kWaitersOfQueue; });
  return costs;
}

WakeTimes times_to_waiters(VarveMessages& varve, int messages) {
  Queue& queue = varve.queue();
  std::vector<double> puts;
  std::vector<double> gets;
  for (int i = 0; i < messages; ++i) {
    Clock::time_point begin = Clock::now();
    check(put_buffered(queue));
    puts.push_back(microseconds_since(begin));
    begin = Clock::now();
    const std::vector<ReceivedMessage> got = take(queue.get());
    gets.push_back(microseconds_since(begin));
    if (got.empty()) check(Status::corruption("a message is not there"));
    check(queue.remove(got.front(), buffered()));
  }
  WakeTimes times;
  times.put_us = median(std::move(puts));
  times.get_us = median(std::move(gets));
  times.to_thread_us =
      median_time_to(queue, messages, [&](Received& received) { return consume(queue, received, messages); });
  times.to_coroutine_us = median_time_to(queue, messages, [&](Received& received) {
    return wait(consume_as_coroutine(AsyncQueue(queue), &received, messages));
  });
  return times;
}

}  // namespace varve::bench
