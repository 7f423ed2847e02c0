// Goal: for every order in which threads run, exactly one of several exclusive operations succeeds, and no reader sees
// data that does not exist yet or any more.
// Method: a scheduler that runs one thread at a time selects the next by a seed, for many seeds. Rerun one by its
// number.
#include <atomic>
#include <functional>

#include <gtest/gtest.h>

#include "io/scheduler.h"
#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "varve/loader.h"

namespace varve::concurrency_test {
namespace {

using namespace test;

constexpr std::uint64_t kSeeds = 40;

TEST(Concurrency, B01_OfManyCreationsOfOneTableExactlyOneWins) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    bench.open();
    ASSERT_TRUE(bench.store->create_account(kAccount).ok());
    std::vector<Said> outcomes(4, kInvalidInput);
    std::vector<std::function<void()>> bodies;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      bodies.push_back([&, i] {
        outcomes[i] = said(bench.store->create_table(kAccount, i % 2 == 0 ? "Orders" : "ORDERS"));
        // A client that is refused may rely on the existence of the table.
        EXPECT_EQ(said(bench.store->open_table(kAccount, "orders")), kFine);
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), kFine), 1);
    EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), kTableAlreadyExists), 3);
  });
}

TEST(Concurrency, TablesMadeTogetherHaveIdsOfTheirOwn) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    bench.open();
    ASSERT_TRUE(bench.store->create_account(kAccount).ok());
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 4; ++i) {
      bodies.push_back([&bench, i] {
        const std::string name = "Table" + std::to_string(i);
        Result<Table> table = bench.store->create_table(kAccount, name);
        ASSERT_TRUE(table.ok()) << table.status().to_string();
        EXPECT_EQ(said(table->insert(with_value("p", "r", name))), kFine);
      });
    }
    run_together(bench, bodies);
    for (int i = 0; i < 4; ++i) {
      const std::string name = "Table" + std::to_string(i);
      EXPECT_EQ(value_in(*bench.store->open_table(kAccount, name), "p", "r"), name);
    }
  });
}

TEST(Concurrency, O08_OfManyConditionalWritersExactlyOneSucceeds) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    const ETag etag = *table.insert(with_value("p", "r", "0"));
    std::atomic<int> succeeded{0};
    std::vector<std::function<void()>> bodies;
    for (int i = 1; i <= 4; ++i) {
      bodies.push_back([&, i] {
        Table own = table;
        const Result<ETag> result = i % 2 == 0 ? own.replace(with_value("p", "r", std::to_string(i)), etag)
                                               : own.merge(with_value("p", "r", std::to_string(i)), etag);
        if (result.ok()) {
          ++succeeded;
        } else {
          EXPECT_EQ(said(result), kUpdateConditionNotSatisfied);
          // The refusal depends on a write that is visible by now.
          EXPECT_NE(value_in(own, "p", "r"), "0");
        }
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(succeeded.load(), 1);
  });
}

TEST(Concurrency, O10_OfManyInsertsOfOneKeyExactlyOneSucceedsAndTheOthersCanReadIt) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    std::atomic<int> succeeded{0};
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 4; ++i) {
      bodies.push_back([&, i] {
        const Result<ETag> result = table.insert(with_value("p", "r", std::to_string(i)));
        if (result.ok()) ++succeeded;
        EXPECT_EQ(said(result), result.ok() ? kFine : kEntityAlreadyExists);
        EXPECT_NE(value_in(table, "p", "r"), "-");
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(succeeded.load(), 1);
  });
}

TEST(Concurrency, O12_NoMergeIsLost) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 4; ++i) {
      bodies.push_back([&, i] {
        for (int j = 0; j < 3; ++j) {
          Entity entity("p", "r");
          entity.set("N" + std::to_string(i) + std::to_string(j), j);
          EXPECT_EQ(said(table.insert_or_merge(entity)), kFine);
        }
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(read(table, "p", "r")->properties().size(), 12u);
  });
}

TEST(Concurrency, T13_TransactionsOnTheSameEntitiesAreSerialised) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 3; ++i) {
      bodies.push_back([&, i] {
        EntityGroupTransaction transaction;
        for (int row = 0; row < 3; ++row) {
          transaction.insert_or_replace(with_value("p", std::to_string(i % 2 == 0 ? row : 2 - row), std::to_string(i)));
        }
        for (int j = 0; j < 3; ++j) EXPECT_EQ(said(table.execute(transaction)), kFine);
      });
    }
    bodies.push_back([&] {
      for (int j = 0; j < 6; ++j) {
        const Result<Page> page = table.scan(Scan{});
        ASSERT_TRUE(page.ok());
        for (const Entity& entity : page->entities) EXPECT_EQ(entity.etag(), page->entities[0].etag());
        EXPECT_TRUE(page->entities.empty() || page->entities.size() == 3);
      }
    });
    run_together(bench, bodies);
  });
}

TEST(Concurrency, B04_NoWriteForTheOldTableAppearsInTheNewOne) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    std::atomic<int> round{0};
    std::atomic<bool> done{false};
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 2; ++i) {
      bodies.push_back([&, i] {
        for (int j = 0; !done.load(); ++j) {
          const int begun_in = round.load();
          Entity entity("p", std::to_string(i) + "." + std::to_string(j));
          entity.set("Round", begun_in);
          const Result<ETag> result = table.insert(entity);
          EXPECT_EQ(said(result), result.ok() ? kFine : kTableNotFound);
          bench.machine.scheduler().yield();
        }
      });
    }
    bodies.push_back([&] {
      for (int i = 1; i <= 5; ++i) {
        EXPECT_EQ(said(bench.store->drop_table(kAccount, "Orders")), kFine);
        EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
        round.store(i);
        EXPECT_EQ(said(bench.store->create_table(kAccount, "Orders")), kFine);
        const Result<Page> page = table.scan(Scan{});
        ASSERT_TRUE(page.ok());
        // A write that began before the drop may have found the new table by its name, but never one of an earlier
        // round.
        for (const Entity& entity : page->entities) EXPECT_GE(*entity.get<std::int32_t>("Round"), i - 1);
      }
      done.store(true);
    });
    run_together(bench, bodies);
  });
}

TEST(Concurrency, B04_AReaderNeverSeesADroppedTableAfterTheDropWasAcknowledged) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    Table table = bench.table();
    std::atomic<int> dropped{0};  // odd while the table certainly does not exist
    std::atomic<bool> done{false};
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 2; ++i) {
      bodies.push_back([&] {
        while (!done.load()) {
          const int before = dropped.load();
          const Result<std::optional<Entity>> found = table.get("p", "r");
          const int after = dropped.load();
          if (before == after && before % 2 == 1) {
            EXPECT_EQ(said(found), kTableNotFound);
          }
          EXPECT_EQ(said(found), found.ok() ? kFine : kTableNotFound);
          bench.machine.scheduler().yield();
        }
      });
    }
    bodies.push_back([&] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(said(table.insert_or_replace(with_value("p", "r", "x"))), kFine);
        if (i % 2 == 0) {
          EXPECT_EQ(said(bench.store->drop_table(kAccount, "Orders")), kFine);
        } else {
          EXPECT_EQ(said(bench.store->drop_account(kAccount)), kFine);
        }
        ++dropped;
        for (int j = 0; j < 5; ++j) bench.machine.scheduler().yield();
        ++dropped;
        if (i % 2 == 1) {
          EXPECT_EQ(said(bench.store->create_account(kAccount)), kFine);
        }
        EXPECT_EQ(said(bench.store->create_table(kAccount, "Orders")), kFine);
      }
      done.store(true);
    });
    run_together(bench, bodies);
  });
}

/// Creates a table of one entity with a loader, bypassing the log.
Status load_one_entity(Store& store, const std::string& name) {
  Result<Loader> loader = store.load_table(kAccount, name);
  if (!loader.ok()) return loader.status();
  if (Status added = loader->add(with_value("p", "r", "x")); !added.ok()) return added;
  return loader->finish().status();
}

/// Two threads create tables with `make` while another drops the account. Afterwards no part of a table is left.
void drop_account_among(const std::function<Status(Store&, const std::string&)>& make) {
  for_each_seed(kSeeds, [&make](StoreBench& bench) {
    bench.open();
    ASSERT_TRUE(bench.store->create_account(kAccount).ok());
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 2; ++i) {
      bodies.push_back([&, i] {
        for (int j = 0; j < 4; ++j) {
          const Status made = make(*bench.store, "Table" + std::to_string(i) + std::to_string(j));
          EXPECT_EQ(said(made), made.ok() ? kFine : kResourceNotFound);
        }
      });
    }
    bodies.push_back([&] { EXPECT_EQ(said(bench.store->drop_account(kAccount)), kFine); });
    run_together(bench, bodies);
    EXPECT_EQ(said(bench.store->list_tables(kAccount)), kResourceNotFound);
    ASSERT_TRUE(bench.store->create_account(kAccount).ok());
    EXPECT_TRUE((*bench.store->list_tables(kAccount)).tables.empty());
    bench.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->sound()) << report->findings[0];
  });
}

TEST(Concurrency, AnAccountDroppedAmongCreationsTakesEveryTableMadeBefore) {
  drop_account_among([](Store& store, const std::string& name) { return store.create_table(kAccount, name).status(); });
}

TEST(Concurrency, AnAccountDroppedAmongLoadsTakesEveryTableLoadedBefore) {
  drop_account_among(load_one_entity);
}

TEST(Concurrency, AnAccountDroppedAmongCreationsAndDropsTakesEveryTableMadeBefore) {
  drop_account_among([](Store& store, const std::string& name) {
    if (Status made = store.create_table(kAccount, name).status(); !made.ok()) return made;
    return store.drop_table(kAccount, name);
  });
}

TEST(Concurrency, AWriterOfABusyPartitionWaitsNoLongerThanItIsTold) {
  StoreBench bench;
  Table table = bench.table();
  const std::vector<std::uint64_t> none;
  WriteOptions impatient;
  impatient.wait_max = std::chrono::milliseconds(0);
  EXPECT_EQ(said(table.insert(with_value("p", "a", "x"), impatient)), kFine);
  for_each_seed(kSeeds, [](StoreBench& seeded) {
    Table shared = seeded.table();
    std::atomic<int> busy{0};
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 4; ++i) {
      bodies.push_back([&, i] {
        WriteOptions options;
        options.wait_max = std::chrono::milliseconds(0);
        for (int j = 0; j < 3; ++j) {
          const Result<ETag> result =
              shared.insert(with_value("p", std::to_string(i) + std::to_string(j), "x"), options);
          if (result.code() == Code::kBusy) ++busy;
          EXPECT_TRUE(result.ok() || result.code() == Code::kBusy) << result.status().to_string();
        }
      });
    }
    run_together(seeded, bodies);
    EXPECT_EQ((*shared.scan(Scan{})).entities.size(), static_cast<std::size_t>(12 - busy.load()));
  });
}

}  // namespace
}  // namespace varve::concurrency_test
