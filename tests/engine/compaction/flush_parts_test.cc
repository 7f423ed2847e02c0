// Goal: a flush that several threads write, each its part of the keys, is one flush: all of its files are published or
// none, whatever fails or ends, and readers find every version.
// Method: a base of many small files, and memtables of updates and deletes over all of it. The n-th new table file is
// held up, or fails. Meanwhile every held version is compared with its rows. Cuts are checked on made-up levels.
#include "engine/compaction/flush_parts.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/base/sync_points.h"
#include "tests/engine/compaction/held_rows.h"
#include "tests/engine/compaction/tree_files.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::flush_parts_test {
namespace {

using test::Change;
using test::Machine;
using testing::ElementsAre;

// -- The cuts ---------------------------------------------------------------------------------------------------------

class FlushCuts : public testing::Test {
 protected:
  /// Fills a memtable with one value for each number, about 1 KiB each.
  FlushCuts() {
    for (std::uint64_t number = 0; number < 400; ++number) {
      insert(memtable_, {put(key_of(number), std::string(1000, 'v'))}, number + 1);
    }
  }
  /// A base whose files end and begin at these numbers.
  static Levels base_of(const std::vector<std::uint64_t>& borders) {
    std::vector<format::TableFileEntry> entries;
    std::uint64_t begin = 0;
    for (const std::uint64_t end : borders) {
      entries.push_back(file_entry(entries.size() + 1, kLastLevel, key_of(begin), key_of(end - 1)));
      begin = end;
    }
    return levels_of(entries);
  }
  std::vector<std::string> cuts(const Levels& levels, std::size_t count_max) const {
    std::vector<std::string> found;
    std::string_view end;
    for (const KeySpan& part : flush_parts(memtable_, levels, tree_shape(), count_max)) {
      EXPECT_EQ(part.from, end);
      end = part.to;
      if (!end.empty()) found.emplace_back(end);
    }
    EXPECT_EQ(end, "") << "keys are left over";
    return found;
  }

  const test::SmallTrees trees_{256 << 10};  // So a part has 64 KiB at least.
  Memtable memtable_;
};

TEST_F(FlushCuts, LieAtBordersOfTheBaseAndMakePartsOfAboutEqualSize) {
  std::vector<std::uint64_t> borders;
  for (std::uint64_t border = 10; border <= 400; border += 10) borders.push_back(border);
  const Levels levels = base_of(borders);
  const std::vector<std::string> found = cuts(levels, 4);
  ASSERT_EQ(found.size(), 3u);
  for (std::uint64_t cut = 0; cut < 3; ++cut) {
    // A sample of a few hundred entries is not exact.
    EXPECT_GT(found[cut], key_of((cut + 1) * 100 - 70));
    EXPECT_LT(found[cut], key_of((cut + 1) * 100 + 70));
  }
  EXPECT_EQ(cuts(levels, 2).size(), 1u);
  EXPECT_EQ(cuts(levels, 1).size(), 0u);
  EXPECT_LE(cuts(levels, 100).size() + 1, memtable_.used_bytes() / own_file_bytes(tree_shape()));
}

TEST_F(FlushCuts, LieOnlyBetweenFilesBeneath) {
  EXPECT_THAT(cuts(Levels(), 4), ElementsAre()) << "nothing beneath";
  EXPECT_THAT(cuts(base_of({400}), 4), ElementsAre()) << "one file beneath";
  EXPECT_THAT(cuts(base_of({200, 400}), 4), ElementsAre(key_of(200)));
  EXPECT_THAT(cuts(base_of({5, 400}), 4), ElementsAre()) << "the first part would be tiny";
  EXPECT_THAT(cuts(base_of({395, 400}), 4), ElementsAre()) << "the last part would be tiny";
}

TEST_F(FlushCuts, AreNotMadeInASmallMemtable) {
  Memtable small;
  for (std::uint64_t number = 0; number < 400; ++number) insert(small, {put(key_of(number), "v")}, number + 1);
  EXPECT_EQ(flush_parts(small, base_of({100, 200, 300, 400}), tree_shape(), 4).size(), 1u);
}

TEST_F(FlushCuts, DoNotCountLargeValues) {
  Memtable large;
  for (std::uint64_t number = 0; number < 20; ++number) {
    insert(large, {put(key_of(number), std::string(kExternalValueBytesMin, 'v'))}, number + 1);
  }
  EXPECT_GT(large.used_bytes(), 4 * own_file_bytes(tree_shape()));
  EXPECT_EQ(flush_parts(large, base_of({10, 20}), tree_shape(), 4).size(), 1u);
}

TEST(MemtableSample, IsSpreadOverAllEntries) {
  Memtable memtable;
  EXPECT_TRUE(memtable.spread_entries(10).empty());
  constexpr std::uint64_t kCount = 20'000;
  for (std::uint64_t number = 0; number < kCount; ++number) insert(memtable, {put(key_of(number), "")}, number + 1);
  const std::vector<Entry> sample = memtable.spread_entries(100);
  ASSERT_GE(sample.size(), 100u);
  EXPECT_LE(sample.size(), 1000u);
  std::uint64_t in_first_half = 0;
  for (std::size_t at = 0; at < sample.size(); ++at) {
    if (at > 0) {
      ASSERT_LT(sample[at - 1].sort_key, sample[at].sort_key);
    }
    if (sample[at].sort_key < key_of(kCount / 2)) ++in_first_half;
  }
  EXPECT_GT(in_first_half, sample.size() / 4);
  EXPECT_LT(in_first_half, sample.size() * 3 / 4);
  EXPECT_EQ(memtable.spread_entries(kCount).size(), kCount);
}

// -- Whole flushes ----------------------------------------------------------------------------------------------------

class FlushParts : public HeldRows {
 protected:
  FlushParts() : HeldRows(kValueBytes, 4) {}
  void SetUp() override {
    engine_ = *machine_.open();
    make_base(*engine_, rows_);
    write(100);
    held_.emplace_back(engine_->snapshot(), rows_);
    write(100);
    check(*engine_);
    settle();
  }

  std::uint64_t named_files() const {
    std::uint64_t named = 0;
    for (const LevelStatistics& each : engine_->statistics().levels) named += each.files;
    return named;
  }
  std::uint64_t files_on_disk() const {
    std::uint64_t there = 0;
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) ++there;
    }
    return there;
  }
  /// Checks that the table files on the disk are exactly those in the levels.
  void check_strays() const { ASSERT_EQ(files_on_disk(), named_files()); }

  /// Checks the store that a process leaves which ends now, or the power's failure.
  void check_crashes() {
    std::vector<io::MemoryDisk> left = machine_.files->power_cuts(machine_.random, 3);
    left.push_back(machine_.files->process_death(machine_.random));
    for (io::MemoryDisk& disk : left) {
      Machine other(1, std::move(disk));
      const auto reopened = *other.open();
      EXPECT_EQ(reopened->statistics().levels[0].files, level(0).files);
      check(*reopened);
      EXPECT_EQ(reopened->compact().to_string(), "Ok");
      check(*reopened);
    }
  }

  /// Starts a thread that seals the memtable and waits for its flush.
  void start_flush() {
    callers_.push_back(*machine_.scheduler().start("caller", [this] {
      if (const Status flushed = engine_->flush(); !flushed.ok()) failed_ = flushed;
    }));
    settle();
  }
  /// Seals a small memtable, which is not cut, and a second one, while the flush of an earlier one does not end.
  void make_two_wait() {
    const std::string beyond = name_of(2 * kRowCount);  // Nothing is beneath it.
    held_.clear();                                      // Or its delete is kept for their readers.
    add_fault(0, io::FaultEffect::kNever);
    start_flush();
    machine_.files->await_stuck(1);
    Change small;
    for (std::uint64_t row = 0; row < 5; ++row) put(small, row, kValueBytes, rows_);
    small.put("p", beyond, "hidden by a delete of the second memtable");
    ASSERT_TRUE(small.commit(*engine_).ok());
    start_flush();
    ASSERT_TRUE(Change().remove("p", beyond).commit(*engine_).ok());
    write(100);
    held_.emplace_back(engine_->snapshot(), rows_);
    write(100);
    start_flush();
  }
  /// Ends the earlier flush, so that the two memtables are flushed beside each other, with this fault.
  void flush_two(std::uint64_t number, io::FaultEffect effect, std::uint64_t count) {
    machine_.files->faults().clear();
    add_fault(number, effect, count);
    machine_.files->let_go();
  }

  /// The rule applies to the sync of the n-th new table file, and to `count - 1` later ones.
  void add_fault(std::uint64_t number, io::FaultEffect effect, std::uint64_t count = 1) {
    io::FaultRule rule;
    rule.sync_point = sync_points::kTable.name;
    rule.skip_count = number;
    rule.fail_count = count;
    rule.effect = effect;
    rule.code = Code::kNoSpace;
    machine_.files->faults().add(rule);
  }

  /// Lets all other threads do what they can do now. Afterwards the pool's threads rest.
  void settle() {
    for (int turn = 0; turn < 200; ++turn) machine_.scheduler().yield();
  }

  /// Begins a flush in which one part does not end. Returns when the other parts can do no more.
  void flush_with_a_part_held_up() {
    add_fault(GetParam() % 3, io::FaultEffect::kNever);
    start_flush();
    machine_.files->await_stuck(1);
    settle();
  }
  void join() {
    for (io::Thread& caller : callers_) caller.join();
    callers_.clear();
    machine_.files->faults().clear();
  }
  void end() {
    machine_.files->let_go();
    join();
    EXPECT_EQ(failed_.to_string(), "Ok");
  }

  /// Closes the store while a part is held up, which then ends.
  void close_beside() {
    held_.clear();
    Status closed;
    io::Thread closer = *machine_.scheduler().start("closer", [&] { closed = engine_->close(); });
    settle();
    machine_.files->let_go();
    closer.join();
    join();
    EXPECT_EQ(closed.to_string(), "Ok");
    engine_.reset();
  }

  std::vector<io::Thread> callers_;
  Status failed_;
};

TEST_P(FlushParts, AreOneFlushOfSeveralFiles) {
  const std::uint64_t flushes = engine_->statistics().flushes;
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  EXPECT_EQ(engine_->statistics().flushes, flushes + 1);
  EXPECT_GT(level(0).files, 1u);
  check(*engine_);
  check_strays();
  write(150);
  settle();
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  check(*engine_);

  held_.clear();
  EXPECT_EQ(engine_->close().to_string(), "Ok");
  engine_.reset();
  engine_ = *machine_.open();
  EXPECT_GT(level(0).files, 2u);
  check(*engine_);
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(FlushParts, AreAllPublishedAtOnceOrNotAtAll) {
  flush_with_a_part_held_up();
  EXPECT_EQ(level(0).files, 0u) << "a part was published by itself";
  check(*engine_);
  check_crashes();
  end();
  EXPECT_GT(level(0).files, 1u);
  check(*engine_);
  check_strays();
}

TEST_P(FlushParts, LeaveNoFileIfOneFailsAndAreWrittenAnew) {
  add_fault(GetParam() % 3, io::FaultEffect::kError, io::FaultRule::kFromThenOn);
  EXPECT_EQ(engine_->flush().code(), Code::kNoSpace);
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
  machine_.files->faults().clear();
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  EXPECT_GT(level(0).files, 1u);
  check(*engine_);
  check_strays();
}

TEST_P(FlushParts, BesideADropOfTheirTableLeaveNothing) {
  flush_with_a_part_held_up();
  ASSERT_TRUE(Change().retire(test::kTable).commit(*engine_).ok());
  end();
  held_.clear();
  rows_.clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
  for (std::uint32_t number = 0; number < kLevelCount; ++number) EXPECT_EQ(level(number).files, 0u);
}

TEST_P(FlushParts, BesideWritersSnapshotsAndACheckpointLoseNothing) {
  flush_with_a_part_held_up();
  write(80);
  held_.emplace_back(engine_->snapshot(), rows_);
  ASSERT_TRUE(engine_->checkpoint("/copy").ok());
  const Rows copied = rows_;
  write(80);
  check(*engine_);
  end();
  check(*engine_);
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  check(*engine_);
  const auto copy = Engine::open(machine_.env(), "/copy", Machine::reading());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  compare((*copy)->view(), copied);
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
}

TEST_P(FlushParts, AreGivenUpByAClose) {
  flush_with_a_part_held_up();
  close_beside();
  engine_ = *machine_.open();
  check(*engine_);
  check_strays();
}

TEST_P(FlushParts, OfTwoStoresShareTheThreadsOfOnePool) {
  const auto pool = std::make_shared<SharedPool>(machine_.scheduler());
  held_.clear();
  EXPECT_EQ(engine_->close().to_string(), "Ok");
  engine_.reset();
  EngineOptions options = Machine::writable();
  options.pool = pool;
  engine_ = *machine_.open(options);
  Rows others;
  const auto other = *Engine::open(machine_.env(), "/other", options);
  make_base(*other, others);
  write_half(*other, 0, others);
  write(150);
  settle();
  Status flushed;
  io::Thread caller = *machine_.scheduler().start("caller", [&] { flushed = other->flush(); });
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  caller.join();
  EXPECT_EQ(flushed.to_string(), "Ok");
  EXPECT_GT(level(0).files + other->statistics().levels[0].files, 2u);
  check(*engine_);
  compare(other->view(), others);
}

TEST_P(FlushParts, OfTheNextMemtableAreWrittenAheadAndPublishedInOrder) {
  make_two_wait();
  const std::uint64_t flushes = engine_->statistics().flushes;
  const std::uint64_t files = files_on_disk();
  flush_two(GetParam() % 2, io::FaultEffect::kNever, 1);
  machine_.files->await_stuck(1);
  const auto is_one_written = [&] {
    return engine_->statistics().flushes == flushes + 1 && files_on_disk() <= files + 1;
  };
  for (int i = 0; i < 100 && is_one_written(); ++i) settle();
  settle();
  if (engine_->statistics().flushes == flushes + 1) {
    EXPECT_GT(files_on_disk(), files + 1) << "the second memtable waits for the first";
  } else {
    EXPECT_EQ(engine_->statistics().flushes, flushes + 2) << "the second memtable was published with a part held up";
  }
  check(*engine_);
  check_crashes();
  end();
  EXPECT_EQ(engine_->statistics().flushes, flushes + 3);
  check(*engine_);
  check_strays();
}

TEST_P(FlushParts, WrittenAheadLeaveWithAFlushThatFails) {
  make_two_wait();
  const std::uint64_t count = io::one_in(random_, 2) ? 1 : io::FaultRule::kFromThenOn;
  flush_two(GetParam() % 2, io::FaultEffect::kError, count);
  for (io::Thread& caller : callers_) caller.join();
  // One fault may meet the second memtable alone. It is written again after the first.
  EXPECT_TRUE(failed_.code() == Code::kNoSpace || (count == 1 && failed_.ok())) << failed_.to_string();
  check(*engine_);
  for (int i = 0; i < 100 && files_on_disk() != named_files(); ++i) settle();
  check_strays();
  join();
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  check(*engine_);
  check_strays();
}

TEST_P(FlushParts, WrittenAheadAreGivenUpByAClose) {
  make_two_wait();
  flush_two(GetParam() % 2, io::FaultEffect::kNever, 1);
  machine_.files->await_stuck(1);
  settle();
  close_beside();
  const std::uint64_t files = files_on_disk();
  engine_ = *machine_.open();
  EXPECT_EQ(files, named_files());
  check(*engine_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlushParts, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(6)));

}  // namespace
}  // namespace varve::engine::flush_parts_test
