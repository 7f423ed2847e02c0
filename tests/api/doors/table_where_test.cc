// Goal: a change by filter changes exactly the entities that meet the condition when they are changed, in bounded batches.
// It never takes a blank filter for everything, never touches a table that took the name later, and resumes by a token,
// also after a power cut. No write of another writer is lost.
// Method: each case by itself; other writers at seeded schedules; a power cut after each batch.
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"

namespace varve::test::table_where_test {
namespace {

/// Inserts rows 10 to 39 of partitions a, b and c, with N of 0 to 29.
void fill(Table& table) {
  for (const char* partition : {"a", "b", "c"}) {
    EntityGroupTransaction group;
    for (int n = 0; n < 30; ++n) {
      group.insert(Entity(partition, std::to_string(10 + n)).set("N", n).set("V", "old"));
    }
    ASSERT_EQ(said(table.execute(group)), kFine);
  }
}

class TableWhere : public ::testing::Test {
 protected:
  void fill() { table_where_test::fill(table_); }
  std::uint64_t count(const std::string& filter = "") const {
    Scan scan;
    scan.filter = filter;
    const Result<Count> counted = table_.count(scan);
    EXPECT_EQ(said(counted), kFine);
    return counted.ok() ? counted->entities : 0;
  }
  static WhereProgress must(const Result<WhereProgress>& done) {
    EXPECT_EQ(said(done), kFine) << done.status().to_string();
    return done.ok() ? *done : WhereProgress();
  }

  StoreBench bench_;
  Table table_ = bench_.table();
};

// -- Changes ----------------------------------------------------------------------------------------------------------

TEST_F(TableWhere, DeletesTheEntitiesThatMeetTheConditionInTheRange) {
  fill();
  WhereProgress done = must(table_.delete_where({.filter = "N ge 20"}));
  EXPECT_EQ(done.matched, 30u);
  EXPECT_EQ(done.changed, 30u);
  EXPECT_EQ(done.left, 0u);
  EXPECT_FALSE(done.continuation.has_value());
  EXPECT_EQ(count(), 60u);
  EXPECT_EQ(count("N ge 20"), 0u);
  EXPECT_EQ(must(table_.delete_where({.range = ScanRange::rows("b", "15", "20"), .filter = "V eq 'old'"})).changed, 5u);
  EXPECT_EQ(must(table_.delete_where({.range = ScanRange::partition("c"), .all = true})).changed, 20u);
  EXPECT_EQ(count("PartitionKey eq 'a'"), 20u);
  EXPECT_EQ(count("PartitionKey eq 'b'"), 15u);
  EXPECT_EQ(count("PartitionKey eq 'c'"), 0u);
  EXPECT_EQ(must(table_.delete_where({.filter = "N ge 20"})).matched, 0u);
}

TEST_F(TableWhere, SetsAndRemovesProperties) {
  fill();
  PropertyChanges changes;
  changes.set = {{"V", Value(7)}, {"Added", Value("x")}};
  EXPECT_EQ(must(table_.update_where({.filter = "N eq 3"}, changes)).changed, 3u);
  changes.remove = {"N", "Unknown"};
  EXPECT_EQ(must(table_.update_where({.filter = "N eq 4"}, changes)).changed, 3u);
  for (const char* partition : {"a", "b", "c"}) {
    const std::optional<Entity> merged = read(table_, partition, "13");
    const std::optional<Entity> replaced = read(table_, partition, "14");
    ASSERT_TRUE(merged && replaced);
    EXPECT_EQ(merged->properties().size(), 3u);
    EXPECT_EQ(*merged->find("V"), Value(7));
    EXPECT_EQ(*merged->find("N"), Value(3));
    EXPECT_EQ(replaced->properties().size(), 2u);
    EXPECT_EQ(*replaced->find("V"), Value(7));
    EXPECT_EQ(*replaced->find("Added"), Value("x"));
  }
  EXPECT_EQ(count("V eq 'old'"), 84u);
}

TEST_F(TableWhere, RemovingAPropertyWritesOnlyEntitiesThatHaveIt) {
  const Result<ETag> without = table_.insert(with_value("p", "a", "x"));
  ASSERT_EQ(said(without), kFine);
  ASSERT_EQ(said(table_.insert(Entity("p", "b").set("N", 1))), kFine);
  const WhereProgress done = must(table_.update_where({.all = true}, {.set = {}, .remove = {"N"}}));
  EXPECT_EQ(done.matched, 2u);
  EXPECT_EQ(done.changed, 1u);
  EXPECT_EQ(read(table_, "p", "a")->etag(), *without);
  EXPECT_TRUE(read(table_, "p", "b")->properties().empty());
}

TEST_F(TableWhere, SplitsBatchesThatAreTooLargeForOneTransaction) {
  for (int i = 0; i < 12; ++i) {
    Entity entity("p", std::to_string(10 + i));
    for (int part = 0; part < 10; ++part) entity.set("B" + std::to_string(part), Binary{std::string(60'000, 'x')});
    ASSERT_EQ(said(table_.insert(entity.set("N", i))), kFine);
  }
  EXPECT_EQ(must(table_.update_where({.all = true}, {.set = {{"V", Value(1)}}, .remove = {"N"}})).changed, 12u);
  EXPECT_EQ(count("V eq 1"), 12u);
}

TEST_F(TableWhere, ChangesNothingInADryRun) {
  fill();
  WhereOptions options;
  options.dry_run = true;
  std::uint64_t calls = 0;
  options.progress = [&calls](const WhereProgress&) { ++calls; };
  WhereProgress done = must(table_.delete_where({.filter = "N ge 20"}, options));
  EXPECT_EQ(done.matched, 30u);
  EXPECT_EQ(done.changed, 0u);
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(must(table_.update_where({.all = true}, {.set = {{"V", Value(1)}}}, options)).matched, 90u);
  EXPECT_EQ(count("V eq 'old'"), 90u);

  StoreOptions reading = bench_.options();
  reading.read_only = true;
  reading.create_if_absent = false;
  bench_.open(reading);
  table_ = *bench_.store->open_table(kAccount, "Orders");
  EXPECT_EQ(must(table_.delete_where({.filter = "N ge 20"}, options)).matched, 30u);
  EXPECT_EQ(table_.delete_where({.filter = "N ge 20"}).code(), Code::kReadOnly);
}

// -- Refusals ---------------------------------------------------------------------------------------------------------

TEST_F(TableWhere, RefusesABlankFilterThatDoesNotSayAll) {
  fill();
  EXPECT_EQ(said(table_.delete_where({})), kInvalidInput);
  EXPECT_EQ(said(table_.delete_where({.filter = " \t"})), kInvalidInput);
  EXPECT_EQ(said(table_.delete_where({.range = ScanRange::partition("a")})), kInvalidInput);
  EXPECT_EQ(said(table_.update_where({}, {.set = {{"V", Value(1)}}})), kInvalidInput);
  EXPECT_EQ(said(table_.delete_where({.filter = "N eq 1", .all = true})), kInvalidInput);
  EXPECT_EQ(said(table_.delete_where({.filter = "N eq"})), kInvalidInput);
  EXPECT_EQ(count("V eq 'old'"), 90u);
}

TEST_F(TableWhere, RefusesImpossibleChanges) {
  fill();
  const Where all{.all = true};
  EXPECT_EQ(said(table_.update_where(all, {})), kInvalidInput);
  EXPECT_EQ(said(table_.update_where(all, {.set = {{"N", Value(1)}}, .remove = {"N"}})), kInvalidInput);
  EXPECT_EQ(said(table_.update_where(all, {.set = {}, .remove = {"RowKey"}})), kInvalidInput);
  EXPECT_EQ(said(table_.update_where(all, {.set = {{"no name", Value(1)}}})), kPropertyNameInvalid);
  const Status key = table_.update_where(all, {.set = {{"RowKey", Value("x")}}}).status();
  EXPECT_EQ(key.service_error(), "DuplicateKeyPropertySpecified");
  EXPECT_NE(key.message().find("another entity"), std::string_view::npos) << key.message();
  EXPECT_EQ(said(table_.update_where(all, {.set = {{"N", Value(1)}, {"N", Value(2)}}})), kDuplicateProperties);
  for (const std::uint32_t size : {0u, 101u}) {
    EXPECT_EQ(said(table_.delete_where(all, {.batch_entities_max = size})), kInvalidInput);
  }
  for (const char* token : {"x", "0123456789abcdef", "0123456789abcdef.", "0123456789ABCDEF.1!0!"}) {
    EXPECT_EQ(said(table_.delete_where(all, {.continuation = token})), kInvalidInput) << token;
  }
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(table_.delete_where(all, {.stop = source.get_token()}).code(), Code::kCancelled);
  EXPECT_EQ(count("V eq 'old'"), 90u);
}

TEST_F(TableWhere, StaysInsideARestrictedHandle) {
  fill();
  Access access;
  access.interval = {KeyBound{"b", "20"}, KeyBound{"b", "29"}};
  Result<Table> fenced = table_.restricted_to(access);
  ASSERT_EQ(said(fenced), kFine);
  EXPECT_EQ(must(fenced->delete_where({.all = true})).changed, 10u);
  access = Access();
  access.permissions = Permissions{Permission::kQuery};
  Result<Table> reading = table_.restricted_to(access);
  ASSERT_EQ(said(reading), kFine);
  EXPECT_EQ(said(reading->delete_where({.all = true})), kPermissionMismatch);
  EXPECT_EQ(count(), 80u);
}

// -- Batches and tokens -----------------------------------------------------------------------------------------------

TEST_F(TableWhere, GoesOnWithTheTokenAfterAStop) {
  fill();
  std::set<std::string> tokens;
  WhereProgress sum;
  std::optional<std::string> continuation;
  for (int calls = 0; calls < 50; ++calls) {
    std::stop_source source;
    WhereOptions options;
    options.batch_entities_max = 7;
    options.stop = source.get_token();
    options.progress = [&source](const WhereProgress&) { source.request_stop(); };
    if (continuation) options.continuation = *continuation;
    const WhereProgress done = must(table_.delete_where({.filter = "N lt 20"}, options));
    EXPECT_LE(done.matched, 7u);
    sum.matched += done.matched;
    sum.changed += done.changed;
    continuation = done.continuation;
    if (!continuation) break;
    EXPECT_TRUE(tokens.insert(*continuation).second) << "the change does not advance";
  }
  EXPECT_FALSE(continuation.has_value());
  EXPECT_GE(tokens.size(), 60u / 7);
  EXPECT_EQ(sum.matched, 60u);
  EXPECT_EQ(sum.changed, 60u);
  EXPECT_EQ(count(), 30u);
}

TEST_F(TableWhere, RefusesTheTokenOfADroppedTable) {
  fill();
  std::optional<std::string> token;
  std::stop_source source;
  WhereOptions options;
  options.batch_entities_max = 5;
  options.stop = source.get_token();
  options.progress = [&source](const WhereProgress&) { source.request_stop(); };
  token = must(table_.delete_where({.all = true}, options)).continuation;
  ASSERT_TRUE(token.has_value());
  ASSERT_EQ(said(bench_.store->drop_table(kAccount, "Orders")), kFine);
  table_ = bench_.table();
  fill();
  EXPECT_EQ(said(table_.delete_where({.all = true}, {.continuation = *token})), kInvalidInput);
  EXPECT_EQ(count(), 90u);
}

TEST_F(TableWhere, NeverTouchesATableThatTakesTheNameMeanwhile) {
  fill();
  bool is_first = true;
  WhereOptions options;
  options.batch_entities_max = 5;
  options.progress = [&](const WhereProgress&) {
    if (!std::exchange(is_first, false)) return;
    EXPECT_EQ(said(bench_.store->drop_table(kAccount, "Orders")), kFine);
    (void)bench_.table();
    fill();
  };
  EXPECT_EQ(said(table_.delete_where({.all = true}, options)), kTableNotFound);
  EXPECT_EQ(count(), 90u);
  EXPECT_FALSE(is_first);
}

TEST(TableWhereCrash, ResumesAfterEachPowerCutWithTheLastToken) {
  io::MemoryDisk disk;
  std::string token;
  std::uint64_t changed = 0;
  bool is_done = false;
  for (std::uint64_t cuts = 0; !is_done; ++cuts) {
    ASSERT_LT(cuts, 30u);
    SCOPED_TRACE("after " + std::to_string(cuts) + " cuts");
    StoreBench bench(cuts + 1, std::move(disk));
    bench.open();
    if (cuts == 0) {
      Table made = bench.table();
      fill(made);
    }
    Result<Table> table = bench.store->open_table(kAccount, "Orders");
    ASSERT_EQ(said(table), kFine);
    Scan updated;
    updated.filter = "V eq 'new'";
    EXPECT_EQ((*table->count(updated)).entities, changed);
    std::stop_source source;
    WhereOptions options;
    options.batch_entities_max = 8;
    options.continuation = token;
    options.stop = source.get_token();
    int batches = 0;
    options.progress = [&](const WhereProgress& now) {
      // The power fails after the second batch, and its token is lost.
      if (++batches == 1 && now.continuation) token = *now.continuation;
      if (batches == 2) source.request_stop();
    };
    const Result<WhereProgress> done =
        table->update_where({.filter = "V eq 'old'"}, {.set = {{"V", Value("new")}}}, options);
    ASSERT_EQ(said(done), kFine) << done.status().to_string();
    changed += done->changed;
    is_done = !done->continuation;
    disk = bench.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench.machine.random);
    (void)bench.store->close();
  }
  EXPECT_EQ(changed, 90u) << "an entity was changed twice, or not at all";
}

// -- Other writers ----------------------------------------------------------------------------------------------------

TEST(TableWhereConcurrency, DeletesNoEntityThatNoLongerMeetsTheCondition) {
  for_each_seed(25, [](StoreBench& bench) {
    Table table = bench.table();
    constexpr int kRows = 8;
    for (int i = 0; i < kRows; ++i) {
      ASSERT_EQ(said(table.insert(with_value("p", std::to_string(i), "old"))), kFine);
    }
    std::set<std::string> kept;
    WhereProgress done;
    run_together(bench, {[&] {
                           Table own = table;
                           for (int i = kRows - 1; i >= 0; --i) {
                             const std::string row = std::to_string(i);
                             const Result<ETag> written = own.merge(with_value("p", row, "new"), ETag::any());
                             if (written.ok()) {
                               kept.insert(row);
                             } else {
                               EXPECT_EQ(said(written), kResourceNotFound);
                             }
                           }
                         },
                         [&] {
                           Table own = table;
                           const Result<WhereProgress> deleted =
                               own.delete_where({.filter = "V eq 'old'"}, {.batch_entities_max = 4});
                           EXPECT_EQ(said(deleted), kFine) << deleted.status().to_string();
                           if (deleted.ok()) done = *deleted;
                         }});
    for (int i = 0; i < kRows; ++i) {
      const std::string row = std::to_string(i);
      EXPECT_EQ(value_in(table, "p", row), kept.contains(row) ? "new" : "-") << row;
    }
    EXPECT_EQ(done.changed, kRows - kept.size());
    EXPECT_EQ(done.matched, done.changed + done.left);
  });
}

TEST(TableWhereConcurrency, ADryRunBesideWritersChangesNothing) {
  for_each_seed(15, [](StoreBench& bench) {
    Table table = bench.table();
    constexpr int kRows = 6;
    for (int i = 0; i < kRows; ++i) {
      ASSERT_EQ(said(table.insert(with_value("p", std::to_string(i), "old"))), kFine);
    }
    std::string newest;
    run_together(bench, {[&] {
                           Table own = table;
                           for (int i = 0; i < 3; ++i) {
                             const Result<ETag> written =
                                 own.merge(with_value("p", std::to_string(i), "new"), ETag::any());
                             EXPECT_EQ(said(written), kFine);
                             if (written.ok()) newest = written->to_string();
                           }
                         },
                         [&] {
                           Table own = table;
                           WhereOptions options{.batch_entities_max = 2};
                           options.dry_run = true;
                           const Result<WhereProgress> told = own.delete_where({.filter = "V eq 'old'"}, options);
                           EXPECT_EQ(said(told), kFine) << told.status().to_string();
                           if (!told.ok()) return;
                           EXPECT_EQ(told->changed, 0u);
                           EXPECT_GE(told->matched, 3u);
                           EXPECT_LE(told->matched, std::uint64_t{kRows});
                         }});
    for (int i = 0; i < kRows; ++i) EXPECT_EQ(value_in(table, "p", std::to_string(i)), i < 3 ? "new" : "old");
    const Result<Statistics> statistics = bench.store->statistics();
    ASSERT_EQ(said(statistics), kFine);
    EXPECT_EQ(ETag::of_timestamp(statistics->visible_version).to_string(), newest) << "the dry run made no commit";
  });
}

TEST(TableWhereConcurrency, LosesNoWriteOfAnotherWriter) {
  for_each_seed(25, [](StoreBench& bench) {
    Table table = bench.table();
    for (const char* row : {"a", "b", "c"}) {
      ASSERT_EQ(said(table.insert(Entity("p", row).set("Gone", 1).set("C", 0))), kFine);
    }
    const auto writes = [&table] {
      Table own = table;
      for (int i = 1; i <= 4; ++i) {
        for (const char* row : {"c", "b", "a"}) {
          const std::optional<Entity> before = read(own, "p", row);
          ASSERT_TRUE(before.has_value());
          EXPECT_EQ(*before->find("C"), Value(i - 1)) << row << " was written back";
          EXPECT_EQ(said(own.merge(Entity("p", row).set("C", i), ETag::any())), kFine);
        }
      }
    };
    run_together(bench, {writes, [&] {
                           Table own = table;
                           const Result<WhereProgress> updated =
                               own.update_where({.all = true}, {.set = {{"Added", Value(true)}}, .remove = {"Gone"}});
                           EXPECT_EQ(said(updated), kFine) << updated.status().to_string();
                           EXPECT_EQ(updated.ok() ? updated->changed : 0, 3u);
                         }});
    for (const char* row : {"a", "b", "c"}) {
      const std::optional<Entity> entity = read(table, "p", row);
      ASSERT_TRUE(entity.has_value());
      EXPECT_EQ(*entity->find("C"), Value(4)) << row;
      EXPECT_EQ(*entity->find("Added"), Value(true)) << row;
      EXPECT_EQ(entity->find("Gone"), nullptr) << row;
    }
  });
}

}  // namespace
}  // namespace varve::test::table_where_test
