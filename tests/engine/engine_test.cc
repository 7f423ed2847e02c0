#include "engine/engine.h"

#include <gtest/gtest.h>

#include "io/env.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::engine_test {
namespace {

using test::Change;
using test::Machine;
using test::value_of;

TEST(Engine, ReadsBackWhatWasCommittedAndVersionsRise) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  const auto first = Change().put("p", "a", "1").put("p", "b", "2").commit(**engine);
  const HeldVersion snapshot = (*engine)->snapshot();
  const auto second = Change().put("p", "a", "3").commit(**engine);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_GT(*second, *first);
  EXPECT_EQ(value_of(**engine, "p", "a"), "3");
  EXPECT_EQ(value_of(**engine, "p", "b"), "2");
  EXPECT_EQ(value_of(**engine, "p", "c"), "-");
  const auto old = (*engine)->view_at(snapshot).get(test::key_of("p", "a"));
  ASSERT_TRUE(old.ok());
  ASSERT_TRUE(old->has_value());
  EXPECT_EQ((*old)->value, "1");
}

TEST(Engine, OpensNothingWhereThereIsNoStore) {
  Machine machine;
  EngineOptions options;
  EXPECT_EQ(machine.open(options).code(), Code::kNotFound);
  EXPECT_EQ(machine.open(Machine::reading()).code(), Code::kNotFound);
}

TEST(Engine, KeepsEverythingOverACleanClose) {
  Machine machine;
  format::CommitVersion last = 0;
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int i = 0; i < 100; ++i) {
      const auto version = Change().put("p", std::to_string(i), std::to_string(i * i)).commit(**engine);
      ASSERT_TRUE(version.ok());
      last = *version;
    }
    ASSERT_TRUE(Change().remove("p", "7").tag("position 100").commit(**engine).ok());
    const Status closed = (*engine)->close();
    ASSERT_TRUE(closed.ok()) << closed.to_string();
    EXPECT_EQ(Change().put("p", "x", "y").commit(**engine).code(), Code::kClosed);
  }
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_TRUE((*engine)->statistics().recovery.clean);
  EXPECT_EQ((*engine)->statistics().recovery.commits, 101u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(value_of(**engine, "p", std::to_string(i)), i == 7 ? "-" : std::to_string(i * i));
  }
  ASSERT_TRUE((*engine)->last_tag().has_value());
  EXPECT_EQ((*engine)->last_tag()->bytes, "position 100");
  EXPECT_GT((*engine)->last_tag()->version, last);
}

TEST(Engine, KeepsBufferedCommitsWhenTheProcessDies) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), std::string(200, 'x')).buffered().commit(**engine).ok());
  }
  Machine after(2, machine.files->process_death(machine.random));
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_FALSE((*recovered)->statistics().recovery.clean);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(value_of(**recovered, "p", std::to_string(i)).size(), 200u) << i;
}

TEST(Engine, KeepsBufferedCommitsThroughAPowerCutOnceSynced) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Change().put("p", std::to_string(i), "v").buffered().commit(**engine).ok());
  }
  ASSERT_TRUE((*engine)->sync().ok());
  Machine after(2, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  auto recovered = after.open();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(value_of(**recovered, "p", std::to_string(i)), "v") << i;
}

TEST(Engine, GoesThroughManySegments) {
  Machine machine;
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    const std::string value(100'000, 'v');
    for (int i = 0; i < 300; ++i) {
      const auto committed = Change().put("p", std::to_string(i), value).commit(**engine);
      ASSERT_TRUE(committed.ok()) << i << " " << committed.status().to_string();
    }
    EXPECT_GE((*engine)->statistics().log_segments, 4u);
  }
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < 300; ++i) EXPECT_EQ(value_of(**engine, "p", std::to_string(i)).size(), 100'000u) << i;
}

TEST(Engine, ABatchLargerThanASegmentGetsASegmentOfItsOwn) {
  Machine machine;
  const std::string value(5'000'000, 'v');
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "small", "s").commit(**engine).ok());
    const auto committed = Change().put("p", "large", value).commit(**engine);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    ASSERT_TRUE(Change().put("p", "buffered", value).buffered().commit(**engine).ok());
  }
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  EXPECT_EQ(value_of(**engine, "p", "large"), value);
  EXPECT_EQ(value_of(**engine, "p", "buffered"), value);
  EXPECT_EQ(value_of(**engine, "p", "small"), "s");
}

TEST(Engine, AFailedLogWriteLeavesItsCommitUnknownAndStopsTheStore) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
  io::FaultRule rule;
  rule.kind = io::OperationKind::kLogWrite;
  rule.sync_point = "log group commit";  // excludes the header of a segment that is prepared meanwhile
  machine.files->faults().add(rule);
  EXPECT_EQ(Change().put("p", "a", "2").commit(**engine).code(), Code::kUnknown);
  EXPECT_EQ(Change().put("p", "b", "3").commit(**engine).code(), Code::kPoisoned);
  EXPECT_EQ((*engine)->sync().code(), Code::kPoisoned);
  EXPECT_EQ(value_of(**engine, "p", "a"), "1");
  EXPECT_EQ((*engine)->statistics().health, Health::kPoisoned);
  EXPECT_EQ((*engine)->close().code(), Code::kPoisoned);
  engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  const std::string value = value_of(**engine, "p", "a");
  EXPECT_TRUE(value == "1" || value == "2") << value;
  EXPECT_TRUE(Change().put("p", "b", "3").commit(**engine).ok());
}

TEST(Engine, RefusesACommitWhoseTableWasRetiredBeforeIt) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
  HeldVersion snapshot = (*engine)->snapshot();  // Keeps its row, even if the space of dropped tables is freed soon.
  const auto dropped = Change().retire(test::kTable).commit(**engine);
  ASSERT_TRUE(dropped.ok());
  const auto late = Change().put("p", "a", "2").commit(**engine);
  EXPECT_EQ(late.code(), Code::kNotFound);
  EXPECT_EQ(late.status().service_error(), "TableNotFound");
  EXPECT_EQ((*engine)->statistics().retired_ids, 1u);
  Machine after(2, machine.files->process_death(machine.random));
  snapshot.release();
  engine = after.open();
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ(Change().put("p", "a", "2").commit(**engine).code(), Code::kNotFound);
  ASSERT_TRUE((*engine)->close().ok());
  engine->reset();
}

TEST(Engine, GivesTheMemoryOfARetiredTableBackAtTheNextOpen) {
  Machine machine;
  const format::TableId kept = format::make_table_id(7, 3);
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(Change().put("p", std::to_string(i), std::string(50'000, 'v')).commit(**engine).ok());
    }
    ASSERT_TRUE(Change(kept).put("p", "kept", "k").remove("p", "gone").commit(**engine).ok());
    ASSERT_TRUE(Change().retire(test::kTable).commit(**engine).ok());
    EXPECT_GT((*engine)->statistics().memtable_bytes, 1'000'000u);
  }
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  EXPECT_LT((*engine)->statistics().memtable_bytes, 10'000u);
  const auto found = (*engine)->view().get(test::key_of("p", "kept", kept));
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->value, "k");
}

TEST(Engine, AFullDiskRefusesCommitsChangesNothingAndEndsByItself) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  const std::string value(200'000, 'v');
  ASSERT_TRUE(Change().put("p", "first", value).commit(**engine).ok());
  machine.files->set_capacity_bytes(machine.files->used_bytes());
  Status refused;
  int accepted = 0;
  while (refused.ok() && accepted < 1000) {
    refused = Change().put("p", "n" + std::to_string(accepted), value).commit(**engine).status();
    if (refused.ok()) ++accepted;
  }
  EXPECT_EQ(refused.code(), Code::kNoSpace) << refused.to_string();
  EXPECT_EQ((*engine)->statistics().health, Health::kWritePaused);
  EXPECT_EQ(value_of(**engine, "p", "n" + std::to_string(accepted)), "-");
  EXPECT_EQ(value_of(**engine, "p", "first"), value);

  const auto dropped = Change(format::make_table_id(9, 9)).retire(format::make_table_id(9, 9)).commit(**engine);
  EXPECT_TRUE(dropped.ok()) << dropped.status().to_string();

  machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  const auto resumed = Change().put("p", "after", value).commit(**engine);
  EXPECT_TRUE(resumed.ok()) << resumed.status().to_string();
  EXPECT_EQ((*engine)->statistics().health, Health::kHealthy);
  ASSERT_TRUE((*engine)->close().ok());
  engine = machine.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < accepted; ++i) EXPECT_EQ(value_of(**engine, "p", "n" + std::to_string(i)), value);
  EXPECT_EQ(value_of(**engine, "p", "after"), value);
}

TEST(Engine, WhatIsMoreThanTheWriteBufferHoldsGoesToTables) {
  Machine machine;
  EngineOptions options = Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  auto engine = machine.open(options);
  ASSERT_TRUE(engine.ok());
  const std::string value(100'000, 'v');
  for (int i = 0; i < 100; ++i) {
    const auto committed = Change().put("p", std::to_string(i), value + std::to_string(i)).commit(**engine);
    ASSERT_TRUE(committed.ok()) << i << ": " << committed.status().to_string();
    EXPECT_LE(options.write_budget->used_bytes(), options.write_budget->bytes_max());
  }
  EXPECT_GT((*engine)->statistics().flushes, 0u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(value_of(**engine, "p", std::to_string(i)), value + std::to_string(i));
  ASSERT_TRUE((*engine)->close().ok());
  engine = machine.open(options);
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(value_of(**engine, "p", std::to_string(i)), value + std::to_string(i));
}

TEST(Engine, ACommitLargerThanTheWriteBufferIsRefusedWithItsLimit) {
  Machine machine;
  EngineOptions options = Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  auto engine = machine.open(options);
  ASSERT_TRUE(engine.ok());
  const Status refused = Change().put("p", "r", std::string(2 << 20, 'v')).commit(**engine).status();
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  EXPECT_NE(refused.message().find("1048576"), std::string_view::npos) << refused.to_string();
  EXPECT_TRUE(Change().put("p", "small", "v").commit(**engine).ok());
  EXPECT_EQ(value_of(**engine, "p", "r"), "-");
}

// A full disk fills the write buffer, because nothing can be flushed. Only drops help.
TEST(Engine, ADropHasRoomInAWriteBufferThatNothingElseFits) {
  Machine machine;
  EngineOptions options = Machine::writable();
  options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  auto engine = machine.open(options);
  ASSERT_TRUE(engine.ok());
  io::FaultRule no_tables;
  no_tables.name_suffix = ".sst";
  no_tables.mutating_only = true;
  no_tables.fail_count = io::FaultRule::kFromThenOn;
  no_tables.code = Code::kNoSpace;
  machine.files->faults().add(no_tables);
  for (const std::size_t bytes : {100'000u, 10'000u, 1'000u, 100u, 1u}) {
    Status put;
    for (int i = 0; put.ok(); ++i) {
      ASSERT_LT(i, 50'000);
      put = Change()
                .put("p" + std::to_string(bytes), std::to_string(i), std::string(bytes, 'v'))
                .commit(**engine)
                .status();
    }
    ASSERT_EQ(put.code(), Code::kNoSpace);
    EXPECT_NE(put.message().find(".sst"), std::string_view::npos) << "the cause: " << put.to_string();
    EXPECT_EQ((*engine)->statistics().health, Health::kWritePaused);
  }
  for (std::uint32_t table = 2; table < 12; ++table) {
    Change drop;
    drop.put("catalog", std::to_string(table), "").retire(format::make_table_id(7, table));
    const Status dropped = drop.commit(**engine).status();
    EXPECT_TRUE(dropped.ok()) << dropped.to_string();
  }
  EXPECT_LE(options.write_budget->used_bytes(), options.write_budget->bytes_max());
  EXPECT_EQ(Change().put("p", "more", "v").commit(**engine).code(), Code::kNoSpace);
}

TEST(Engine, StoresThatShareAWriteBufferShareItsBound) {
  const auto budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  EngineOptions options = Machine::writable();
  options.write_budget = budget;
  Machine one;
  Machine two;
  const std::string value(100'000, 'v');
  {
    auto first = one.open(options);
    auto second = two.open(options);
    ASSERT_TRUE(first.ok() && second.ok());
    for (int i = 0; i < 40; ++i) {
      auto& engine = i % 2 == 0 ? first : second;
      const auto committed = Change().put("p", std::to_string(i), value).commit(**engine);
      ASSERT_TRUE(committed.ok()) << i << ": " << committed.status().to_string();
      EXPECT_LE(budget->used_bytes(), budget->bytes_max());
    }
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(value_of(i % 2 == 0 ? **first : **second, "p", std::to_string(i)), value);
    }
  }
  EXPECT_EQ(budget->used_bytes(), 0u);
}

TEST(Engine, ASecondOpenIsRefusedWhileTheFirstIsOpen) {
  Machine machine;
  auto first = machine.open();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(machine.open().code(), Code::kLocked);
  EXPECT_EQ(machine.open(Machine::reading()).code(), Code::kLocked);
  ASSERT_TRUE((*first)->close().ok());
  EXPECT_TRUE(machine.open().ok());
}

TEST(Engine, ReadOnlyOpensShareAStoreAndWriteNothing) {
  Machine machine;
  {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
  }
  const io::MemoryDisk before = machine.files->snapshot();
  const std::uint64_t operations = machine.files->operation_count();
  {
    auto one = machine.open(Machine::reading());
    auto two = machine.open(Machine::reading());
    ASSERT_TRUE(one.ok()) << one.status().to_string();
    ASSERT_TRUE(two.ok()) << two.status().to_string();
    EXPECT_EQ(value_of(**one, "p", "a"), "1");
    EXPECT_EQ(Change().put("p", "a", "2").commit(**one).code(), Code::kReadOnly);
    EXPECT_EQ(machine.open().code(), Code::kLocked);
  }
  EXPECT_EQ(machine.files->operation_count(), operations);
  EXPECT_TRUE(machine.files->snapshot().same_content(before));
}

TEST(Engine, ReadsACrashedStoreWithoutWriting) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
  Machine after(2, machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  auto reader = after.open(Machine::reading());
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(value_of(**reader, "p", "a"), "1");
  EXPECT_EQ(after.files->operation_count(), 0u);
}

TEST(Engine, VersionsNeverRepeatWhenTheClockIsSetBackBetweenOpens) {
  Machine machine;
  format::CommitVersion last = 0;
  for (int round = 0; round < 5; ++round) {
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok());
    const auto version = Change().put("p", std::to_string(round), "v").commit(**engine);
    ASSERT_TRUE(version.ok());
    EXPECT_GT(*version, last);
    last = *version;
    machine.clock.set_wall(machine.clock.wall() - 3600 * io::kTicksPerSecond);
  }
}

TEST(Engine, AnOptionThatContradictsTheStoredOneIsRefused) {
  Machine machine;
  EngineOptions options = Machine::writable();
  options.default_durability = Durability::kBuffered;
  {
    auto engine = machine.open(options);
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ((*engine)->default_durability(), Durability::kBuffered);
  }
  options.default_durability = Durability::kSync;
  EXPECT_EQ(machine.open(options).code(), Code::kInvalidArgument);
  options.default_durability.reset();
  auto engine = machine.open(options);
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ((*engine)->default_durability(), Durability::kBuffered);
}

TEST(Engine, AnOwnerThatLostItsLockIsFenced) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  ASSERT_TRUE(Change().put("p", "a", "1").commit(**engine).ok());
  machine.files->revoke_locks();
  EXPECT_EQ(Change().put("p", "a", "2").commit(**engine).code(), Code::kFenced);
  EXPECT_EQ(Change().put("p", "a", "2").buffered().commit(**engine).code(), Code::kFenced);
  auto successor = machine.open();
  ASSERT_TRUE(successor.ok()) << successor.status().to_string();
  EXPECT_EQ(value_of(**successor, "p", "a"), "1");
}

TEST(Engine, ManyThreadsOnOnePartitionLoseNothing) {
  Machine machine;
  auto engine = machine.open();
  ASSERT_TRUE(engine.ok());
  constexpr int kThreads = 8;
  constexpr int kCommits = 200;
  std::vector<io::Thread> threads;
  io::Scheduler scheduler;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t) {
    auto thread = scheduler.start("writer", [&, t] {
      for (int i = 0; i < kCommits; ++i) {
        Change change;
        change.put("hot", std::to_string(t) + "-" + std::to_string(i), "v");
        if (i % 3 == 0) change.buffered();
        if (!change.commit(**engine).ok()) ++failures;
      }
    });
    ASSERT_TRUE(thread.ok());
    threads.push_back(*std::move(thread));
  }
  threads.clear();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ((*engine)->statistics().commits, static_cast<std::uint64_t>(kThreads * kCommits));
  ASSERT_TRUE((*engine)->close().ok());
  engine = machine.open();
  ASSERT_TRUE(engine.ok());
  Cursor cursor = (*engine)->view().cursor(format::encode_table(test::kTable), "");
  int rows = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++rows;
  EXPECT_EQ(rows, kThreads * kCommits);
}

}  // namespace
}  // namespace varve::engine::engine_test
