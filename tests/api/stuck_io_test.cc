// A device that does not answer: one call of the file system stays in flight until the test releases it.
//
// Only operations that need the call wait. Late data is not reported as lost. A process killed meanwhile has lost no
// acknowledged data. When the device answers, everything continues.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/api/store_bench.h"

namespace varve::test::stuck_io_test {
namespace {

constexpr std::uint64_t kSeeds = 8;
constexpr int kTurns = 20'000;
constexpr std::uint64_t kWriteBufferBytes = 256 << 10;

io::FaultRule never(io::OperationKind kind) {
  io::FaultRule rule;
  rule.kind = kind;
  rule.effect = io::FaultEffect::kNever;
  return rule;
}

io::FaultRule never(const io::SyncPoint& point) {
  io::FaultRule rule;
  rule.sync_point = point.name;
  rule.effect = io::FaultEffect::kNever;
  return rule;
}

/// A store whose threads run one at a time, and one call of its file system that does not return.
class StuckStore {
 public:
  explicit StuckStore(std::uint64_t seed) : bench_(seed, OneThreadAtATime()) {
    ResourceOptions resources;
    resources.write_buffer_bytes = kWriteBufferBytes;
    resources.block_cache_bytes = 0;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
    table_ = bench_.table();
    EXPECT_EQ(said(table_->insert(with_value("before", "r", "x"))), kFine);
    EXPECT_EQ(said(bench_.store->compact()), kFine);
    EXPECT_EQ(said(table_->insert(with_value("young", "r", "x"))), kFine);
  }
  ~StuckStore() {
    if (thread_) (void)let_go().ok();
  }
  StuckStore(const StuckStore&) = delete;
  StuckStore& operator=(const StuckStore&) = delete;

  Table& table() { return *table_; }
  Store& store() { return *bench_.store; }
  io::MemoryFileSystem& files() { return *bench_.machine.files; }

  /// Begins `verb` on a thread of its own, which is blocked in the call that the rule names.
  void begin(io::FaultRule rule, std::function<Status()> verb) {
    files().faults().add(std::move(rule));
    thread_ = *bench_.machine.scheduler().start("stuck", [this, verb = std::move(verb)] { ended_ = verb(); });
    files().await_stuck(1);
  }
  /// Lets all other threads run.
  void pass_turns() {
    for (int i = 0; i < kTurns; ++i) bench_.machine.scheduler().yield();
  }
  /// Lets the call return. Returns the result of the blocked operation.
  Status let_go() {
    files().faults().clear();
    files().let_go();
    thread_.reset();  // joins
    return ended_;
  }

  void expect_reads() {
    EXPECT_EQ(value_in(table(), "before", "r"), "x");
    EXPECT_EQ(value_in(table(), "young", "r"), "x");
  }
  void expect_writes(std::string_view partition) {
    EXPECT_EQ(said(table().insert_or_replace(with_value(partition, "sync", "x"))), kFine);
    expect_buffered_writes(partition);
  }
  void expect_buffered_writes(std::string_view partition) {
    WriteOptions buffered;
    buffered.durability = Durability::kBuffered;
    EXPECT_EQ(said(table().insert_or_replace(with_value(partition, "buffered", "x"), buffered)), kFine);
    EXPECT_EQ(value_in(table(), partition, "buffered"), "x");
  }
  void expect_health() { EXPECT_EQ((*store().statistics()).health, Health::kHealthy); }

  /// Kills the process at this moment: another process finds the acknowledged data, and can write.
  void expect_killed_process_lost_nothing(std::string_view partition, bool has_sync_write) {
    io::SeededRandom random(7);
    io::MemoryFileSystem after(files().process_death(random));
    io::ManualClock clock;
    io::Scheduler scheduler;
    const io::Env env{after, clock, random, scheduler};
    StoreOptions options;
    options.env = &env;
    options.read_only = true;  // the threads of a writer would belong to this simulation
    const auto opened = Store::open(kStorePath, options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const Result<Table> found = (*opened)->open_table(kAccount, "Orders");
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(value_in(*found, "before", "r"), "x");
    EXPECT_EQ(value_in(*found, "young", "r"), "x");
    EXPECT_EQ(value_in(*found, partition, "buffered"), "x");
    if (has_sync_write) {
      EXPECT_EQ(value_in(*found, partition, "sync"), "x");
    }
  }

  void expect_nothing_lost_after_a_reopen(std::string_view partition) {
    EXPECT_EQ(said(store().close()), kFine);
    table_.reset();
    bench_.open();
    table_ = *bench_.store->open_table(kAccount, "Orders");
    expect_reads();
    EXPECT_EQ(value_in(table(), partition, "buffered"), "x");
  }

 private:
  StoreBench bench_;
  std::optional<Table> table_;
  Status ended_;
  std::optional<io::Thread> thread_;
};

/// Each test runs under several schedules.
class StuckIo : public testing::TestWithParam<std::uint64_t> {
 protected:
  StuckStore stuck_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Seeds, StuckIo, testing::Range(std::uint64_t{1}, kSeeds + 1));

TEST_P(StuckIo, ALogWriteHoldsUpItsCommitAndNoReader) {
  stuck_.begin(never(engine::sync_points::kLogGroup),
               [&] { return stuck_.table().insert(with_value("late", "r", "x")).status(); });
  stuck_.expect_reads();
  EXPECT_EQ(value_in(stuck_.table(), "late", "r"), "-") << "what is not durable is not shown";
  stuck_.pass_turns();
  stuck_.expect_health();
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  EXPECT_EQ(value_in(stuck_.table(), "late", "r"), "x");
  stuck_.expect_writes("after");
  stuck_.expect_nothing_lost_after_a_reopen("after");
}

TEST_P(StuckIo, AWriteOfTheLogBufferEndangersNothingThatWasAcknowledged) {
  stuck_.expect_buffered_writes("first");  // waits for a version ceiling, with its record
  stuck_.expect_buffered_writes("second");
  // Makes them durable, about 10 ms later.
  stuck_.begin(never(io::OperationKind::kLogWrite), [] { return Status(); });
  stuck_.expect_reads();
  stuck_.pass_turns();
  stuck_.expect_health();
  stuck_.expect_killed_process_lost_nothing("first", false);
  stuck_.expect_killed_process_lost_nothing("second", false);
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  stuck_.expect_writes("after");
  stuck_.expect_nothing_lost_after_a_reopen("second");
}

TEST_P(StuckIo, AWriteOfATableFileHoldsUpItsFlushAlone) {
  io::FaultRule rule = never(io::OperationKind::kAppend);
  rule.name_suffix = ".sst";
  stuck_.begin(rule, [&] { return stuck_.store().compact(); });
  stuck_.expect_reads();
  stuck_.expect_writes("beside");
  stuck_.pass_turns();
  stuck_.expect_health();
  stuck_.expect_killed_process_lost_nothing("beside", true);
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  stuck_.expect_nothing_lost_after_a_reopen("beside");
}

TEST_P(StuckIo, ASyncOfATableFileHoldsUpItsFlushAlone) {
  stuck_.begin(never(engine::sync_points::kTable), [&] { return stuck_.store().compact(); });
  stuck_.expect_reads();
  stuck_.expect_writes("beside");
  stuck_.pass_turns();
  stuck_.expect_health();
  stuck_.expect_killed_process_lost_nothing("beside", true);
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  stuck_.expect_nothing_lost_after_a_reopen("beside");
}

TEST_P(StuckIo, AManifestEditHoldsUpWhatItRecordsAndNoReaderOrWriter) {
  stuck_.begin(never(engine::sync_points::kManifestAppend), [&] { return stuck_.store().compact(); });
  stuck_.expect_reads();
  stuck_.expect_writes("beside");
  stuck_.pass_turns();
  stuck_.expect_health();
  stuck_.expect_killed_process_lost_nothing("beside", true);
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  stuck_.expect_nothing_lost_after_a_reopen("beside");
}

TEST_P(StuckIo, AReadHoldsUpItsReaderAlone) {
  io::FaultRule rule = never(io::OperationKind::kRead);
  rule.name_suffix = ".sst";
  std::string seen;
  stuck_.begin(rule, [&] {
    seen = value_in(stuck_.table(), "before", "r");
    return Status();
  });
  EXPECT_EQ(value_in(stuck_.table(), "young", "r"), "x");
  stuck_.expect_writes("beside");
  stuck_.pass_turns();
  stuck_.expect_health();
  stuck_.expect_killed_process_lost_nothing("beside", true);
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  EXPECT_EQ(seen, "x");
  stuck_.expect_nothing_lost_after_a_reopen("beside");
}

TEST_P(StuckIo, AFlushThatNeverEndsHoldsUpWritersWithinTheWriteBuffer) {
  constexpr int kWrites = 64;
  const std::string value(16 << 10, 'x');
  int written = 0;
  io::FaultRule rule = never(io::OperationKind::kAppend);
  rule.name_suffix = ".sst";
  stuck_.begin(rule, [&] {
    for (; written < kWrites; ++written) {
      const Status status = stuck_.table().insert(with_value("p", std::to_string(written), value)).status();
      if (!status.ok()) return status;
    }
    return Status();
  });
  stuck_.pass_turns();
  EXPECT_LT(written, kWrites) << "four times the write buffer passed through it";
  const Statistics statistics = *stuck_.store().statistics();
  EXPECT_LE(statistics.memtable_bytes, statistics.memtable_bytes_max);
  stuck_.expect_health();
  stuck_.expect_reads();
  EXPECT_EQ(stuck_.let_go().code(), Code::kOk);
  EXPECT_EQ(written, kWrites);
  for (int i = 0; i < kWrites; ++i) EXPECT_EQ(value_in(stuck_.table(), "p", std::to_string(i)), value) << i;
  stuck_.expect_writes("after");
  stuck_.expect_nothing_lost_after_a_reopen("after");
}

}  // namespace
}  // namespace varve::test::stuck_io_test
