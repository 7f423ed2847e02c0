// Goal: two threads that insert a log into the memtable give the result of one: the same rows, or the same error.
// Method: logs of several chunks, in segments that shrink and grow, under schedules by seed, with threads of the
// system, and with a refused second thread.
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "engine/memory/insert_behind.h"
#include "engine/recovery/recovery.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/effort.h"
#include "tests/support/store_image.h"
#include "tests/support/thread_refusal.h"

namespace varve::engine::recovery_threads_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using Rows = std::vector<std::string>;

/// Commits, some of the same keys, and their content.
class LongLog {
 public:
  /// Adds commits until `bytes` more are in `log`.
  void fill(LogWriter& log, std::uint64_t bytes) {
    const std::uint64_t end = log.position() + bytes;
    while (log.position() < end) {
      std::vector<std::string> batches;
      const CommitVersion first = next_version_;
      for (int member = 0; member < 8; ++member) batches.push_back(batch(next_version_++));
      log.group(first, batches);
      log.end_write();
    }
  }
  /// Returns the rows by key, the newest version first.
  Rows rows() const {
    Rows rows;
    for (const auto& [key, value] : rows_) {
      rows.push_back(key.first + "=" + value + "@" + std::to_string(~key.second));
    }
    return rows;
  }
  CommitVersion last_version() const { return next_version_ - 1; }

 private:
  std::string batch(CommitVersion version) {
    const std::string row = "row" + std::to_string(random_.next() % 700);
    const std::string value = std::to_string(version) + std::string(random_.next() % 1500, 'v');
    rows_[{row, ~version}] = value;
    return test::put_of(row, value);
  }

  io::SeededRandom random_{1};
  CommitVersion next_version_ = 100;
  std::map<std::pair<std::string, CommitVersion>, std::string> rows_;
};

/// Two segments that the manifest records as closed, the second one smaller, and after them a larger one in use.
struct ThreeSegments {
  ThreeSegments() : first(large(image.log())), second(large(image.announce(7))), third(large(image.announce(8))) {
    content.fill(first, 6 * InsertBehind::kChunkBytes);
    close(first);
    content.fill(second, InsertBehind::kChunkBytes / 2);
    close(second);
    content.fill(third, 8 * InsertBehind::kChunkBytes);
    image.write_log(third);
  }
  static LogWriter large(const LogWriter& log) {
    return LogWriter(log.number(), log.seed(), 16 * InsertBehind::kChunkBytes);
  }
  void close(LogWriter& log) {
    log.all_durable().seal();
    image.write_cut_log(log);
    image.close_in_manifest(log);
  }

  StoreImage image;
  LongLog content;
  LogWriter first;
  LogWriter second;
  LogWriter third;
};

/// Reads by a schedule that `seed` determines. If `refuses`, there is no second thread.
Result<Recovered> read_by_schedule(const io::MemoryDisk& disk, std::uint64_t seed, bool refuses = false) {
  io::ManualClock clock;
  io::SeededRandom random(seed);
  io::SeededScheduler simulation(seed, clock);
  test::ThreadRefusal threads(simulation);
  io::MemoryFileSystem files(simulation.scheduler(), disk);
  const io::Env env{files, clock, random, threads.scheduler()};
  const auto directory = *files.open_directory(test::kImagePath);
  if (refuses) threads.refuse(0);
  Result<Recovered> recovered = read_store(env, *directory, true);
  EXPECT_EQ(threads.happened(), refuses);
  return recovered;
}

void expect_content(const Result<Recovered>& recovered, const LongLog& content) {
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->last_version, content.last_version());
  EXPECT_TRUE(test::rows_of(*recovered) == content.rows());
  recovered->memtable->check_invariants();
}

TEST(RecoveryThreads, TheMemtableIsTheSameByAnySchedule) {
  const ThreeSegments store;
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(20); ++seed) {
    SCOPED_TRACE(seed);
    expect_content(read_by_schedule(store.image.disk, seed), store.content);
  }
}

TEST(RecoveryThreads, TheMemtableIsTheSameByThreadsOfTheSystem) {
  const ThreeSegments store;
  for (int round = 0; round < 10; ++round) expect_content(store.image.recover(), store.content);
}

TEST(RecoveryThreads, WhereThereIsNoThreadOneIsEnough) {
  const ThreeSegments store;
  expect_content(read_by_schedule(store.image.disk, 1, true), store.content);
}

TEST(RecoveryThreads, AShortLogAsksForNoThread) {
  StoreImage image;
  LogWriter log = image.log();
  LongLog content;
  content.fill(log, InsertBehind::kChunkBytes / 4);
  image.write_log(log);
  io::ManualClock clock;
  io::SeededRandom random(1);
  io::SeededScheduler simulation(1, clock);
  test::ThreadRefusal threads(simulation);
  io::MemoryFileSystem files(simulation.scheduler(), image.disk);
  const io::Env env{files, clock, random, threads.scheduler()};
  const auto directory = *files.open_directory(test::kImagePath);
  threads.refuse(0);
  expect_content(read_store(env, *directory, true), content);
  EXPECT_FALSE(threads.happened());
}

/// Expects the same error for a log of which a part waits for its insertion when the error is found.
void expect_same_error(const StoreImage& image, std::string_view where) {
  const Status by_one = read_by_schedule(image.disk, 1, true).status();
  EXPECT_EQ(by_one.code(), Code::kCorruption);
  EXPECT_NE(by_one.message().find(where), std::string::npos) << by_one.to_string();
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(20); ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(read_by_schedule(image.disk, seed).status().to_string(), by_one.to_string());
  }
  EXPECT_EQ(image.recover().status().to_string(), by_one.to_string());
}

TEST(RecoveryThreads, AGroupOutOfOrderIsTheSameError) {
  ThreeSegments store;
  const std::uint64_t offset = store.third.group(7, {test::put_of("a", "is older than the log")});
  store.third.end_write();
  store.content.fill(store.third, InsertBehind::kChunkBytes);
  store.image.write_log(store.third);
  expect_same_error(store.image, "000008.wal, offset " + std::to_string(offset));
}

TEST(RecoveryThreads, ARecordThatDoesNotVerifyIsTheSameError) {
  ThreeSegments store;
  const std::uint64_t offset = store.first.writes()[store.first.writes().size() - 9].begin;
  ASSERT_TRUE(
      store.image.disk.flip_bit(test::path_of(StoreImage::log_name(store.first)), offset + 200, std::byte{1}).ok());
  expect_same_error(store.image, "offset " + std::to_string(offset));
}

TEST(RecoveryThreads, AMissingSegmentIsTheSameError) {
  ThreeSegments store;
  store.image.remove(StoreImage::log_name(store.second));
  expect_same_error(store.image, "000007.wal");
}

}  // namespace
}  // namespace varve::engine::recovery_threads_test
