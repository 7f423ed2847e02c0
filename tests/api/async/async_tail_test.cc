// Goal: a tail that waits for an append as a task occupies no thread, and ends in each way that the blocking one does
// (BX-25, QX-17).
// Method: one example for each operation of a container, waits that each way to end ends, and followers, appenders and
// stops under a seeded scheduler.
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/async.h"

namespace varve::test::async_tail_test {
namespace {

using namespace std::chrono_literals;

using Tail = Result<BlobTail>;
using BegunTail = Begun<Tail>;

constexpr Said kTailClosed{Code::kClosed, ""};

class AsyncTails : public testing::Test {
 protected:
  AsyncTails() { EXPECT_EQ(said(logs_.create_append_blob("log")), kFine); }
  std::unique_ptr<BegunTail> begin_tail(const BlobTailOptions& options) {
    return std::make_unique<BegunTail>(bench_.machine.scheduler(), async_.tail("log", options));
  }
  /// Lets all begun operations run as far as they can. Each look of a tail is two turns of the workers.
  void settle() {
    for (int i = 0; i < 6; ++i) (void)wait(AsyncStore(*bench_.store).run([](Store&) { return Status(); }));
  }

  BlobBench bench_;
  Container logs_ = bench_.container("logs");
  AsyncContainer async_ = AsyncContainer(logs_);
};

TEST_F(AsyncTails, BX25_EachVerbDoesWhatTheBlockingOneDoes) {
  EXPECT_EQ((*wait(async_.put("photo", "content"))).length, 7U);
  EXPECT_EQ((*wait(async_.state("photo"))).length, 7U);
  EXPECT_EQ(said(wait(async_.remove("photo"))), kFine);
  EXPECT_EQ(said(wait(async_.state("photo"))), kBlobGone);
  EXPECT_EQ(said(wait(async_.create_append_blob("other"))), kFine);
  EXPECT_EQ((*wait(async_.append("log", "one"))).offset, 0U);
  EXPECT_EQ((*wait(async_.append("log", "two"))).offset, 3U);
  EXPECT_EQ((*wait(async_.tail("log"))).bytes, "onetwo");
  EXPECT_EQ((*wait(async_.tail("log", {.offset = 6}))).bytes, "");
  EXPECT_EQ(async_.container().name(), "logs");
}

TEST_F(AsyncTails, BX25_TheStoreMakesListsAndDropsContainers) {
  const AsyncStore store(*bench_.store);
  const std::string account(kAccount);
  ASSERT_TRUE(wait(store.create_container(account, "made")).ok());
  EXPECT_EQ((*wait(store.open_container(account, "made"))).name(), "made");
  EXPECT_EQ((*wait(store.list_containers(account))).containers.size(), 2U);
  EXPECT_EQ(said(wait(store.drop_container(account, "made"))), kFine);
  EXPECT_EQ(said(wait(store.open_container(account, "made"))), kContainerGone);
}

TEST_F(AsyncTails, BX25_ErrorsAreThoseOfTheVerb) {
  EXPECT_EQ(said(wait(async_.tail("none", {.wait = 1h}))), kBlobGone);
  EXPECT_EQ(said(wait(async_.tail("log", {.bytes_max = 0, .wait = 1h}))),
            (Said{Code::kInvalidArgument, "OutOfRangeQueryParameterValue"}));
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(wait(async_.append("log", "text", {}, source.get_token())).code(), Code::kCancelled);
  EXPECT_EQ(state_in(logs_, "log").length, 0U);
}

TEST_F(AsyncTails, BX25_AnAppendEndsTheWaitsOfAllFollowers) {
  std::vector<std::unique_ptr<BegunTail>> tails;
  for (int i = 0; i < 3; ++i) tails.push_back(begin_tail({.wait = 1h}));
  settle();
  for (const std::unique_ptr<BegunTail>& tail : tails) EXPECT_FALSE(tail->has_ended());
  ASSERT_EQ(said(logs_.append("log", "text")), kFine);
  for (const std::unique_ptr<BegunTail>& tail : tails) EXPECT_EQ((*tail->take()).bytes, "text");
}

TEST_F(AsyncTails, BX25_AStopEndsAWaitWithoutBytes) {
  std::stop_source source;
  const std::unique_ptr<BegunTail> tail = begin_tail({.wait = 1h, .stop = source.get_token()});
  settle();
  EXPECT_FALSE(tail->has_ended());
  source.request_stop();
  EXPECT_EQ((*tail->take()).bytes, "");
  EXPECT_EQ((*begin_tail({.wait = 1h, .stop = source.get_token()})->take()).bytes, "");
  ASSERT_EQ(said(logs_.append("log", "text")), kFine);
  EXPECT_EQ((*begin_tail({.wait = 1h, .stop = source.get_token()})->take()).bytes, "text");
}

TEST_F(AsyncTails, BX25_DeletesAndDropsReachTheFollower) {
  const std::unique_ptr<BegunTail> first = begin_tail({.wait = 1h});
  settle();
  ASSERT_EQ(said(logs_.remove("log")), kFine);
  EXPECT_EQ(said(first->take()), kBlobGone);
  ASSERT_EQ(said(logs_.create_append_blob("log")), kFine);
  const std::unique_ptr<BegunTail> second = begin_tail({.wait = 1h});
  settle();
  ASSERT_EQ(said(bench_.store->drop_container(kAccount, "logs")), kFine);
  EXPECT_EQ(said(second->take()), kContainerGone);
  logs_ = bench_.container("logs");
  ASSERT_EQ(said(logs_.create_append_blob("log")), kFine);
  const std::unique_ptr<BegunTail> third = begin_tail({.wait = 1h});
  settle();
  ASSERT_EQ(said(bench_.store->drop_account(kAccount)), kFine);
  EXPECT_EQ(said(third->take()), kContainerGone);
}

TEST_F(AsyncTails, BX25_TheCloseOfTheStoreEndsAllWaits) {
  std::vector<std::unique_ptr<BegunTail>> tails;
  for (int i = 0; i < 5; ++i) tails.push_back(begin_tail({.wait = std::chrono::hours(24 * 7)}));
  settle();
  for (int i = 0; i < 5; ++i) tails.push_back(begin_tail({.wait = std::chrono::hours(24 * 7)}));
  EXPECT_EQ(said(bench_.store->close()), kFine);
  for (const std::unique_ptr<BegunTail>& tail : tails) EXPECT_EQ(said(tail->take()), kTailClosed);
  EXPECT_EQ(said(wait(async_.tail("log", {.wait = 1h}))), kTailClosed);
}

// -- Under a seeded scheduler -------------------------------------------------------------------------------------------

void for_each_follower_seed(const std::function<void(QueueBench&, Container&)>& test) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{25}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Result<Container> logs = bench.store->create_container(kAccount, "logs");
    ASSERT_TRUE(logs.ok()) << logs.status().to_string();
    ASSERT_EQ(said(logs->create_append_blob("log")), kFine);
    test(bench, *logs);
    if (testing::Test::HasFailure()) return;
  }
}

Task<Status> follow(AsyncContainer logs, std::size_t bytes, std::string* all) {
  BlobTailOptions next;
  next.wait = std::chrono::hours(24 * 7);
  while (all->size() < bytes) {
    const Tail more = co_await logs.tail("log", next);
    if (!more.ok()) co_return more.status();
    if (more->bytes.empty()) co_return Status(Code::kBusy, "the wait ended");
    all->append(more->bytes);
    next.offset = all->size();
    next.created = more->created;
  }
  co_return Status();
}

TEST(AsyncTailThreads, BX25_QX17_CoroutinesAndThreadsFollowOneLog) {
  for_each_follower_seed([](QueueBench& bench, Container& logs) {
    constexpr std::size_t kBytes = 12;
    std::array<std::string, 3> followed;
    std::vector<std::unique_ptr<Begun<Status>>> followers;
    for (std::string& own : followed) {
      followers.push_back(
          std::make_unique<Begun<Status>>(bench.machine.scheduler(), follow(AsyncContainer(logs), kBytes, &own)));
    }
    std::string in_thread;
    const auto thread = [&in_thread, logs] {
      while (in_thread.size() < kBytes) {
        const Tail more = logs.tail("log", {.offset = in_thread.size(), .wait = std::chrono::hours(24 * 7)});
        ASSERT_TRUE(more.ok() && !more->bytes.empty()) << more.status().to_string();
        in_thread += more->bytes;
      }
    };
    auto appender = [&bench, logs](char letter) mutable {
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(said(logs.append("log", std::string(2, letter))), kFine);
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {thread, [&] { appender('a'); }, [&] { appender('b'); }});
    for (const std::unique_ptr<Begun<Status>>& follower : followers) EXPECT_EQ(said(follower->take()), kFine);
    const std::string content = content_in(logs, "log");
    EXPECT_EQ(content.size(), kBytes);
    EXPECT_EQ(in_thread, content);
    for (const std::string& own : followed) EXPECT_EQ(own, content);
  });
}

TEST(AsyncTailThreads, BX25_QX17_AStopAnAppendAndADeadlineAtOnceEndAWaitOnce) {
  for_each_follower_seed([](QueueBench& bench, Container& logs) {
    const AsyncContainer async(logs);
    std::array<std::stop_source, 3> sources;
    std::vector<std::unique_ptr<BegunTail>> tails;
    for (const std::stop_source& source : sources) {
      tails.push_back(std::make_unique<BegunTail>(bench.machine.scheduler(),
                                                  async.tail("log", {.wait = 50ms, .stop = source.get_token()})));
    }
    run_together(bench,
                 {[&] {
                    for (std::stop_source& source : sources) source.request_stop();
                  },
                  [logs]() mutable { EXPECT_EQ(said(logs.append("log", "text")), kFine); }, [&] { bench.pass(60ms); }});
    for (const std::unique_ptr<BegunTail>& tail : tails) {
      const Tail more = tail->take();
      ASSERT_TRUE(more.ok()) << more.status().to_string();
      EXPECT_TRUE(more->bytes.empty() || more->bytes == "text") << more->bytes;
    }
  });
}

TEST(AsyncTailThreads, BX25_QX17_ACloseBesideAppendsEndsEveryWait) {
  for_each_follower_seed([](QueueBench& bench, Container& logs) {
    std::vector<std::unique_ptr<BegunTail>> tails;
    for (int i = 0; i < 4; ++i) {
      tails.push_back(std::make_unique<BegunTail>(bench.machine.scheduler(),
                                                  AsyncContainer(logs).tail("log", {.wait = std::chrono::hours(24)})));
    }
    ASSERT_EQ(said(logs.append("log", "text")), kFine);
    EXPECT_EQ(said(bench.store->close()), kFine);
    for (const std::unique_ptr<BegunTail>& tail : tails) {
      const Tail more = tail->take();
      EXPECT_TRUE(more.ok() ? more->bytes == "text" : more.code() == Code::kClosed) << more.status().to_string();
    }
  });
}

}  // namespace
}  // namespace varve::test::async_tail_test
