// Goal: a reader follows an append blob: it gets each byte once and in order, waits without polling, and learns when the
// blob is gone (BX-25, QX-17).
// Method: examples without a wait, and followers beside threads that append, delete and stop, which a seeded scheduler
// runs one at a time. Waiting is simulated too: no test sleeps.
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/blob.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"

namespace varve::test::blob_tail_test {
namespace {

using namespace std::chrono_literals;
using TailBody = std::function<void()>;

constexpr Said kOtherBlob{Code::kPreconditionFailed, "ConditionNotMet"};
constexpr Said kTooShort{Code::kInvalidArgument, "InvalidRange"};
constexpr Said kOutOfRange{Code::kInvalidArgument, "OutOfRangeQueryParameterValue"};

BlobTail tailed(const Container& container, const BlobTailOptions& options = {}) {
  Result<BlobTail> tail = container.tail("log", options);
  EXPECT_TRUE(tail.ok()) << tail.status().to_string();
  return tail.ok() ? *std::move(tail) : BlobTail();
}

class BlobTails : public testing::Test {
 protected:
  BlobTails() { EXPECT_EQ(said(logs_.create_append_blob("log")), kFine); }
  std::uint64_t appended(std::string_view bytes) {
    const Result<AppendedBlock> block = logs_.append("log", bytes);
    EXPECT_TRUE(block.ok()) << block.status().to_string();
    return block.ok() ? block->offset : 0;
  }

  BlobBench bench_;
  Container logs_ = bench_.container("logs");
};

TEST_F(BlobTails, BX25_ATailReturnsWhatIsBehindItsOffset) {
  EXPECT_EQ(tailed(logs_).bytes, "");
  EXPECT_EQ(appended("one\n"), 0U);
  EXPECT_EQ(appended("two\n"), 4U);
  const BlobTail all = tailed(logs_);
  const BlobState state = state_in(logs_, "log");
  EXPECT_EQ(all.bytes, "one\ntwo\n");
  EXPECT_EQ(all.length, 8U);
  EXPECT_EQ(all.etag, state.etag);
  EXPECT_EQ(all.created, state.created);
  EXPECT_EQ(tailed(logs_, {.offset = 4}).bytes, "two\n");
  EXPECT_EQ(tailed(logs_, {.offset = 2, .bytes_max = 3}).bytes, "e\nt");
  EXPECT_EQ(tailed(logs_, {.offset = 8, .created = state.created}).bytes, "");
}

TEST_F(BlobTails, BX25_ATailGoesOnOverAllContents) {
  const std::string large = uneven_bytes(5 * (std::size_t{1} << 20) + 17);
  std::string expected = "first";
  (void)appended(expected);
  Result<BlobWriter> writer = logs_.write_append("log");
  ASSERT_EQ(said(writer), kFine);
  ASSERT_EQ(said(writer->append(large)), kFine);
  ASSERT_EQ(said(writer->publish()), kFine);
  ASSERT_EQ(said(logs_.copy("copy", logs_, "log")), kFine);
  (void)appended("last");
  expected += large + "last";
  BlobTailOptions next{.bytes_max = 1'000'003};
  std::string all;
  while (all.size() < expected.size()) {
    const BlobTail more = tailed(logs_, next);
    ASSERT_FALSE(more.bytes.empty());
    ASSERT_LE(more.bytes.size(), next.bytes_max);
    all += more.bytes;
    next.offset = all.size();
    next.created = more.created;
  }
  EXPECT_TRUE(all == expected);
}

TEST_F(BlobTails, BX25_ErrorsOfATail) {
  (void)appended("one\n");
  const BlobTail first = tailed(logs_);
  (void)put_blob(logs_, "photo", "content");
  EXPECT_EQ(said(logs_.tail("photo")), kWrongBlobKind);
  EXPECT_EQ(said(logs_.tail("none")), kBlobGone);
  EXPECT_EQ(said(logs_.tail("")), kOutOfRangeInput);
  EXPECT_EQ(said(logs_.tail("log", {.offset = 5})), kTooShort);
  EXPECT_EQ(said(logs_.tail("log", {.bytes_max = 0})), kOutOfRange);
  EXPECT_EQ(said(logs_.tail("log", {.bytes_max = limits::kAppendBytesMax + 1})), kOutOfRange);
  ASSERT_EQ(said(logs_.create_append_blob("log")), kFine);
  EXPECT_EQ(said(logs_.tail("log", {.offset = 4, .created = first.created})), kOtherBlob);
  EXPECT_EQ(said(logs_.tail("log", {.created = first.created})), kOtherBlob);
  EXPECT_EQ(said(logs_.tail("log", {.offset = 4})), kTooShort);
  ASSERT_EQ(said(bench_.store->drop_container(kAccount, "logs")), kFine);
  EXPECT_EQ(said(logs_.tail("log", {.wait = 1h})), kContainerGone);
  EXPECT_EQ(said(bench_.store->close()), kFine);
  EXPECT_EQ(logs_.tail("log", {.wait = 1h}).code(), Code::kClosed);
}

TEST_F(BlobTails, BX25_AStopThatCameBeforeEndsAWaitAtOnce) {
  (void)appended("one\n");
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(tailed(logs_, {.wait = 1h, .stop = source.get_token()}).bytes, "one\n");
  EXPECT_EQ(tailed(logs_, {.offset = 4, .wait = 1h, .stop = source.get_token()}).bytes, "");
}

// -- Under a seeded scheduler -------------------------------------------------------------------------------------------

/// Runs a test in many orders. The container has an empty append blob.
void for_each_tail_seed(const std::function<void(QueueBench&, Container&)>& test) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{25}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Result<Container> logs = bench.store->create_container(kAccount, "logs");
    ASSERT_TRUE(logs.ok()) << logs.status().to_string();
    ASSERT_EQ(said(logs->create_append_blob("log")), kFine);
    test(bench, *logs);
    EXPECT_LT(bench.machine.clock.monotonic(), 1h) << "nobody waited to the end of an hour";
    if (::testing::Test::HasFailure()) return;
  }
}

/// Follows the blob until it has `bytes` bytes.
std::string followed(const Container& logs, std::size_t bytes) {
  BlobTailOptions next{.bytes_max = 5, .wait = 2h};
  std::string all;
  while (all.size() < bytes) {
    const BlobTail more = tailed(logs, next);
    if (more.bytes.empty()) return all + "(the wait ended)";
    all += more.bytes;
    next.offset = all.size();
    next.created = more.created;
  }
  return all;
}

TEST(BlobTailThreads, BX25_QX17_FollowersGetEachRecordOfManyThreadsOnce) {
  for_each_tail_seed([](QueueBench& bench, Container& logs) {
    constexpr std::size_t kRecords = 4;
    constexpr std::size_t kBytes = 2 * kRecords * 3;
    const auto appender = [&logs](char letter) {
      return TailBody([letter, logs]() mutable {
        for (std::size_t i = 0; i < kRecords; ++i) {
          const std::string record{letter, static_cast<char>('0' + i), '\n'};
          EXPECT_EQ(said(logs.append("log", record)), kFine);
        }
      });
    };
    std::vector<std::string> all(2);
    const auto follower = [&](std::size_t index) {
      return TailBody([&all, index, logs] { all[index] = followed(logs, kBytes); });
    };
    run_together(bench, {follower(0), appender('a'), follower(1), appender('b')});
    const std::string content = content_in(logs, "log");
    EXPECT_EQ(content.size(), kBytes);
    EXPECT_EQ(all[0], content);
    EXPECT_EQ(all[1], content);
  });
}

TEST(BlobTailThreads, BX25_QX17_AWaitEndsAtItsTimeAndAtAStop) {
  for_each_tail_seed([](QueueBench& bench, Container& logs) {
    std::stop_source stop;
    run_together(
        bench, {TailBody([logs] { EXPECT_EQ(tailed(logs, {.wait = 10s}).bytes, ""); }),
                TailBody([&stop, logs] { EXPECT_EQ(tailed(logs, {.wait = 10h, .stop = stop.get_token()}).bytes, ""); }),
                TailBody([&stop] { stop.request_stop(); })});
  });
}

TEST(BlobTailThreads, BX25_AFollowerLearnsThatItsBlobIsGone) {
  struct End {
    std::function<Status(QueueBench&, Container&)> act;
    Said error;
  };
  const std::vector<End> ends{
      {[](QueueBench&, Container& logs) { return logs.remove("log"); }, kBlobGone},
      {[](QueueBench&, Container& logs) { return logs.put("log", "a block blob").status(); }, kWrongBlobKind},
      {[](QueueBench&, Container& logs) { return logs.create_append_blob("log").status(); }, kOtherBlob},
      {[](QueueBench& bench, Container&) { return bench.store->drop_container(kAccount, "logs"); }, kContainerGone},
      {[](QueueBench& bench, Container&) { return bench.store->drop_account(kAccount); }, kContainerGone},
      {[](QueueBench& bench, Container& logs) {
         StoreTransaction transaction = *bench.store->begin_transaction();
         transaction.remove(logs, "log");
         return transaction.commit().status();
       },
       kBlobGone},
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    SCOPED_TRACE("end " + std::to_string(i));
    const End& end = ends[i];
    for_each_tail_seed([&](QueueBench& bench, Container& logs) {
      const DateTime created = state_in(logs, "log").created;
      const TailBody follower = [&, logs] {
        EXPECT_EQ(said(logs.tail("log", {.wait = 10h, .created = created})), end.error);
      };
      run_together(bench, {follower, follower, TailBody([&] { EXPECT_EQ(said(end.act(bench, logs)), kFine); })});
    });
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BlobTailThreads, BX25_ATransactionThatReplacesTheBlobWakesItsFollowers) {
  for_each_tail_seed([](QueueBench& bench, Container& logs) {
    ASSERT_EQ(said(logs.create_append_blob("longer")), kFine);
    ASSERT_EQ(said(logs.append("longer", "copied")), kFine);
    run_together(
        bench, {TailBody([logs] { EXPECT_EQ(tailed(logs, {.wait = 10h}).bytes, "copied"); }), TailBody([&bench, logs] {
                  StoreTransaction transaction = *bench.store->begin_transaction();
                  transaction.copy(logs, "log", logs, "longer");
                  EXPECT_EQ(said(transaction.commit()), kFine);
                })});
  });
}

TEST(BlobTailThreads, BX25_OtherChangesOfTheBlobWakeNobodyForGood) {
  for_each_tail_seed([](QueueBench& bench, Container& logs) {
    run_together(
        bench, {TailBody([logs] { EXPECT_EQ(tailed(logs, {.wait = 10h}).bytes, "text"); }), TailBody([logs]() mutable {
                  EXPECT_EQ(said(logs.set_metadata("log", {{"a", "b"}})), kFine);
                  EXPECT_EQ(said(logs.set_tags("log", {{"a", "b"}})), kFine);
                  EXPECT_EQ(said(logs.append("log", "text")), kFine);
                })});
  });
}

}  // namespace
}  // namespace varve::test::blob_tail_test
