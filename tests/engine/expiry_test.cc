// Goal: the rules of ends, one by one: what a commit may hold, which time a reader has, what compaction gives back, and
// what a store says that has ends (E1 to E6).
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/log/root.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::expiry_test {
namespace {

using test::Change;
using test::key_of;
using test::Machine;
using test::value_of;

constexpr CommitVersion kSecond = io::kTicksPerSecond;

class Expiry : public testing::Test {
 protected:
  Expiry() { open(); }

  void open() {
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
    ASSERT_EQ(engine_->allow_ends().to_string(), "Ok");
  }
  CommitVersion in(std::uint64_t seconds) const { return engine_->time() + seconds * kSecond; }
  void wait(std::uint64_t seconds) { machine_.clock.advance(std::chrono::seconds(seconds)); }

  CommitVersion put_until(std::string_view row, std::uint64_t end, std::string_view value = "v") {
    const auto version = Change().put_until("p", row, end, value).commit(*engine_);
    EXPECT_TRUE(version.ok()) << version.status().to_string();
    return version.ok() ? *version : 0;
  }
  std::string at(const HeldVersion& held, std::string_view row) const {
    const ReadView view = engine_->view_at(held);
    const auto found = view.get(key_of("p", row));
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() && *found ? std::string((*found)->value) : "-";
  }
  std::vector<std::string> scanned(const ReadView& view) const {
    std::vector<std::string> values;
    Cursor cursor = view.cursor("", "");
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) values.emplace_back(cursor.value());
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    return values;
  }
  std::uint64_t entries() const {
    std::uint64_t count = engine_->statistics().memtable_entries;
    for (const LevelStatistics& level : engine_->statistics().levels) count += level.entries;
    return count;
  }
  std::uint64_t table_bytes() const {
    std::uint64_t bytes = 0;
    for (const LevelStatistics& level : engine_->statistics().levels) bytes += level.bytes;
    return bytes;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(Expiry, E1_AnEntityIsThereUntilItsEndAndNotAtIt) {
  const CommitVersion end = in(10);
  put_until("a", end);
  machine_.clock.set_wall(end - 1);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "v");
  machine_.clock.set_wall(end);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  EXPECT_TRUE(scanned(engine_->view()).empty());
}

TEST_F(Expiry, E1_AnAgeCountsFromTheVersionOfItsCommit) {
  const CommitVersion version = put_until("a", format::kAgeMark + 5 * kSecond);
  const ReadView view = engine_->view();
  const auto state = view.newest(key_of("p", "a"));
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->end(), version + 5 * kSecond);
  wait(6);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
}

TEST_F(Expiry, E1_AViewJudgesByTheTimeAtWhichItWasMade) {
  put_until("a", in(10));
  const ReadView view = engine_->view();
  wait(5);
  put_until("a", in(100), "w");
  wait(10);
  const auto found = view.get(key_of("p", "a"));
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(*found) << "the entity was there all the time";
  EXPECT_EQ((*found)->value, "v");
  EXPECT_EQ(value_of(*engine_, "p", "a"), "w");
}

TEST_F(Expiry, E1_AViewAndASnapshotKeepTheirTime) {
  put_until("a", in(10));
  put_until("b", in(30));
  const HeldVersion held = engine_->snapshot();
  const ReadView view = engine_->view();
  EXPECT_EQ(scanned(view).size(), 2u);
  wait(20);
  EXPECT_EQ(scanned(view).size(), 2u);
  EXPECT_EQ(at(held, "a"), "v");
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  const HeldVersion later = engine_->snapshot();  // at the same version, and another time
  EXPECT_EQ(later.version(), held.version());
  EXPECT_EQ(at(later, "a"), "-");
  EXPECT_EQ(at(later, "b"), "v");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Change().put("p", "z", "z").commit(*engine_).ok());
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
    wait(20);
    EXPECT_EQ(at(held, "a"), "v");
    EXPECT_EQ(at(held, "b"), "v");
    EXPECT_EQ(at(later, "b"), "v");
  }
}

TEST_F(Expiry, E1_WhatWasSeenAsEndedDoesNotComeBackWithTheClock) {
  put_until("a", in(10));
  wait(11);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  machine_.clock.set_wall(machine_.clock.wall() - 100 * kSecond);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  EXPECT_EQ(at(engine_->snapshot(), "a"), "-");
  open();  // After a clean close, too.
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
}

TEST_F(Expiry, E1_AClockFarAheadIsNotFollowed) {
  put_until("a", in(7000));
  machine_.clock.set_wall(machine_.clock.wall() + 8000 * kSecond);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "v");
  open();
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
}

TEST_F(Expiry, E1_AReadOnlyStoreJudgesEndsByItsOwnClock) {
  put_until("a", in(10));
  put_until("b", in(1000));
  engine_.reset();
  auto reader = machine_.open(Machine::reading());
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE((*reader)->has_ends());
  EXPECT_EQ(value_of(**reader, "p", "a"), "v");
  wait(20);
  EXPECT_EQ(value_of(**reader, "p", "a"), "-");
  EXPECT_EQ(value_of(**reader, "p", "b"), "v");
  machine_.clock.set_wall(machine_.clock.wall() - 100 * kSecond);
  EXPECT_EQ(value_of(**reader, "p", "a"), "-");
  reader->reset();
}

TEST_F(Expiry, E2_AWriterSeesAnEndedEntityAsAbsent) {
  put_until("a", in(10));
  wait(11);
  const ReadView view = engine_->view();
  const auto state = view.newest(key_of("p", "a"), EntryPart::kVersion);
  ASSERT_TRUE(state.ok());
  EXPECT_FALSE(state->value.has_value());
  ASSERT_TRUE(Change().put("p", "a", "again").commit(*engine_).ok());
  EXPECT_EQ(value_of(*engine_, "p", "a"), "again");
}

TEST_F(Expiry, ACommitThatMustComeBeforeAnEndIsRefusedAtIt) {
  const CommitVersion end = in(10);
  ASSERT_TRUE(Change().put("p", "a", "v").before(end).commit(*engine_).ok());
  machine_.clock.set_wall(end);
  EXPECT_EQ(Change().put("p", "a", "w").before(end).commit(*engine_).status().code(), Code::kConflict);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "v");
}

TEST_F(Expiry, E3_FilesOfEndedEntitiesAreUnlinkedUnread) {
  for (int i = 0; i < 300; ++i) put_until(std::to_string(1000 + i), in(1000), std::string(3000, 'x'));
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  ASSERT_GT(table_bytes(), 0u);
  const Statistics before = engine_->statistics();
  wait(2000);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  const Statistics after = engine_->statistics();
  EXPECT_EQ(table_bytes(), 0u);
  EXPECT_GT(after.unlinked_files, before.unlinked_files);
  EXPECT_EQ(after.compaction_read_bytes, before.compaction_read_bytes);
  EXPECT_EQ(after.compaction_written_bytes, before.compaction_written_bytes);
}

TEST_F(Expiry, E3_ACompactionGivesTheSpaceBackBesideAnEntityThatEndsMuchLater) {
  for (int i = 0; i < 20; ++i) put_until(std::to_string(100 + i), in(10));
  put_until("z", in(1'000'000));
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(entries(), 21u);
  wait(1'000);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(value_of(*engine_, "p", "z"), "v");
}

TEST_F(Expiry, E3_ASnapshotKeepsItsEntitiesOverTheirEnd) {
  put_until("a", in(10));
  HeldVersion held = engine_->snapshot();
  wait(20);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(at(held, "a"), "v");
  held.release();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(entries(), 0u);
}

/// An older version without an end lies beneath, in a file of its own.
TEST_F(Expiry, E3_AnOlderVersionDoesNotComeBack) {
  ASSERT_TRUE(Change().put("p", "a", "old").put("p", "b", "other").commit(*engine_).ok());
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  put_until("a", in(10), "new");
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  wait(20);
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(value_of(*engine_, "p", "a"), "-");
  EXPECT_EQ(value_of(*engine_, "p", "b"), "other");
  EXPECT_EQ(scanned(engine_->view()), std::vector<std::string>{"other"});
}

TEST_F(Expiry, E3_AFlushGivesAnEndedEntityNoPlace) {
  put_until("a", in(10));
  ASSERT_TRUE(Change().put("p", "b", "v").commit(*engine_).ok());
  wait(20);
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Expiry, E4_ALargeValueEndsWithItsEntity) {
  const std::string large(100'000, 'x');
  for (int i = 0; i < 40; ++i) put_until(std::to_string(100 + i), in(1000), large);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_GT(engine_->statistics().value_files, 0u);
  EXPECT_EQ(value_of(*engine_, "p", "100"), large);
  EXPECT_EQ(scanned(engine_->view()), std::vector<std::string>(40, large));
  open();
  EXPECT_EQ(value_of(*engine_, "p", "139"), large);
  wait(2000);
  EXPECT_EQ(value_of(*engine_, "p", "139"), "-");
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(engine_->statistics().value_files, 0u);
}

/// The walk of a later view finds one stretch between the live keys at both ends. A view that is older in time must not believe
/// it.
TEST_F(Expiry, E6_ADeadStretchIsNotBelievedByViewsBeforeItsTime) {
  for (int i = 0; i < 200; ++i) put_until(std::to_string(1000 + i), in(100));
  for (int i = 0; i < 200; ++i) {  // Deletes begin the search for dead stretches, on both sides of what ends.
    for (const std::string& row : {"0" + std::to_string(100 + i), std::to_string(2000 + i)}) {
      ASSERT_TRUE(Change().put("p", row, "x").commit(*engine_).ok());
      ASSERT_TRUE(Change().remove("p", row).commit(*engine_).ok());
    }
  }
  // A walk reports a stretch only from a key to a key.
  ASSERT_TRUE(Change().put("p", "00", "x").put("p", "3000", "x").commit(*engine_).ok());
  const HeldVersion held = engine_->snapshot();
  const ReadView view = engine_->view();
  EXPECT_EQ(scanned(view).size(), 202u);
  wait(200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scanned(engine_->view()).size(), 2u);
  EXPECT_EQ(scanned(view).size(), 202u);
  EXPECT_EQ(scanned(engine_->view_at(held)).size(), 202u);
  const ReadView older = engine_->view_at(held);
  Cursor back = older.cursor("", "");
  std::size_t seen = 0;
  for (back.seek_to_last(); back.valid(); back.previous()) ++seen;
  EXPECT_EQ(seen, 202u);
}

TEST_F(Expiry, ACommitWithEndsNeedsTheFeature) {
  Machine machine;
  auto engine = *machine.open();
  EXPECT_FALSE(engine->has_ends());
  const CommitVersion end = engine->time() + kSecond;
  EXPECT_EQ(Change().put_until("p", "a", end, "v").commit(*engine).status().code(), Code::kUnsupported);
  EXPECT_EQ(value_of(*engine, "p", "a"), "-");
  ASSERT_EQ(engine->allow_ends().to_string(), "Ok");
  ASSERT_EQ(engine->allow_ends().to_string(), "Ok");
  EXPECT_TRUE(Change().put_until("p", "a", end, "v").commit(*engine).ok());
}

TEST_F(Expiry, TheFeatureStaysOverACleanCloseAndACrash) {
  put_until("a", in(1000));
  const io::MemoryDisk crashed = machine_.files->snapshot();
  open();
  EXPECT_TRUE(engine_->has_ends());
  EXPECT_EQ(value_of(*engine_, "p", "a"), "v");
  Machine other(2, crashed);
  auto engine = *other.open();
  EXPECT_TRUE(engine->has_ends());
  EXPECT_EQ(value_of(*engine, "p", "a"), "v");
}

TEST_F(Expiry, AReadOnlyStoreAllowsNoEnds) {
  engine_.reset();
  Machine machine;
  ASSERT_TRUE(machine.open().ok());
  auto reader = machine.open(Machine::reading());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->allow_ends().code(), Code::kReadOnly);
}

TEST_F(Expiry, ACheckpointHasTheEndsAndTheFeature) {
  put_until("a", in(1000));
  put_until("b", in(5));
  ASSERT_TRUE(engine_->checkpoint("/copy").ok());
  wait(10);
  auto copy = Engine::open(machine_.env(), "/copy", Machine::writable());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  EXPECT_TRUE((*copy)->has_ends());
  EXPECT_EQ(value_of(**copy, "p", "a"), "v");
  EXPECT_EQ(value_of(**copy, "p", "b"), "-");
}

TEST_F(Expiry, E1_ARangeIsComparedWithWhatAnEarlierReaderSaw) {
  put_until("a", in(10));
  put_until("b", in(30));
  put_until("c", in(20));
  ASSERT_TRUE(Change().put("p", "d", "v").commit(*engine_).ok());
  wait(15);
  const HeldVersion held = engine_->snapshot();
  const ReadView then = engine_->view_at(held);
  const auto compare = [&](std::uint64_t entities_max = 10) {
    const auto compared =
        engine_->view().compare_range(key_of("p", "a"), key_of("p", "e"), then.moment(), entities_max);
    EXPECT_TRUE(compared.ok()) << compared.status().to_string();
    return compared.ok() ? *compared : RangeState();
  };
  RangeState same = compare();
  EXPECT_EQ(same.changed_key, "") << "the one that had ended has not changed";
  EXPECT_EQ(same.entities, 3u);
  EXPECT_GT(same.first_end, engine_->time());
  EXPECT_LT(same.first_end, in(6)) << "the end of c, not that of b";
  EXPECT_EQ(compare(1).entities, 2u) << "the walk ends there";
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_EQ(compare().entities, 3u);
  wait(6);
  const RangeState ended = compare();
  EXPECT_EQ(ended.changed_key, key_of("p", "c"));
  EXPECT_TRUE(ended.has_ended);
  const auto removed = Change().remove("p", "b").commit(*engine_);
  ASSERT_TRUE(removed.ok());
  const RangeState written = compare();
  EXPECT_EQ(written.changed_key, key_of("p", "b"));
  EXPECT_EQ(written.changed_at, *removed);
  EXPECT_FALSE(written.has_ended);
}

}  // namespace
}  // namespace varve::engine::expiry_test
