// Owns: the rows of the race of messages, and its command line.
// Must never: compare figures of different moments: what a row compares is measured in turns.
//
// It prints one line of JSON: the rows as bench/race/outside.py records them.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/blobs/measure.h"
#include "bench/messages/varve_messages.h"
#include "bench/messages/waiting.h"
#include "bench/varve_bench/machine.h"

namespace varve::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Figures = std::map<std::string, double>;
using nlohmann::json;

constexpr std::size_t kMessageBytes = 1024;

struct Sizes {
  double seconds = 2;  // for each figure of a row
  std::uint64_t taken = 1'000'000;
  std::uint64_t hidden = 1'000'000;
  std::uint64_t queues = 100'000;
  std::uint64_t passed_megabytes = 2'048;
  std::size_t waited_queues = 1'000;  // ten consumers wait at each
  int waited_messages = 2'000;
};
constexpr Sizes kQuick{0.2, 20'000, 20'000, 2'000, 16, 20, 50};

[[noreturn]] void fail(const Status& status) {
  check(status);
  std::abort();
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Half of the text is the same in each message, and half is not, so that it compresses to about half.
std::string text_of(std::uint64_t n) {
  std::string text(kMessageBytes, 'm');
  std::uint64_t random = n * 0x9e3779b97f4a7c15U + 1;
  for (std::size_t at = 0; at < kMessageBytes / 2; ++at) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    text[at] = static_cast<char>('a' + (random >> 33) % 26);
  }
  return text;
}

json outcome(double value, const char* unit, bool more_is_better, const Figures& figures = {}) {
  return {{"value", value}, {"unit", unit}, {"more_is_better", more_is_better}, {"figures", figures}};
}

/// Places for stores, each removed after its row.
class Place {
 public:
  explicit Place(const std::filesystem::path& parent) : path_(parent / "messages") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string path() const { return path_.string(); }
  std::string part(const std::string& name) const {
    std::filesystem::create_directories(path_ / name);
    return (path_ / name).string();
  }

 private:
  const std::filesystem::path path_;
};

using Open = Result<std::unique_ptr<MessageContender>> (*)(const std::string&);
struct Peer {
  std::string name;
  Open open;
  /// Whether a record and a message can be written in one commit.
  bool has_records = true;
};
const std::vector<Peer>& peers() {
  static const std::vector<Peer> all{
#ifdef VARVE_BENCH_SQLITE
      {"sqlite", open_sqlite_messages},
#endif
#ifdef VARVE_BENCH_RABBITMQ
      {"rabbitmq", open_rabbitmq_messages, false},
#endif
      {"redis", open_redis_messages},
  };
  return all;
}

class Race {
 public:
  Race(std::filesystem::path directory, Sizes sizes) : directory_(std::move(directory)), sizes_(sizes) {}

  /// Measures the rows of these goals, or of all goals if none is named.
  json run(const std::set<std::string>& goals) {
    const auto wants = [&](std::initializer_list<const char*> ids) {
      return goals.empty() || std::any_of(ids.begin(), ids.end(), [&](const char* id) { return goals.contains(id); });
    };
    if (wants({"QG-02", "QG-10"})) puts(1);
    if (wants({"QG-02", "QG-10"})) puts(16);
    if (wants({"QG-03", "QG-10"})) transactions();
    if (wants({"QG-04", "QG-10"})) pairs();
    if (wants({"QG-05"})) head_of_taken();
    if (wants({"QG-06"})) hidden();
    if (wants({"QG-07"})) consumers();
    if (wants({"QG-08"})) many_queues();
    if (wants({"QG-09"})) space();
    if (wants({"QX-17"})) idle_waiters();
    if (wants({"QX-18"})) woken_waiters();
    return rows_;
  }

 private:
  void add(const std::string& row, json contenders) {
    std::fprintf(stderr, "    %s\n", row.c_str());
    rows_.push_back({{"row", row}, {"contenders", std::move(contenders)}});
  }

  /// Measures each peer that is there by `work_of`, which takes an open peer.
  void add_peers(json& contenders, const Place& place, const std::function<Work(MessageContender&)>& work_of,
                 bool needs_records = false) {
    for (const auto& [name, open, has_records] : peers()) {
      if (needs_records && !has_records) continue;
      Result<std::unique_ptr<MessageContender>> peer = open(place.part(name));
      if (peer.status().code() == Code::kUnsupported) continue;
      if (!peer.ok()) fail(peer.status());
      Work work = work_of(**peer);
      run_in_turns({&work}, sizes_.seconds);
      contenders[name] = outcome(work.rate(), "/s", true);
    }
  }

  /// QG-02, QG-10.
  void puts(int threads) {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    Work inserts{threads, [&](int) {
                   const std::uint64_t n = next();
                   check(varve->insert(n, text_of(n)));
                 }};
    const auto put_into = [this, threads](MessageContender& queue) {
      return Work{threads, [this, &queue](int thread) { check(queue.put(thread, text_of(next()))); }};
    };
    Work put = put_into(*varve);
    run_in_turns({&inserts, &put}, sizes_.seconds);
    json contenders{
        {"varve", outcome(put.rate(), "/s", true,
                          {{"insert /s", inserts.rate()}, {"time, of an insert", inserts.rate() / put.rate()}})}};
    add_peers(contenders, place, put_into);
    add("durable put of a message, " + std::to_string(threads) + (threads == 1 ? " producer" : " producers"),
        std::move(contenders));
  }

  /// QG-03, QG-10.
  void transactions() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    Work alone{1, [&](int) {
                 const std::uint64_t n = next();
                 check(varve->insert_in_transaction(n, text_of(n), false));
               }};
    const auto into = [this](MessageContender& queue) {
      return Work{1, [this, &queue](int thread) {
                    const std::uint64_t n = next();
                    check(queue.put_with_record(thread, n, text_of(n)));
                  }};
    };
    Work both = into(*varve);
    run_in_turns({&alone, &both}, sizes_.seconds);
    json contenders{{"varve", outcome(both.rate(), "/s", true,
                                      {{"entity alone /s", alone.rate()},
                                       {"time, of the entity alone", alone.rate() / both.rate()}})}};
    add_peers(contenders, place, into, true);
    add("entity and message in one durable commit", std::move(contenders));
  }

  static void take_and_remove(MessageContender& queue, int thread) {
    const std::optional<MessageContender::Taken> taken = take(queue.take(thread));
    if (!taken) fail(Status::corruption("the queue is empty; its row needs more messages"));
    check(queue.remove(thread, *taken));
  }

  /// QG-04, QG-10.
  void pairs() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    const std::uint64_t messages = static_cast<std::uint64_t>(sizes_.seconds * kPairsOfASecondMax);
    check(varve->fill(messages, kMessageBytes));
    Work inserts{1, [&](int) {
                   const std::uint64_t n = next();
                   check(varve->insert(n, text_of(n)));
                 }};
    Work pair{1, [&](int thread) { take_and_remove(*varve, thread); }};
    run_in_turns({&inserts, &pair}, sizes_.seconds);
    json contenders{
        {"varve", outcome(pair.rate(), "/s", true,
                          {{"insert /s", inserts.rate()}, {"time, of an insert", inserts.rate() / pair.rate()}})}};
    // Peers put their messages between the measured ones, because they cannot put many at once without a wait.
    for (const auto& [name, open, has_records] : peers()) {
      Result<std::unique_ptr<MessageContender>> peer = open(place.part(name));
      if (peer.status().code() == Code::kUnsupported) continue;
      if (!peer.ok()) fail(peer.status());
      double spent = 0;
      std::uint64_t done = 0;
      for (; spent < sizes_.seconds; ++done) {
        check((*peer)->put(0, text_of(next())));
        const Clock::time_point begin = Clock::now();
        take_and_remove(**peer, 0);
        spent += seconds_since(begin);
      }
      contenders[name] = outcome(static_cast<double>(done) / spent, "/s", true);
    }
    add("message taken, and deleted durably", std::move(contenders));
  }

  static double get_us(VarveMessages& varve) {
    const Clock::time_point begin = Clock::now();
    if (!take(varve.take(0))) fail(Status::corruption("no message is visible"));
    return seconds_since(begin) * 1e6;
  }
  /// The median of a hundred gets.
  static double median_get_us(VarveMessages& varve) {
    std::vector<double> times;
    for (int i = 0; i < kGets; ++i) times.push_back(get_us(varve));
    std::nth_element(times.begin(), times.begin() + kGets / 2, times.end());
    return times[kGets / 2];
  }

  /// QG-05. Messages are not compacted away: a consumer does not wait for compaction.
  void head_of_taken() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> fresh = take(VarveMessages::open(place.part("fresh")));
    const std::unique_ptr<VarveMessages> old = take(VarveMessages::open(place.part("old")));
    check(old->fill(sizes_.taken, kMessageBytes));
    check(old->drain());
    for (VarveMessages* const varve : {fresh.get(), old.get()}) check(varve->fill(10 * kGets, kMessageBytes));
    const double fresh_us = median_get_us(*fresh);
    const double old_us = median_get_us(*old);
    check(fresh->reopen());
    check(old->reopen());
    const double first_of_fresh_us = get_us(*fresh);
    const double first_of_old_us = get_us(*old);
    const double after_open_us = median_get_us(*old);
    add("get from a queue after many were taken",
        {{"varve", outcome(old_us, "us", false,
                           {{"messages taken", static_cast<double>(sizes_.taken)},
                            {"of a short queue", old_us / fresh_us},
                            {"after an open, of a short queue", after_open_us / fresh_us},
                            {"first after an open us", first_of_old_us},
                            {"first after an open, of a short queue's", first_of_old_us / first_of_fresh_us}})}});
  }

  /// QG-06.
  void hidden() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> fresh = take(VarveMessages::open(place.part("fresh")));
    const std::unique_ptr<VarveMessages> full = take(VarveMessages::open(place.part("full")));
    check(full->fill(sizes_.hidden, kMessageBytes, std::chrono::hours(48)));
    for (VarveMessages* const varve : {fresh.get(), full.get()}) check(varve->fill(2 * kGets, kMessageBytes));
    const double fresh_us = median_get_us(*fresh);
    const double full_us = median_get_us(*full);
    add("get from a queue beside many hidden messages",
        {{"varve", outcome(full_us, "us", false,
                           {{"hidden messages", static_cast<double>(sizes_.hidden)},
                            {"of a queue without", full_us / fresh_us}})}});
  }

  /// QG-07. The consumers take one message each time, and delete it, buffered: the device would bound both.
  void consumers() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    check(varve->fill(static_cast<std::uint64_t>(sizes_.seconds * 2 * kBufferedPairsOfASecondMax), kMessageBytes));
    // Each thread has a list. A shared one would slow the consumers down.
    const auto consume = [&varve](std::vector<std::uint64_t>& seen) {
      const std::vector<ReceivedMessage> got = take(varve->queue().get());
      if (got.empty()) fail(Status::corruption("the queue is empty; its row needs more messages"));
      check(varve->queue().remove(got.front(), {.durability = Durability::kBuffered}));
      seen.push_back(got.front().receipt.sequence);
    };
    std::vector<std::vector<std::uint64_t>> seen(1 + 16);
    Work one{1, [&](int) { consume(seen.back()); }};
    Work many{16, [&](int thread) { consume(seen[static_cast<std::size_t>(thread)]); }};
    run_in_turns({&one, &many}, sizes_.seconds);
    std::set<std::uint64_t> all;
    for (const std::vector<std::uint64_t>& part : seen) {
      for (const std::uint64_t sequence : part) {
        if (!all.insert(sequence).second) fail(Status::corruption("a message was delivered twice"));
      }
    }
    add("messages consumed by 16 consumers",
        {{"varve", outcome(many.rate(), "/s", true,
                           {{"one consumer /s", one.rate()}, {"of one consumer", many.rate() / one.rate()}})}});
  }

  struct ManyQueues {
    double create_us = 0;
    double page_ms = 0;
    double open_ms = 0;
    double idle_megabytes = 0;
  };
  ManyQueues costs_of_queues(std::uint64_t count) {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    const auto create = [&](std::uint64_t first, std::uint64_t end) {
      const Clock::time_point begin = Clock::now();
      std::atomic<std::uint64_t> next_queue{first};
      std::vector<std::thread> threads;
      for (int thread = 0; thread < 16; ++thread) {
        threads.emplace_back([&] {
          for (std::uint64_t n = next_queue++; n < end; n = next_queue++) {
            check(varve->store().create_queue("bench", "q" + std::to_string(1'000'000'000 + n)).status());
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      return seconds_since(begin) * 1e6 / static_cast<double>(end - first);
    };
    ManyQueues costs;
    const std::uint64_t last = std::min<std::uint64_t>(count / 2, 1'000);
    create(0, count - last);
    costs.create_us = create(count - last, count);
    check(varve->store().compact());
    check(varve->reopen());
    Clock::time_point begin = Clock::now();
    check(varve->reopen());
    costs.open_ms = seconds_since(begin) * 1e3;
    costs.idle_megabytes = static_cast<double>(resident_bytes()) / 1e6;
    ListOptions page;
    page.page_names_max = 1'000;
    (void)take(varve->store().list_queues("bench", page));
    begin = Clock::now();
    (void)take(varve->store().list_queues("bench", page));
    costs.page_ms = seconds_since(begin) * 1e3;
    return costs;
  }

  /// QG-08.
  void many_queues() {
    const ManyQueues few = costs_of_queues(sizes_.queues / 10);
    const ManyQueues many = costs_of_queues(sizes_.queues);
    add("open of a store with many queues",
        {{"varve", outcome(many.open_ms, "ms", false,
                           {{"queues", static_cast<double>(sizes_.queues)},
                            {"of a tenth of them", many.open_ms / few.open_ms},
                            {"create us", many.create_us},
                            {"create, of a tenth", many.create_us / few.create_us},
                            {"page of 1,000 ms", many.page_ms},
                            {"page, of a tenth", many.page_ms / few.page_ms},
                            {"idle MB", many.idle_megabytes},
                            {"idle memory, of a tenth", many.idle_megabytes / few.idle_megabytes}})}});
  }

  /// QG-09.
  void space() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    constexpr std::uint64_t kBytes = 48 * 1024;
    constexpr std::uint64_t kAtOnce = 640;
    const std::uint64_t messages = sizes_.passed_megabytes * (std::uint64_t{1} << 20) / kBytes;
    const Clock::time_point begin = Clock::now();
    for (std::uint64_t done = 0; done < messages; done += kAtOnce) {
      check(varve->fill(kAtOnce, kBytes));
      check(varve->drain());
    }
    const double seconds = seconds_since(begin);
    check(varve->store().compact());
    const double megabytes = static_cast<double>(occupied_bytes(place.path())) / 1e6;
    add("disk of an empty queue that many bytes passed",
        {{"varve", outcome(megabytes, "MB", false,
                           {{"MB passed", static_cast<double>(messages * kBytes) / 1e6},
                            {"MB/s", static_cast<double>(messages * kBytes) / 1e6 / seconds}})}});
  }

  /// QX-17.
  void idle_waiters() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    const IdleCosts costs = costs_of_idle_waiters(*varve, sizes_.waited_queues, 2 * sizes_.seconds);
    add("processor time of ten idle consumers at each of many queues",
        {{"varve", outcome(costs.with_waiters_percent, "% of a core", false,
                           {{"queues", static_cast<double>(sizes_.waited_queues)},
                            {"without consumers, % of a core", costs.alone_percent}})}});
  }

  /// QX-18.
  void woken_waiters() {
    const Place place(directory_);
    const std::unique_ptr<VarveMessages> varve = take(VarveMessages::open(place.path()));
    const WakeTimes times = times_to_waiters(*varve, sizes_.waited_messages);
    add("message from the begin of a put to a thread that waits for it, median",
        {{"varve", outcome(times.to_thread_us, "us", false,
                           {{"to a coroutine us", times.to_coroutine_us},
                            {"put alone us", times.put_us},
                            {"get alone us", times.get_us}})}});
  }

  std::uint64_t next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

  static constexpr int kGets = 100;
  static constexpr double kPairsOfASecondMax = 30'000;
  static constexpr double kBufferedPairsOfASecondMax = 150'000;

  const std::filesystem::path directory_;
  const Sizes sizes_;
  std::atomic<std::uint64_t> next_{1};
  json rows_ = json::array();
};

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::set<std::string> known{"QG-02", "QG-03", "QG-04", "QG-05", "QG-06", "QG-07",
                                    "QG-08", "QG-09", "QG-10", "QX-17", "QX-18"};
  std::set<std::string> goals;
  bool quick = false;
  bool is_right = !words.empty() && std::filesystem::is_directory(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--quick") {
      quick = true;
    } else if (words[i] == "--goal" && i + 1 < words.size()) {
      goals.insert(words[++i]);
      is_right = is_right && known.contains(words[i]);
    } else {
      is_right = false;
    }
  }
  if (!is_right) {
    std::fprintf(stderr, "usage: varve-messages-bench DIRECTORY [--quick] [--goal GOAL]...\n");
    return 2;
  }
  varve::bench::Race race(words.front(), quick ? varve::bench::kQuick : varve::bench::Sizes());
  std::printf("%s\n", race.run(goals).dump().c_str());
  return 0;
}
