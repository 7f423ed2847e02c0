// Owns: the promises of engine/checkpoint: a complete copy of one state, shared without copying, and afterwards a store
// of its own.
#include "engine/checkpoint/checkpoint.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "engine/manifest/manifest.h"
#include "io/env.h"
#include "tests/engine/checkpoint/checkpoint_bench.h"
#include "tests/support/table_file_faults.h"

namespace varve::engine::checkpoint_test {
namespace {

using test::Change;
using test::Machine;
using test::value_of;

class Checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    origin_ = *std::move(opened);
  }
  Engine& origin() { return *origin_; }
  std::unique_ptr<Engine> open_copy(const EngineOptions& options = EngineOptions()) {
    auto opened = open_at(machine_, kCopyPath, options);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  /// Stops the compactor at its first table file, which is the second one of the store. So the space of dropped tables
  /// is not freed meanwhile.
  void hold_compactor() {
    io::FaultRule rule = test::fail_table_files(io::OperationKind::kCreate, 1);
    rule.effect = io::FaultEffect::kNever;
    machine_.files->faults().add(rule);
  }
  void let_compactor_go() {
    machine_.files->faults().clear();
    machine_.files->let_go();
  }
  CheckpointStatistics make() {
    const Result<CheckpointStatistics> made = origin().checkpoint(kCopyPath);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : CheckpointStatistics();
  }

  Machine machine_;
  std::unique_ptr<Engine> origin_;
};

TEST_F(Checkpoint, IsTheStateOfItsVersionAndOpensAsAClosedStore) {
  hold_compactor();
  fill(origin());
  machine_.files->await_stuck(1);
  const Rows rows = rows_of(origin());
  const CheckpointStatistics made = make();
  EXPECT_EQ(made.version.ticks, version_of(origin()));
  ASSERT_TRUE(Change().put("p", "later", "x").commit(origin()).ok());

  const auto copy = open_copy(Machine::reading());
  EXPECT_EQ(rows_of(*copy), rows);
  EXPECT_EQ(version_of(*copy), made.version.ticks);
  EXPECT_TRUE(copy->statistics().recovery.clean);
  EXPECT_EQ(copy->last_tag()->bytes, "tag");
  EXPECT_TRUE(copy->was_dropped(kOtherTable)) << "a drop that is in the log alone";
  EXPECT_TRUE(tables_of(*copy).ok());
  let_compactor_go();
}

TEST_F(Checkpoint, OfAStoreThatHoldsNothingHoldsNothing) {
  EXPECT_EQ(make().version.ticks, 0u);
  const auto copy = open_copy();
  EXPECT_TRUE(rows_of(*copy).empty());
  EXPECT_TRUE(Change().put("p", "r", "v").commit(*copy).ok());
}

TEST_F(Checkpoint, LinksWhatIsFinishedAndCopiesNothing) {
  fill(origin(), false);
  const CheckpointStatistics made = make();
  EXPECT_EQ(made.files_linked, 2u) << "a table and a segment";
  EXPECT_EQ(made.files_copied, 0u);
  std::uint64_t own = 0;
  for (const std::string& name : machine_.files->snapshot().file_names(kCopyPath)) {
    if (!machine_.files->snapshot().contains("/store/" + name)) ++own;
  }
  EXPECT_EQ(own, 1u) << "the manifest";
}

TEST_F(Checkpoint, OfAnIdleStoreClosesNoSegment) {
  fill(origin(), false);
  (void)make();
  std::atomic<int> cuts{0};
  machine_.files->set_observer(
      [&](const io::Operation& operation, io::Moment) { cuts += operation.kind == io::OperationKind::kCut ? 1 : 0; });
  ASSERT_TRUE(origin().checkpoint("/second").ok());
  EXPECT_EQ(cuts, 0);
  ASSERT_TRUE(Change().put("p", "more", "x").commit(origin()).ok());
  ASSERT_TRUE(origin().checkpoint("/third").ok());
  EXPECT_GT(cuts, 0);
  machine_.files->set_observer({});
}

TEST_F(Checkpoint, HasAnIdentityOfItsOwn) {
  fill(origin());
  (void)make();
  EXPECT_NE(root_of(machine_, kCopyPath).store_id, root_of(machine_, test::kStorePath).store_id);
  EXPECT_EQ(root_of(machine_, kCopyPath).state, format::RootState::kClean);
}

TEST_F(Checkpoint, OpenedForWritingBothStoresGoTheirOwnWays) {
  fill(origin());
  const CheckpointStatistics made = make();
  {
    const auto copy = open_copy();
    for (Engine* const engine : {&origin(), copy.get()}) {
      const std::string mine = engine == copy.get() ? "copy" : "origin";
      const auto version = Change().put("p", "in table 3", mine).put("p", mine, mine).commit(*engine);
      ASSERT_TRUE(version.ok()) << version.status().to_string();
      EXPECT_GT(*version, made.version.ticks);
      ASSERT_TRUE(engine->compact().ok());
      EXPECT_TRUE(tables_of(*engine).ok());
    }
    ASSERT_TRUE(copy->close().ok());
  }
  ASSERT_TRUE(origin_->close().ok());
  for (const std::string_view path : {test::kStorePath, kCopyPath}) {
    const bool is_copy = path == kCopyPath;
    const auto again = open_at(machine_, path, Machine::reading());
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(value_of(**again, "p", "in table 3"), is_copy ? "copy" : "origin");
    EXPECT_EQ(value_of(**again, "p", is_copy ? "origin" : "copy"), "-");
    EXPECT_EQ(value_of(**again, "q", "in log 4"), "l");
    EXPECT_EQ(value_of(**again, "p", "in table 4"), "-");
    EXPECT_TRUE(tables_of(**again).ok());
  }
}

TEST_F(Checkpoint, KeepsATableThatTheOriginDrops) {
  fill(origin());
  const Rows rows = rows_of(origin());
  (void)make();
  ASSERT_TRUE(Change(test::kTable).retire(test::kTable).commit(origin()).ok());
  ASSERT_TRUE(origin().compact().ok());
  ASSERT_TRUE(origin_->close().ok());
  EXPECT_TRUE(rows_of(**open_at(machine_, test::kStorePath, Machine::reading())).empty());
  EXPECT_EQ(rows_of(*open_copy()), rows);
}

TEST_F(Checkpoint, OutlivesItsOrigin) {
  fill(origin());
  const Rows rows = rows_of(origin());
  (void)make();
  ASSERT_TRUE(origin_->close().ok());
  machine_.files->change_disk([](io::MemoryDisk& disk) {
    for (const std::string& name : disk.file_names(test::kStorePath)) {
      ASSERT_TRUE(disk.remove_file("/store/" + name).ok());
    }
  });
  EXPECT_EQ(rows_of(*open_copy()), rows);
}

TEST_F(Checkpoint, OfACheckpointIsOneToo) {
  fill(origin());
  const Rows rows = rows_of(origin());
  (void)make();
  const auto copy = open_copy();
  ASSERT_TRUE(copy->checkpoint("/second").ok());
  EXPECT_EQ(rows_of(**open_at(machine_, "/second", Machine::reading())), rows);
}

TEST_F(Checkpoint, OfACrashedAndRecoveredStoreIsWhole) {
  fill(origin());
  const Rows rows = rows_of(origin());
  Machine after(2, machine_.files->process_death(machine_.random));
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  const auto made = (*recovered)->checkpoint(kCopyPath);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const auto copy = open_at(after, kCopyPath, Machine::reading());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_EQ(rows_of(**copy), rows);
  EXPECT_EQ(version_of(**copy), made->version.ticks);
}

// -- Without links ----------------------------------------------------------------------------------------------------

TEST_F(Checkpoint, WithoutLinksItCopies) {
  fill(origin(), false);
  const Rows rows = rows_of(origin());
  forbid_links(machine_);
  const CheckpointStatistics made = make();
  EXPECT_EQ(made.files_linked, 0u);
  EXPECT_EQ(made.files_copied, 2u);
  EXPECT_GT(made.copied_bytes, 0u);
  const auto copy = open_copy(Machine::reading());
  EXPECT_EQ(rows_of(*copy), rows);
  EXPECT_TRUE(tables_of(*copy).ok());
}

TEST_F(Checkpoint, DoesNotCopyDamage) {
  fill(origin(), false);
  std::string table;
  for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
    if (name.ends_with(".sst")) table = name;
  }
  machine_.files->change_disk(
      [&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.flip_bit("/store/" + table, 200, std::byte{1}).ok()); });
  forbid_links(machine_);
  const auto made = origin().checkpoint(kCopyPath);
  EXPECT_EQ(made.code(), Code::kCorruption);
  EXPECT_NE(made.status().message().find(table), std::string::npos) << made.status().to_string();
  EXPECT_EQ(machine_.files->snapshot().file_names(kCopyPath), std::vector<std::string>{std::string(kLockName)});
}

// -- Refusals ---------------------------------------------------------------------------------------------------------

TEST_F(Checkpoint, ADirectoryThatHoldsSomethingIsRefusedAndUnchanged) {
  fill(origin());
  machine_.files->change_disk([](io::MemoryDisk& disk) {
    disk.write_file("/taken/something", format::as_bytes("x"));
    disk.write_file("/locked/LOCK/inner", format::as_bytes("x"));
  });
  ASSERT_TRUE(origin().checkpoint(kCopyPath).ok());
  const io::MemoryDisk before = machine_.files->snapshot();
  for (const std::string_view path : {std::string_view("/taken"), std::string_view("/locked"), kCopyPath}) {
    const auto made = origin().checkpoint(path);
    EXPECT_EQ(made.code(), Code::kExists) << made.status().to_string();
    EXPECT_NE(made.status().message().find(path), std::string::npos) << made.status().to_string();
    EXPECT_EQ(machine_.files->snapshot().file_names(path), before.file_names(path));
  }
  EXPECT_EQ(origin().checkpoint(test::kStorePath).code(), Code::kExists) << "itself";
  EXPECT_EQ(origin().checkpoint("/absent/copy").code(), Code::kNotFound);
  EXPECT_EQ(origin().checkpoint("/taken/something").code(), Code::kInvalidArgument);
  EXPECT_EQ(*machine_.files->snapshot().read_file("/taken/something"), *before.read_file("/taken/something"));
}

TEST_F(Checkpoint, ADirectoryWhereSomebodyIsAtWorkIsRefused) {
  ASSERT_TRUE(machine_.files->create_directory(kCopyPath, {"test"}).ok());
  auto directory = machine_.files->open_directory(kCopyPath);
  ASSERT_TRUE(directory.ok());
  {
    auto lock = (*directory)->lock(kLockName, io::LockMode::kExclusive, std::chrono::milliseconds(0));
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(origin().checkpoint(kCopyPath).code(), Code::kLocked);
  }
  EXPECT_TRUE(origin().checkpoint(kCopyPath).ok()) << "a lock file that nobody holds is nothing";
}

TEST_F(Checkpoint, OnlyAStoreOpenForWritingMakesOne) {
  fill(origin());
  ASSERT_TRUE(origin_->close().ok());
  EXPECT_EQ(origin().checkpoint(kCopyPath).code(), Code::kClosed);
  const auto reading = machine_.open(Machine::reading());
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ((*reading)->checkpoint(kCopyPath).code(), Code::kReadOnly);
  EXPECT_EQ(machine_.files->open_directory(kCopyPath).status().os_error(), ENOENT);
}

TEST_F(Checkpoint, WithoutRoomForTheLogsNextSegmentItAloneIsRefused) {
  fill(origin(), false);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kCreateLogSegment;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.code = Code::kNoSpace;
  machine_.files->faults().add(rule);
  int made = 0;
  for (;; ++made) {  // Up to two prepared segments may exist.
    ASSERT_LT(made, 4);
    ASSERT_TRUE(Change().put("p", "more", "x").commit(origin()).ok());
    const auto checkpoint = origin().checkpoint("/copy" + std::to_string(made));
    if (checkpoint.ok()) continue;
    EXPECT_EQ(checkpoint.code(), Code::kNoSpace) << checkpoint.status().to_string();
    break;
  }
  EXPECT_EQ(origin().statistics().health, Health::kHealthy);
  ASSERT_TRUE(Change().put("p", "and more", "y").commit(origin()).ok());
  machine_.files->faults().clear();
  const Rows rows = rows_of(origin());
  ASSERT_TRUE(origin().checkpoint("/copy" + std::to_string(made)).ok());
  EXPECT_EQ(rows_of(**open_at(machine_, "/copy" + std::to_string(made))), rows);
}

// -- Concurrent work --------------------------------------------------------------------------------------------------

TEST_F(Checkpoint, FilesThatLeaveTheOriginMeanwhileAreInItAllTheSame) {
  fill(origin(), false);
  const Rows rows = rows_of(origin());
  // All files leave the origin before the first one is linked.
  std::atomic<bool> linking{false};
  std::atomic<bool> left{false};
  std::uint64_t tables_left = 1;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (operation.kind != io::OperationKind::kLink || moment != io::Moment::kBefore) return;
    linking = true;
    while (!left) std::this_thread::yield();
  });
  {
    auto other = machine_.scheduler().start("drop", [&] {
      while (!linking) std::this_thread::yield();
      // The closed segment, the one in use, and the spare one.
      while (origin().statistics().log_segments < 3) std::this_thread::yield();
      const auto dropped = Change(test::kTable).retire(test::kTable).commit(origin());
      Status compacted = origin().compact();
      tables_left = origin().statistics().levels.back().files;
      // A flush frees the segments that the manifest records as closed. That record may be later than the spare
      // segment.
      while (compacted.ok() && origin().statistics().log_segments > 2) {
        EXPECT_TRUE(Change(kOtherTable).put("p", "more", "x").commit(origin()).ok());
        compacted = origin().compact();
      }
      left = true;
      ASSERT_TRUE(dropped.ok() && compacted.ok()) << compacted.to_string();
    });
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(make().files_linked, 2u);
  }
  machine_.files->set_observer({});
  const std::vector<std::string> linked = machine_.files->snapshot().file_names(kCopyPath);
  EXPECT_EQ(tables_left, 0u);
  EXPECT_EQ(rows_of(*open_copy()), rows);

  ASSERT_TRUE(origin_->close().ok());
  const io::MemoryDisk after = machine_.files->snapshot();
  for (const std::string& name : linked) {
    const bool held_data = name.ends_with(".sst") || name.ends_with(".wal");
    EXPECT_TRUE(!held_data || !after.contains("/store/" + name)) << name << " gives its space back in the end";
  }
}

constexpr std::size_t kWriters = 3;
constexpr std::size_t kCommitsEach = 30;

struct Ledger {
  std::array<std::array<CommitVersion, kCommitsEach>, kWriters> versions{};
  std::array<std::size_t, kWriters> acknowledged{};
  std::array<CommitVersion, kCommitsEach> other{};  // of writer 0, in the table that it drops
  CommitVersion dropped = 0;
};

struct Taken {
  std::string path;
  CheckpointStatistics figures;
  std::array<std::size_t, kWriters> acknowledged{};
  CommitVersion dropped = 0;
};

void write(Engine& engine, std::size_t writer, Ledger& ledger) {
  const std::string partition = "w" + std::to_string(writer);
  for (std::size_t i = 0; i < kCommitsEach; ++i) {
    Change change;
    change.put(partition, std::to_string(i), std::string(2000, static_cast<char>('a' + i % 26)));
    change.put(partition, "last", std::to_string(i));
    if (i % 3 == 0) change.buffered();
    const auto version = change.commit(engine);
    ASSERT_TRUE(version.ok()) << version.status().to_string();
    ledger.versions[writer][i] = *version;
    ledger.acknowledged[writer] = i + 1;
    if (writer != 0) continue;
    if (i < kCommitsEach / 2) {
      const auto put = Change(kOtherTable).put("p", std::to_string(i), "d").commit(engine);
      ASSERT_TRUE(put.ok());
      ledger.other[i] = *put;
    }
    if (i != kCommitsEach / 2) continue;
    const auto dropped = Change(kOtherTable).retire(kOtherTable).commit(engine);
    ASSERT_TRUE(dropped.ok());
    ledger.dropped = *dropped;
  }
}

void check(Machine& machine, const Taken& taken, const Ledger& ledger) {
  SCOPED_TRACE(taken.path);
  const auto copy = open_at(machine, taken.path, EngineOptions());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  const CommitVersion end = taken.figures.version.ticks;
  ASSERT_EQ(version_of(**copy), end);
  ASSERT_TRUE(tables_of(**copy).ok());
  for (std::size_t w = 0; w < kWriters; ++w) {
    std::string last = "-";
    for (std::size_t i = 0; i < kCommitsEach; ++i) {
      const bool there = ledger.versions[w][i] <= end;
      ASSERT_TRUE(there || i >= taken.acknowledged[w]) << "acknowledged before, and not in it: " << w << "/" << i;
      if (there) last = std::to_string(i);
      const std::string expected = there ? std::string(2000, static_cast<char>('a' + i % 26)) : "-";
      ASSERT_EQ(value_of(**copy, "w" + std::to_string(w), std::to_string(i)), expected) << w << "/" << i;
    }
    ASSERT_EQ(value_of(**copy, "w" + std::to_string(w), "last"), last);
  }
  ASSERT_TRUE(taken.dropped == 0 || taken.dropped <= end) << "an acknowledged drop is not in it";
  if (ledger.dropped > end) {
    for (std::size_t i = 0; i < kCommitsEach; ++i) {
      const auto found = (*copy)->view().get(test::key_of("p", std::to_string(i), kOtherTable));
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(found->has_value(), ledger.other[i] > 0 && ledger.other[i] <= end) << i;
    }
  }
  ASSERT_TRUE(Change().put("p", "after", "x").commit(**copy).ok());
}

class CheckpointBeside : public testing::TestWithParam<std::uint64_t> {};

TEST_P(CheckpointBeside, WritersFlushesCompactionsAndDropsIsOnePrefixOfTheOrder) {
  Machine machine(GetParam(), test::OneThreadAtATime{});
  EngineOptions options = Machine::writable();
  options.write_budget =
      std::make_shared<WriteBudget>(io::system_env().scheduler, 128 << 10);  // Memtables are flushed all the time.
  Ledger ledger;
  std::vector<Taken> all;
  {
    auto engine = machine.open(options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    if (GetParam() % 4 == 0) forbid_links(machine);
    std::vector<io::Thread> threads;
    for (std::size_t w = 0; w < kWriters; ++w) {
      threads.push_back(*machine.scheduler().start("writer", [&, w] { write(**engine, w, ledger); }));
    }
    threads.push_back(*machine.scheduler().start("checkpoint", [&] {
      for (int i = 0; i < 5; ++i) {
        Taken taken{"/copy" + std::to_string(i), {}, ledger.acknowledged, ledger.dropped};
        const auto made = (*engine)->checkpoint(taken.path);
        ASSERT_TRUE(made.ok()) << made.status().to_string();
        taken.figures = *made;
        all.push_back(taken);
      }
    }));
    threads.push_back(*machine.scheduler().start("compact", [&] {
      for (int i = 0; i < 3; ++i) ASSERT_TRUE((*engine)->compact().ok());
    }));
    threads.clear();
    ASSERT_TRUE((*engine)->close().ok());
  }
  ASSERT_EQ(all.size(), 5u);
  machine.files->faults().clear();
  for (const Taken& taken : all) {
    check(machine, taken, ledger);
    if (HasFatalFailure()) return;
  }
  // No deferred removal was forgotten: the origin contains the files of its manifest, and after a clean close no
  // others.
  const auto reopened = machine.open(Machine::reading());
  ASSERT_TRUE(reopened.ok());
  const Statistics figures = (*reopened)->statistics();
  std::uint64_t tables = 0;
  for (const LevelStatistics& level : figures.levels) tables += level.files;
  std::uint64_t found = 0;
  for (const std::string& name : machine.files->snapshot().file_names(test::kStorePath)) {
    if (name.ends_with(".sst")) ++found;
  }
  EXPECT_EQ(found, tables);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckpointBeside, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace varve::engine::checkpoint_test
