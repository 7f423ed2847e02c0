// Goal: an embedder's test can cut the power, fail any step, and replay a run, through public headers alone.
// Method: a small store on a simulated machine suffers each kind of fault, and what the store reports is compared.
#include "varve/testing.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve::testing::testing_test {
namespace {

StoreOptions creating() {
  StoreOptions options;
  options.create_if_absent = true;
  return options;
}

/// A store of a machine with one table.
struct Shop {
  explicit Shop(Machine& machine) {
    Result<std::unique_ptr<Store>> opened = machine.open("shop", creating());
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    store = *std::move(opened);
    EXPECT_TRUE(store->create_account("shop").ok());
    orders.emplace(*store->create_table("shop", "Orders"));
  }
  Status insert(const std::string& row) {
    Entity entity("eu", row);
    entity.set("Text", std::string_view("some text"));
    return orders->insert(entity).status();
  }
  bool has(const std::string& row) {
    const Result<std::optional<Entity>> found = orders->get("eu", row);
    return found.ok() && found->has_value();
  }

  std::unique_ptr<Store> store;
  std::optional<Table> orders;
};

/// A disk that a power cut left, and how many rows had been acknowledged.
struct Image {
  Disk disk;
  int acknowledged;
};

/// Writes three rows, and cuts the power at each step.
std::vector<Image> cut_power_at_each_step() {
  std::vector<Image> images;
  int acknowledged = 0;
  Machine machine(11, Threads::kBySeed);
  machine.observe_steps([&] {
    for (Disk& disk : machine.power_cuts(3)) images.push_back({std::move(disk), acknowledged});
  });
  Shop shop(machine);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(shop.insert(std::to_string(i)).ok());
    acknowledged = i;
  }
  machine.observe_steps({});
  return images;
}

TEST(SimulatedMachine, KeepsWhatWasAcknowledgedThroughPowerCutsAtEachStep) {
  const std::vector<Image> images = cut_power_at_each_step();
  EXPECT_GT(images.size(), 20U);
  for (const Image& image : images) {
    Machine after(11, image.disk, Threads::kBySeed);
    Result<std::unique_ptr<Store>> store = after.open("shop", creating());
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    if (image.acknowledged == 0) continue;
    Result<Table> orders = (*store)->open_table("shop", "Orders");
    ASSERT_TRUE(orders.ok()) << orders.status().to_string();
    for (int i = 1; i <= image.acknowledged; ++i) {
      const Result<std::optional<Entity>> found = orders->get("eu", std::to_string(i));
      EXPECT_TRUE(found.ok() && found->has_value()) << "row " << i << " was acknowledged";
    }
  }
}

TEST(SimulatedMachine, KeepsBufferedWritesWhenTheProcessDies) {
  Machine machine(3);
  Shop shop(machine);
  Entity entity("eu", "1");
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  ASSERT_TRUE(shop.orders->insert(entity, buffered).ok());
  Machine after(3, machine.process_death());
  Result<std::unique_ptr<Store>> store = after.open("shop");
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  Result<Table> orders = (*store)->open_table("shop", "Orders");
  ASSERT_TRUE(orders.ok());
  const Result<std::optional<Entity>> found = orders->get("eu", "1");
  EXPECT_TRUE(found.ok() && found->has_value());
}

TEST(SimulatedMachine, FailsTheStepsThatARuleNames) {
  Machine machine(5);
  Shop shop(machine);
  ASSERT_TRUE(shop.insert("1").ok());
  Fault fault;
  fault.step = Step::kWrite;
  fault.file_suffix = ".wal";
  fault.count = Fault::kAlways;
  fault.os_error = EIO;
  machine.add_fault(fault);
  const Status failed = shop.insert("2");
  EXPECT_EQ(failed.code(), Code::kUnknown) << failed.to_string();
  EXPECT_GT(machine.fault_count(), 0U);
  EXPECT_TRUE(shop.has("1")) << "reads go on";
  shop.store.reset();
  machine.clear_faults();
  const Result<VerifyReport> report = machine.verify("shop");
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->sound());
}

TEST(SimulatedMachine, LimitsTheRoomOfItsDisk) {
  constexpr int kTriesMax = 2'000;
  Machine machine(6, Threads::kBySeed);
  Shop shop(machine);
  ASSERT_TRUE(shop.insert("first").ok());
  machine.set_capacity(1);
  Status refused;
  for (int i = 0; i < kTriesMax && refused.ok(); ++i) {
    Entity entity("eu", std::to_string(i));
    entity.set("Text", std::string(30'000, 'x'));
    refused = shop.orders->insert(entity).status();
  }
  EXPECT_EQ(refused.code(), Code::kNoSpace) << refused.to_string();
  EXPECT_TRUE(shop.has("first"));
  machine.set_capacity(std::uint64_t{1} << 40);
  Status inserted = refused;
  for (int i = 0; i < kTriesMax && !inserted.ok(); ++i) inserted = shop.insert("last");
  EXPECT_TRUE(inserted.ok()) << inserted.to_string();
}

TEST(SimulatedMachine, LetsAStuckStepGoOn) {
  Machine machine(8, Threads::kBySeed);
  Shop shop(machine);
  Fault stuck;
  stuck.step = Step::kWrite;
  stuck.file_suffix = ".wal";
  stuck.count = Fault::kAlways;
  stuck.effect = Effect::kStuck;
  machine.add_fault(stuck);
  bool is_inserted = false;
  bool was_early = false;
  ASSERT_TRUE(machine
                  .run({[&] { is_inserted = shop.insert("1").ok(); },
                        [&] {
                          for (int i = 0; i < 100; ++i) was_early |= shop.has("1");
                          machine.clear_faults();
                        }})
                  .ok());
  EXPECT_TRUE(is_inserted);
  EXPECT_FALSE(was_early) << "nobody reads a write before it is acknowledged";
}

/// The order in which threads insert, and the steps that the disk saw.
std::string trace_of(std::uint64_t seed) {
  Machine machine(seed, Threads::kBySeed);
  Shop shop(machine);
  std::string order;
  std::vector<std::function<void()>> functions;
  for (const std::string name : {"a", "b", "c"}) {
    functions.push_back([&shop, &order, name] {
      for (int i = 0; i < 4; ++i) {
        if (shop.insert(name + std::to_string(i)).ok()) order += name;
      }
    });
  }
  EXPECT_TRUE(machine.run(functions).ok());
  return order + " in " + std::to_string(machine.step_count()) + " steps";
}

TEST(SimulatedMachine, RepeatsARunFromItsSeed) {
  std::vector<std::string> traces;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    traces.push_back(trace_of(seed));
    EXPECT_EQ(trace_of(seed), traces.back()) << "seed " << seed;
  }
  std::sort(traces.begin(), traces.end());
  traces.erase(std::unique(traces.begin(), traces.end()), traces.end());
  EXPECT_GT(traces.size(), 1U) << "other seeds give other runs";
}

TEST(SimulatedMachine, MovesItsClockWhenTold) {
  Machine machine(9);
  Shop shop(machine);
  ASSERT_TRUE(shop.insert("1").ok());
  const DateTime before = (*shop.orders->get("eu", "1")).value().timestamp();
  machine.advance_clock(std::chrono::hours(24));
  ASSERT_TRUE(shop.insert("2").ok());
  const DateTime later = (*shop.orders->get("eu", "2")).value().timestamp();
  // Versions of one moment follow each other by a tick, so the first one may be some ticks ahead of the clock.
  constexpr std::int64_t kTicksASecond = 10'000'000;
  EXPECT_GE(later.ticks - before.ticks, (24 * 3600 - 1) * kTicksASecond);
}

}  // namespace
}  // namespace varve::testing::testing_test
