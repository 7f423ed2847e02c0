#include "bench/blobs/measure.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace varve::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double rate_of(const Work& work, double seconds) {
  std::atomic<std::uint64_t> done{0};
  const Clock::time_point begin = Clock::now();
  run_together(work.threads, [&](int thread) {
    do {
      work.once(thread);
      done.fetch_add(1, std::memory_order_relaxed);
    } while (seconds_since(begin) < seconds);
  });
  return static_cast<double>(done.load()) / seconds_since(begin);
}

}  // namespace

void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "the race: %s\n", status.to_string().c_str());
  std::_Exit(1);  // threads may be running
}

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return seconds_since(begin);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void run_in_turns(const std::vector<Work*>& all, double seconds) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Work* const work : all) work->rates.push_back(rate_of(*work, seconds / kTurns));
  }
}

std::vector<double> medians_in_turns(int turns, const std::vector<std::function<double()>>& all) {
  std::vector<std::vector<double>> values(all.size());
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) values[i].push_back(all[i]());
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : values) medians.push_back(median(std::move(of_one)));
  return medians;
}

void run_together(int threads, const std::function<void(int)>& once) {
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) running.emplace_back([&once, thread] { once(thread); });
}

}  // namespace varve::bench
