// Goal: for every order in which threads run, asynchronous and blocking operations do not lose, duplicate or misplace
// writes. No thread waits without end, and acknowledged writes survive faults of the machine.
// Method: a scheduler that runs one thread at a time selects the next by a seed, for many seeds. Rerun one by its
// number. The same seeds select the steps at which the power is cut, and the log fails.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_threads_test {
namespace {

using namespace test;
using BegunWrite = Begun<Result<ETag>>;

constexpr std::uint64_t kSeeds = test::effort<std::uint64_t>(30);

Entity incremented(Entity entity) {
  entity.set("N", *entity.get<std::int64_t>("N") + 1);
  return entity;
}

Task<Status> increment(AsyncTable table, int times) {
  for (int done = 0; done < times;) {
    const Result<std::optional<Entity>> found = co_await table.get("p", "counter");
    if (!found.ok()) co_return found.status();
    const ETag etag = (*found)->etag();
    const Result<ETag> replaced = co_await table.replace(incremented(**found), etag);
    if (replaced.ok()) ++done;
    if (!replaced.ok() && said(replaced) != kUpdateConditionNotSatisfied) co_return replaced.status();
  }
  co_return Status();
}

void increment_waiting(Table table, int times) {
  for (int done = 0; done < times;) {
    const std::optional<Entity> found = read(table, "p", "counter");
    const Result<ETag> replaced = table.replace(incremented(*found), found->etag());
    if (replaced.ok()) ++done;
    EXPECT_EQ(said(replaced), replaced.ok() ? kFine : kUpdateConditionNotSatisfied);
  }
}

void make_counter(Table table) {
  Entity counter("p", "counter");
  counter.set("N", std::int64_t{0});
  ASSERT_TRUE(table.insert(counter).ok());
}

TEST(AsyncThreads, IncrementsOfBothKindsSumUpExactly) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    const Table table = bench.table();
    make_counter(table);
    const AsyncTable async(table);
    std::vector<std::function<void()>> bodies(2, [&] { increment_waiting(table, 4); });
    bodies.push_back([&] {
      std::vector<Task<Status>> tasks;
      for (int i = 0; i < 4; ++i) tasks.push_back(increment(async, 2));
      for (const Status& status : await(bench.machine.scheduler(), all(std::move(tasks)))) {
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    });
    run_together(bench, bodies);
    EXPECT_EQ(*read(table, "p", "counter")->get<std::int64_t>("N"), 16);
  });
}

TEST(AsyncThreads, WritersWhoMayNotWaitAreBusyOrDoneAndBothHappen) {
  std::atomic<int> busy{0};
  std::atomic<int> done{0};
  for_each_seed(kSeeds, [&](StoreBench& bench) {
    const Table table = bench.table();
    const AsyncTable async(table);
    WriteOptions impatient;
    impatient.wait_max = std::chrono::milliseconds(0);
    std::array<std::atomic<int>, 3> written{};  // of each row; all clients write the same rows
    const auto count = [&](std::size_t row, const Result<ETag>& answer) {
      EXPECT_TRUE(answer.ok() || answer.code() == Code::kBusy) << answer.status().to_string();
      ++(answer.ok() ? done : busy);
      if (answer.ok()) ++written[row];
    };
    const auto entity = [](std::size_t row) { return with_value("p", "r" + std::to_string(row), "x"); };
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 2; ++i) {
      bodies.push_back([&] {
        Table own = table;
        for (std::size_t row = 0; row < written.size(); ++row)
          count(row, own.insert_or_replace(entity(row), impatient));
      });
      bodies.push_back([&] {
        std::vector<Task<Result<ETag>>> tasks;
        for (std::size_t row = 0; row < written.size(); ++row) {
          tasks.push_back(async.insert_or_replace(entity(row), impatient));
        }
        std::size_t row = 0;
        for (const auto& answer : await(bench.machine.scheduler(), all(std::move(tasks)))) count(row++, answer);
      });
    }
    run_together(bench, bodies);
    const auto rows = std::count_if(written.begin(), written.end(), [](const auto& times) { return times > 0; });
    EXPECT_EQ((*table.count(Scan{})).entities, static_cast<std::uint64_t>(rows));
  });
  EXPECT_GT(busy.load(), 0);
  EXPECT_GT(done.load(), 0);
}

TEST(AsyncThreads, NoWriteForADroppedTableAppearsInTheNewOne) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    const Table table = bench.table();
    const AsyncTable async(table);
    const AsyncStore store(*bench.store);
    io::Scheduler& scheduler = bench.machine.scheduler();
    std::atomic<int> round{0};
    std::array<std::atomic<int>, 2> begun{};  // the last round that each writer has begun
    std::atomic<bool> done{false};
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 2; ++i) {
      bodies.push_back([&, i] {
        for (int j = 0; !done.load(); ++j) {
          Entity entity("p", std::to_string(i) + "." + std::to_string(j));
          entity.set("Round", round.load());
          begun[static_cast<std::size_t>(i)].store(*entity.get<std::int32_t>("Round"));
          const Result<ETag> result =
              i == 0 ? await(scheduler, async.insert(std::move(entity))) : Table(table).insert(entity);
          EXPECT_EQ(said(result), result.ok() ? kFine : kTableNotFound);
          scheduler.yield();
        }
      });
    }
    bodies.push_back([&] {
      const std::string account(kAccount);
      for (int i = 1; i <= 4; ++i) {
        EXPECT_EQ(said(await(scheduler, store.drop_table(account, "Orders"))), kFine);
        EXPECT_EQ(said(await(scheduler, async.get("p", "r"))), kTableNotFound);
        round.store(i);
        // Writes of the last round may be late. Older writes have ended.
        for (const std::atomic<int>& last : begun) {
          while (last.load() < i - 1) scheduler.yield();
        }
        EXPECT_EQ(said(await(scheduler, store.create_table(account, "Orders"))), kFine);
        const Result<Page> page = await(scheduler, async.scan(Scan{}));
        ASSERT_TRUE(page.ok());
        for (const Entity& entity : page->entities) EXPECT_GE(*entity.get<std::int32_t>("Round"), i - 1);
      }
      done.store(true);
    });
    run_together(bench, bodies);
  });
}

TEST(AsyncThreads, StopsFromOtherThreadsLeaveEachWriteDoneOrCancelled) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    const Table table = bench.table();
    const AsyncTable async(table);
    std::vector<std::stop_source> sources(12);
    std::vector<Result<ETag>> answers;
    std::vector<std::function<void()>> bodies;
    bodies.push_back([&] {
      std::vector<Task<Result<ETag>>> tasks;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        tasks.push_back(async.insert(with_value("p", std::to_string(i), "x"), {}, sources[i].get_token()));
      }
      answers = await(bench.machine.scheduler(), all(std::move(tasks)));
    });
    bodies.push_back([&] {
      for (std::size_t i = 0; i < sources.size(); i += 2) {
        sources[sources.size() - 1 - i].request_stop();
        bench.machine.scheduler().yield();
      }
    });
    run_together(bench, bodies);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_TRUE(answers[i].ok() || answers[i].code() == Code::kCancelled) << answers[i].status().to_string();
      EXPECT_EQ(value_in(table, "p", std::to_string(i)), answers[i].ok() ? "x" : "-");
    }
  });
}

TEST(AsyncThreads, CloseBesideOperationsEndsThemAll) {
  for_each_seed(kSeeds, [](StoreBench& bench) {
    const AsyncTable async(bench.table());
    std::vector<std::unique_ptr<BegunWrite>> writes;
    for (int i = 0; i < 6; ++i) {
      writes.push_back(std::make_unique<BegunWrite>(bench.machine.scheduler(),
                                                    async.insert(with_value("p", std::to_string(i), "x"))));
    }
    EXPECT_EQ(said(bench.store->close()), kFine);
    for (const auto& write : writes) {
      EXPECT_TRUE(write->has_ended());
      EXPECT_EQ(said(write->take()), kFine);
    }
    bench.open();
    EXPECT_EQ((*(*bench.store->open_table(kAccount, "Orders")).count(Scan{})).entities, 6u);
  });
}

// -- Faults -----------------------------------------------------------------------------------------------------------

/// A disk, and the content that it must have if the power fails now.
struct Image {
  io::MemoryDisk disk;
  std::vector<bool> acknowledged;
};

constexpr std::size_t kWrites = 24;

/// Begins all writes at once and takes images of the disk meanwhile. Every other row is written with sync.
std::vector<Image> write_and_take_images(std::uint64_t seed) {
  StoreBench bench(seed, OneThreadAtATime{});
  const AsyncTable async(bench.table());
  io::SeededRandom picks(seed + 100);
  std::vector<bool> acknowledged(kWrites, false);
  std::vector<Image> images;
  bench.machine.files->set_observer([&](const io::Operation&, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 2)) {
      images.push_back({std::move(disk), acknowledged});
    }
  });
  io::Event ended(bench.machine.scheduler());
  std::size_t left = kWrites;  // used only by the asynchronous thread, like the acknowledged rows
  for (std::size_t i = 0; i < kWrites; ++i) {
    WriteOptions options;
    options.durability = i % 2 == 0 ? Durability::kSync : Durability::kBuffered;
    start(async.insert(with_value("p" + std::to_string(i % 4), std::to_string(i), "x"), options),
          [&acknowledged, &left, &ended, i](const Result<ETag>& answer) {
            EXPECT_TRUE(answer.ok()) << answer.status().to_string();
            acknowledged[i] = i % 2 == 0;
            if (--left == 0) ended.set();
          });
  }
  ended.wait();
  images.push_back({bench.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, picks), acknowledged});
  EXPECT_EQ(said(bench.store->close()), kFine);
  bench.machine.files->set_observer({});
  return images;
}

TEST(AsyncThreads, WhatWasAcknowledgedAsDurableSurvivesThePowerCut) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(5); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Image> images = write_and_take_images(seed);
    EXPECT_GT(images.size(), 10u);
    for (Image& image : images) {
      StoreBench after(seed + 1, std::move(image.disk));
      const Table table = *after.open().open_table(kAccount, "Orders");
      for (std::size_t i = 0; i < kWrites; ++i) {
        if (!image.acknowledged[i]) continue;
        ASSERT_EQ(value_in(table, "p" + std::to_string(i % 4), std::to_string(i)), "x") << i;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

/// Fails the log's n-th write of a commit and all later ones. Returns the number of acknowledged writes.
std::size_t write_until_the_log_fails(StoreBench& bench, std::uint64_t nth) {
  Table table = bench.table();
  const AsyncTable async(table);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kLogWrite;
  rule.skip_count = nth;
  rule.fail_count = io::FaultRule::kFromThenOn;
  bench.machine.files->faults().add(rule);
  std::vector<Task<Result<ETag>>> tasks;
  for (std::size_t i = 0; i < kWrites; ++i) {
    tasks.push_back(async.insert(with_value("p" + std::to_string(i % 3), std::to_string(i), "x")));
  }
  std::vector<Result<ETag>> answers = await(bench.machine.scheduler(), all(std::move(tasks)));
  std::size_t done = 0;
  for (std::size_t i = 0; i < kWrites; ++i) {
    const Code code = answers[i].code();
    EXPECT_TRUE(code == Code::kOk || code == Code::kUnknown || code == Code::kPoisoned)
        << answers[i].status().to_string();
    if (code == Code::kOk) ++done;
    const std::string value = value_in(table, "p" + std::to_string(i % 3), std::to_string(i));
    EXPECT_EQ(value, code == Code::kOk ? "x" : "-") << i;  // A write in doubt is not visible.
  }
  // Expects an error from a new write, and from a refusal that depends on writes in doubt.
  EXPECT_TRUE(done == kWrites ||
              await(bench.machine.scheduler(), async.insert(with_value("q", "r", "x"))).code() == Code::kPoisoned);
  EXPECT_TRUE(await(bench.machine.scheduler(), async.scan(Scan{})).ok());
  return done;
}

TEST(AsyncThreads, ALogThatFailsEndsEveryWriteAndKeepsWhatWasAcknowledged) {
  std::size_t failures = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    std::size_t done = 0;
    {
      StoreBench bench(seed, OneThreadAtATime{});
      done = write_until_the_log_fails(bench, seed % 6);
      (void)bench.store->close();
      bench.machine.files->faults().clear();
      disk = bench.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench.machine.random);
    }
    if (done < kWrites) ++failures;
    StoreBench after(seed + 1, std::move(disk));
    const Table table = *after.open().open_table(kAccount, "Orders");
    EXPECT_GE((*table.count(Scan{})).entities, done);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failures, 0u);
}

}  // namespace
}  // namespace varve::async_threads_test
