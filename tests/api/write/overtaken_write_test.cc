// Goal: if a drop of its table overtakes a write, the write reports a missing table, and nothing about an entity.
// Method: the write waits for the lock of its partition, after a write whose read of the disk is blocked. Meanwhile the
// table is dropped, and its rows are removed: all of them by a compaction, or only the newest ones by a flush.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"

namespace varve::test::overtaken_write_test {
namespace {

constexpr int kTurns = 2'000;
constexpr std::size_t kWriteBufferBytes = 2 << 20;

class OvertakenWrite : public testing::TestWithParam<std::uint64_t> {
 protected:
  using Verb = std::function<Status()>;

  OvertakenWrite() : bench_(GetParam(), OneThreadAtATime()) {
    ResourceOptions resources;
    resources.block_cache_bytes = 0;  // so that reading an entity reads the file
    resources.write_buffer_bytes = kWriteBufferBytes;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
    other_ = bench_.table("Other");
    table_ = bench_.table();
    EXPECT_EQ(said(table_->insert(with_value("p", "first", "x"))), kFine);
    EXPECT_EQ(said(table_->insert(with_value("p", "second", "x"))), kFine);
    EXPECT_EQ(said(bench_.store->compact()), kFine);
    EXPECT_EQ(value_in(*table_, "p", "first"), "x");  // The file is open, and the name is known.
  }

  /// Returns the answer of `verb`, which got the lock after the table was dropped and after `meanwhile`.
  Status overtaken(const Verb& verb, const Verb& meanwhile) {
    io::FaultRule never;
    never.kind = io::OperationKind::kRead;
    never.effect = io::FaultEffect::kNever;
    io::MemoryFileSystem& files = *bench_.machine.files;
    files.faults().add(never);
    io::Scheduler& scheduler = bench_.machine.scheduler();
    Status first;
    Status second;
    EntityGroupTransaction whole;  // A write of one entity would not hold the partition alone.
    whole.replace(with_value("p", "first", "y"), ETag::any());
    whole.insert_or_replace(with_value("p", "beside", "y"));
    io::Thread holder = *scheduler.start("holder", [&] { first = table_->execute(whole).status(); });
    files.await_stuck(1);
    io::Thread waiter = *scheduler.start("waiter", [&] { second = verb(); });
    for (int i = 0; i < kTurns; ++i) scheduler.yield();
    EXPECT_EQ(said(bench_.store->drop_table(kAccount, "Orders")), kFine);
    EXPECT_EQ(said(meanwhile()), kFine);
    files.let_go();
    holder.join();
    waiter.join();
    EXPECT_EQ(said(first), kTableNotFound);
    return second;
  }
  Status overtaken(const Verb& verb) {
    return overtaken(verb, [this] { return bench_.store->compact(); });
  }

  /// Writes to another table until a memtable was flushed.
  Status flush() {
    const std::uint64_t before = (*bench_.store->statistics()).flushes;
    for (int i = 0; (*bench_.store->statistics()).flushes == before; ++i) {
      const Status written = other_->insert(with_value("p", std::to_string(i), std::string(4'000, 'x'))).status();
      if (!written.ok()) return written;
    }
    return Status();
  }
  /// Returns the answer of `verb`, whose table was dropped, and whose newest rows a flush removed. Older ones remain.
  Status half_removed(const Verb& verb) {
    return overtaken(verb, [this] { return flush(); });
  }

  StoreBench bench_;
  std::optional<Table> table_;
  std::optional<Table> other_;
};

TEST_P(OvertakenWrite, RemoveFindsNoTable) {
  EXPECT_EQ(said(overtaken([this] { return table_->remove("p", "second", ETag::any()); })), kTableNotFound);
}

TEST_P(OvertakenWrite, ReplaceFindsNoTable) {
  const auto replace = [this] { return table_->replace(with_value("p", "second", "y"), ETag::any()).status(); };
  EXPECT_EQ(said(overtaken(replace)), kTableNotFound);
}

TEST_P(OvertakenWrite, InsertFindsNoTable) {
  const auto insert = [this] { return table_->insert(with_value("p", "second", "y")).status(); };
  EXPECT_EQ(said(overtaken(insert)), kTableNotFound);
}

TEST_P(OvertakenWrite, FindsNoTableThoughOneOfItsNameWasMadeSince) {
  const auto remade = [this] {
    EXPECT_EQ(said(bench_.store->compact()), kFine);
    bench_.machine.clock.advance(std::chrono::minutes(1));
    return bench_.store->create_table(kAccount, "Orders").status();
  };
  const Status second = overtaken([this] { return table_->remove("p", "second", ETag::any()); }, remade);
  EXPECT_EQ(said(second), kTableNotFound);
}

TEST_P(OvertakenWrite, TransactionNamesItsFirstOperation) {
  const auto execute = [this] {
    EntityGroupTransaction transaction;
    transaction.insert_or_replace(with_value("p", "third", "y"));
    transaction.remove("p", "second", ETag::any());
    return table_->execute(transaction).status();
  };
  const Status second = overtaken(execute);
  EXPECT_EQ(said(second), kTableNotFound);
  EXPECT_EQ(second.operation_index(), 0u);
}

TEST_P(OvertakenWrite, TransactionOverPartitionsFindsNoTable) {
  const auto commit = [this] {
    StoreTransaction transaction = *bench_.store->begin_transaction();
    transaction.remove(*table_, "p", "second", ETag::any());
    transaction.insert_or_replace(*table_, with_value("q", "third", "y"));
    return transaction.commit().status();
  };
  EXPECT_EQ(said(overtaken(commit)), kTableNotFound);
}

TEST_P(OvertakenWrite, AsynchronousRemoveFindsNoTable) {
  const auto remove = [this] {
    return await(bench_.machine.scheduler(), AsyncTable(*table_).remove("p", "second", ETag::any()));
  };
  EXPECT_EQ(said(overtaken(remove)), kTableNotFound);
}

TEST_P(OvertakenWrite, InsertDoesNotFindADeletedEntityOfADroppedTable) {
  EXPECT_EQ(said(table_->remove("p", "second", ETag::any())), kFine);
  EXPECT_EQ(said(half_removed([this] { return table_->insert(with_value("p", "second", "y")).status(); })),
            kTableNotFound);
}

TEST_P(OvertakenWrite, ReplaceDoesNotFindAnEarlierETagOfADroppedTable) {
  const ETag newest = *table_->replace(with_value("p", "second", "y"), ETag::any());
  EXPECT_EQ(said(half_removed([&] { return table_->replace(with_value("p", "second", "z"), newest).status(); })),
            kTableNotFound);
}

TEST_P(OvertakenWrite, MergeIsNotTooLargeForAnEarlierEntityOfADroppedTable) {
  Entity large("p", "second");
  for (int i = 0; i < 15; ++i) large.set("L" + std::to_string(i), std::string(30'000, 'x'));
  EXPECT_EQ(said(table_->replace(large, ETag::any())), kFine);
  EXPECT_EQ(said(bench_.store->compact()), kFine);
  EXPECT_EQ(said(table_->replace(with_value("p", "second", "y"), ETag::any())), kFine);
  Entity more("p", "second");
  for (int i = 0; i < 15; ++i) more.set("M" + std::to_string(i), std::string(30'000, 'x'));
  EXPECT_EQ(said(half_removed([&] { return table_->merge(more, ETag::any()).status(); })), kTableNotFound);
}

TEST_P(OvertakenWrite, GroupDoesNotFindADeletedEntityOfADroppedTable) {
  EXPECT_EQ(said(table_->remove("p", "second", ETag::any())), kFine);
  EntityGroupTransaction group;
  group.insert(with_value("p", "second", "y"));
  EXPECT_EQ(said(half_removed([&] { return table_->execute(group).status(); })), kTableNotFound);
}

TEST_P(OvertakenWrite, AsynchronousInsertDoesNotFindADeletedEntityOfADroppedTable) {
  EXPECT_EQ(said(table_->remove("p", "second", ETag::any())), kFine);
  const auto insert = [this] {
    return await(bench_.machine.scheduler(), AsyncTable(*table_).insert(with_value("p", "second", "y"))).status();
  };
  EXPECT_EQ(said(half_removed(insert)), kTableNotFound);
}

TEST_P(OvertakenWrite, OfAnEntityThatWasNeverThereWithoutADropFindsNoEntity) {
  EXPECT_EQ(said(table_->remove("p", "never", ETag::any())), kResourceNotFound);
  EXPECT_EQ(said(await(bench_.machine.scheduler(), AsyncTable(*table_).remove("p", "never", ETag::any()))),
            kResourceNotFound);
}

INSTANTIATE_TEST_SUITE_P(Schedules, OvertakenWrite, testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace varve::test::overtaken_write_test
