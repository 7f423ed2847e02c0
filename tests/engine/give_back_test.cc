// Goal: for every way in which a table ends, and every place of its data, its space is freed: in the open store, at its
// close, and after a process died. Until then the figures report the space.
// Method: a drop of a table or of its account. Its data is in the log, in table files, in value files, or loaded. The
// content of the disk is compared with the content before. If a thread of the store does the work, the test waits
// without a clock.
#include <algorithm>
#include <atomic>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/load/load.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::give_back_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint32_t kDroppedAccount = 7;
constexpr format::TableId kKept = format::make_table_id(3, 1);
constexpr format::TableId kDropped = format::make_table_id(kDroppedAccount, 5);
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
/// The disk space of a new store in use: a segment, the next one, the manifest's growth and small tables.
constexpr std::uint64_t kSlack = 3 * kMiB;

enum class Data : std::uint8_t { kInTheLog, kInBoth, kInTables, kLargeInTheLog, kLargeInValueFiles, kLoaded };
enum class Drop : std::uint8_t { kTable, kAccount };

std::string noise(io::SeededRandom& random, std::size_t bytes) {
  std::string value(bytes, ' ');
  for (char& c : value) c = static_cast<char>(random.next());
  return value;
}

struct Case {
  Data data;
  Drop drop;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << "data " << static_cast<int>(one.data) << ", drop " << static_cast<int>(one.drop);
}

class GiveBack : public testing::TestWithParam<Case> {
 protected:
  void open() {
    engine_.reset();
    auto opened = machine_->open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  void SetUp() override {
    open();
    ASSERT_TRUE(Change(kKept).put("p", "kept", "k").commit(*engine_).ok());
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
    before_ = used();
  }
  std::uint64_t used() const { return machine_->files->used_bytes(); }

  void write(format::TableId table, std::size_t value_bytes, std::size_t bytes) {
    for (std::size_t written = 0; written < bytes;) {
      Change change(table);
      for (std::size_t size = 0; size < 256 << 10; size += value_bytes) {
        change.put("p", std::to_string(++rows_), noise(random_, value_bytes));
        written += value_bytes;
      }
      const auto committed = change.buffered().commit(*engine_);
      ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    }
  }
  void load(std::size_t bytes) {
    auto load = engine_->begin_load();
    ASSERT_TRUE(load.ok());
    const auto version = Change(kKept).put("p", "counter", "next").commit(*engine_);
    ASSERT_TRUE(version.ok());
    (*load)->begin(kDropped, *version);
    for (std::size_t row = 0; row < bytes / 1000; ++row) {
      const std::string key = test::key_of("p", std::to_string(1'000'000 + row), kDropped);
      ASSERT_TRUE((*load)->add(key, noise(random_, 1000)).ok());
    }
    ASSERT_TRUE((*load)->install().ok());
    CommitRequest request;
    format::BatchBuilder batch;
    batch.put(test::key_of("p", "name", kKept), "loaded");
    batch.adopt(kDropped);
    request.batch = batch.finish();
    request.tables = {kDropped};
    request.load = load->get();
    ASSERT_TRUE(engine_->commit(std::move(request)).ok());
  }
  void fill(std::size_t bytes = kBytes) {
    constexpr std::size_t kSmall = 1000;
    constexpr std::size_t kLarge = 60'000;
    switch (GetParam().data) {
      case Data::kInTheLog: return write(kDropped, kSmall, bytes);
      case Data::kInBoth:
        write(kDropped, kSmall, bytes / 2);
        ASSERT_TRUE(engine_->flush().ok());
        return write(kDropped, kSmall, bytes / 2);
      case Data::kInTables:
        write(kDropped, kSmall, bytes);
        ASSERT_EQ(engine_->compact().to_string(), "Ok");
        return;
      case Data::kLargeInTheLog: return write(kDropped, kLarge, bytes);
      case Data::kLargeInValueFiles:
        write(kDropped, kLarge, bytes);
        ASSERT_TRUE(engine_->flush().ok());
        ASSERT_GT(engine_->statistics().value_file_bytes, 0u);
        return;
      case Data::kLoaded: return load(bytes);
    }
  }
  void drop() {
    format::BatchBuilder batch;
    if (GetParam().drop == Drop::kTable) batch.retire_table(kDropped);
    if (GetParam().drop == Drop::kAccount) batch.retire_account(kDroppedAccount);
    CommitRequest request;
    request.batch = batch.finish();
    request.frees_space = true;
    ASSERT_TRUE(engine_->commit(std::move(request)).ok());
  }
  void expect_what_was_kept() {
    const auto found = engine_->view().get(test::key_of("p", "kept", kKept));
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->value, "k");
  }
  /// Waits for the space. If the test never ends, it fails by the general time limit.
  void await_the_space() {
    while (used() > before_ + kSlack || engine_->statistics().retired_ids > 0) std::this_thread::yield();
  }

  static constexpr std::size_t kBytes = 12 * kMiB;
  io::SeededRandom random_{11};
  std::unique_ptr<Machine> machine_ = std::make_unique<Machine>();
  std::unique_ptr<Engine> engine_;
  std::uint64_t before_ = 0;
  std::size_t rows_ = 0;
};

TEST_P(GiveBack, ByAnOpenStoreThatNobodyAsks) {
  fill();
  ASSERT_GT(used(), before_ + kBytes / 2);
  drop();
  await_the_space();
  const Statistics figures = engine_->statistics();
  EXPECT_EQ(figures.retired_ids, 0u);
  EXPECT_EQ(figures.compaction_debt_bytes, 0u);
  expect_what_was_kept();
}

TEST_P(GiveBack, WhenTheProcessThatDroppedCloses) {
  fill();
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  open();
  drop();
  ASSERT_EQ(engine_->close().to_string(), "Ok");
  EXPECT_LT(used(), before_ + kSlack);
  open();
  EXPECT_EQ(engine_->statistics().retired_ids, 0u);
  expect_what_was_kept();
}

TEST_P(GiveBack, AfterTheNextOpenWhereTheProcessDied) {
  fill();
  drop();
  io::MemoryDisk disk = machine_->files->process_death(random_);
  engine_.reset();
  machine_ = std::make_unique<Machine>(2, disk);
  {
    auto reader = machine_->open(Machine::reading());
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    // Background work that the process did not finish.
    const Statistics figures = (*reader)->statistics();
    if (figures.retired_ids > 0) {
      EXPECT_GT(figures.compaction_debt_bytes, kBytes / 2);
    }
  }
  open();
  await_the_space();
  EXPECT_EQ(engine_->statistics().compaction_debt_bytes, 0u);
  expect_what_was_kept();
}

TEST_P(GiveBack, OverManyRoundsWithoutGrowing) {
  std::uint64_t most = 0;
  for (int round = 0; round < 3; ++round) {
    fill(kBytes / 2);
    drop();
    await_the_space();
    most = std::max(most, used());
    if (GetParam().drop == Drop::kAccount) break;  // An account's number is never reused.
    if (GetParam().data == Data::kLoaded) break;   // The id of a load is never reused.
    open();                                        // A new process does not know an id of which nothing is left.
  }
  EXPECT_LT(most, before_ + kSlack);
}

INSTANTIATE_TEST_SUITE_P(, GiveBack,
                         testing::Values(Case{Data::kInTheLog, Drop::kTable}, Case{Data::kInBoth, Drop::kTable},
                                         Case{Data::kInTables, Drop::kTable}, Case{Data::kLargeInTheLog, Drop::kTable},
                                         Case{Data::kLargeInValueFiles, Drop::kTable},
                                         Case{Data::kLoaded, Drop::kTable}, Case{Data::kInTheLog, Drop::kAccount},
                                         Case{Data::kInBoth, Drop::kAccount}, Case{Data::kInTables, Drop::kAccount},
                                         Case{Data::kLargeInTheLog, Drop::kAccount},
                                         Case{Data::kLargeInValueFiles, Drop::kAccount},
                                         Case{Data::kLoaded, Drop::kAccount}));

class RetiredIdsOfAStore : public testing::Test {
 protected:
  void drop(format::TableId table) { ASSERT_TRUE(Change(table).retire(table).commit(*engine_).ok()); }

  Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(RetiredIdsOfAStore, FallToNothingThoughEachDropIsSmall) {
  for (std::uint32_t number = 1; number <= 40; ++number) {
    const format::TableId table = format::make_table_id(kDroppedAccount, number);
    ASSERT_TRUE(Change(table).put("p", "r", "v").commit(*engine_).ok());
    drop(table);
  }
  while (engine_->statistics().retired_ids > 0) std::this_thread::yield();
  // An id that is no longer counted stays dropped for handles that found the table before, even after further drops.
  for (std::uint32_t number = 1; number <= 40; ++number) {
    const format::TableId table = format::make_table_id(kDroppedAccount, number);
    EXPECT_EQ(Change(table).put("p", "late", "v").commit(*engine_).code(), Code::kNotFound);
  }
  drop(format::make_table_id(kDroppedAccount, 41));
  for (std::uint32_t number = 1; number <= 41; ++number) {
    const format::TableId table = format::make_table_id(kDroppedAccount, number);
    EXPECT_EQ(Change(table).put("p", "late", "v").commit(*engine_).code(), Code::kNotFound);
  }
  const format::TableId next = format::make_table_id(kDroppedAccount, 42);
  EXPECT_TRUE(Change(next).put("p", "r", "v").commit(*engine_).ok());
}

TEST_F(RetiredIdsOfAStore, StayWhileASnapshotReadsTheTable) {
  ASSERT_TRUE(Change(kDropped).put("p", "r", std::string(100'000, 'v')).commit(*engine_).ok());
  HeldVersion snapshot = engine_->snapshot();
  drop(kDropped);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(engine_->statistics().retired_ids, 1u);
  EXPECT_GT(engine_->statistics().compaction_debt_bytes, 0u);
  {
    const auto found = engine_->view_at(snapshot).get(test::key_of("p", "r", kDropped));
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->has_value());
  }
  snapshot.release();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(engine_->statistics().retired_ids, 0u);
  EXPECT_EQ(engine_->statistics().compaction_debt_bytes, 0u);
}

std::set<std::string> table_files(const Machine& machine) {
  std::set<std::string> names;
  for (const std::string& name : machine.files->snapshot().file_names(test::kStorePath)) {
    if (name.ends_with(".sst")) names.insert(name);
  }
  return names;
}

TEST(CompactAfterADrop, ReadsNothingOfAFileThatHoldsTheTableAlone) {
  for (const bool drop_is_flushed : {false, true}) {
    SCOPED_TRACE(drop_is_flushed);
    Machine machine;
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    io::SeededRandom random(5);
    std::set<std::string> kept;
    for (const format::TableId table : {kKept, kDropped}) {
      kept = table_files(machine);
      Change change(table);
      for (int row = 0; row < 1000; ++row) change.put("p", std::to_string(row), noise(random, 1000));
      ASSERT_TRUE(change.commit(**engine).ok());
      ASSERT_TRUE((*engine)->flush().ok());
    }
    ASSERT_EQ(table_files(machine).size(), kept.size() + 1);
    HeldVersion snapshot = (*engine)->snapshot();  // Prevents every removal before the machine dies.
    ASSERT_TRUE(Change(kDropped).retire(kDropped).commit(**engine).ok());
    if (drop_is_flushed) {
      ASSERT_TRUE((*engine)->flush().ok());
    }
    io::MemoryDisk disk = machine.files->process_death(random);
    snapshot.release();
    engine->reset();

    Machine after(2, disk);
    std::string dead;
    for (const std::string& name : table_files(after)) {
      if (!kept.contains(name)) dead = name;
    }
    ASSERT_FALSE(dead.empty());
    std::atomic<int> reads{0};
    io::FaultRule rule;
    rule.predicate = [&](const io::Operation& operation) {
      // An open checks whether the file exists.
      if (operation.kind == io::OperationKind::kRead && operation.name == dead) ++reads;
      return false;
    };
    after.files->faults().add(rule);
    auto later = after.open();
    ASSERT_TRUE(later.ok()) << later.status().to_string();
    ASSERT_EQ((*later)->compact().to_string(), "Ok");
    EXPECT_EQ((*later)->statistics().retired_ids, 0u);
    EXPECT_FALSE(table_files(after).contains(dead));
    EXPECT_EQ(reads.load(), 0);
  }
}

TEST(ClockAhead, IsToldOfAStoreWhoseMachineWasOnceInAnotherCentury) {
  Machine machine;
  constexpr std::int64_t kYears = 74LL * 365 * 24 * 3600;
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "r", "v").commit(**engine).ok());
    EXPECT_EQ((*engine)->statistics().clock_ahead.count(), 0);
  }
  machine.clock.set_wall(machine.clock.wall() + kYears * io::kTicksPerSecond);
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "r", "v").commit(**engine).ok());
    EXPECT_EQ((*engine)->statistics().clock_ahead.count(), 0);
  }
  machine.clock.set_wall(machine.clock.wall() - kYears * io::kTicksPerSecond);
  for (const EngineOptions& options : {Machine::writable(), Machine::reading()}) {
    auto engine = machine.open(options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    EXPECT_GE((*engine)->statistics().clock_ahead.count(), kYears - 1);
    EXPECT_LE((*engine)->statistics().clock_ahead.count(), kYears + 1);
  }
}

}  // namespace
}  // namespace varve::engine::give_back_test
