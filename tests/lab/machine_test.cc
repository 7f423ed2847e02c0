// Goal: a step of a machine stops as planned and goes on when it is let go, on a disk and on the model of RADOS. Then it has
// been made whole.
// Method: a write of a log is stopped, and a read of a table. Threads run one at a time.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "tests/lab/machine/machine_files.h"

namespace varve::lab::machine_test {
namespace {

class StuckMachine : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ResourceOptions resources;
    resources.block_cache_bytes = 0;  // so that each read asks the machine
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &machine_.env();
    options.resources = *Resources::create(resources);
    Result<std::unique_ptr<Store>> opened = Store::open(machine_.files->path("store"), options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account("account").ok());
    table_ = *store_->create_table("account", "Orders");
    ASSERT_TRUE(table_->insert(Entity("p", "first")).ok());
  }

  /// Plans it for the next step of a kind. The store has ended its own work by then.
  void plan(io::OperationKind kind) {
    pass_time();
    io::FaultRule rule;
    rule.kind = kind;
    rule.effect = io::FaultEffect::kNever;
    machine_.files->fail(std::move(rule));
  }

  /// Runs `call` on a thread of its own. It must be stopped, and go on when it is let go.
  void expect_stop(const std::function<Status()>& call) {
    std::optional<Status> ended;
    io::Thread thread = *machine_.scheduler().start("caller", [&] { ended = call(); });
    for (int look = 0; look < 100 && !machine_.files->is_stuck(); ++look) pass_time();
    EXPECT_TRUE(machine_.files->is_stuck());
    pass_time();
    EXPECT_FALSE(ended.has_value());
    machine_.files->end_faults();
    machine_.files->let_go();
    thread.join();
    EXPECT_FALSE(machine_.files->is_stuck());
    EXPECT_TRUE(ended.has_value() && ended->ok());
  }

  /// Lets the other threads run for a time of the simulation.
  void pass_time() {
    io::Mutex mutex(machine_.scheduler());
    io::Condition never(machine_.scheduler());
    const io::MutexGuard guard(mutex);
    (void)never.wait_for(mutex, std::chrono::milliseconds(10));
  }

  ScheduledMachine machine_{empty_machine(GetParam(), 1), 1};
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
};

TEST_P(StuckMachine, AWriteOfTheLogIsMadeWhenItIsLetGo) {
  plan(io::OperationKind::kLogWrite);
  expect_stop([&] { return table_->insert(Entity("p", "second")).status(); });
  EXPECT_TRUE((*table_->get("p", "second")).has_value());
  EXPECT_TRUE(store_->close().ok());
}

TEST_P(StuckMachine, AReadOfATableIsAnsweredWhenItIsLetGo) {
  ASSERT_TRUE(store_->compact().ok());
  plan(io::OperationKind::kRead);
  expect_stop([&] { return table_->get("p", "first").status(); });
  EXPECT_TRUE(store_->close().ok());
}

TEST_P(StuckMachine, WhatIsPlannedForOtherStepsStopsNone) {
  plan(io::OperationKind::kLink);
  EXPECT_TRUE(table_->insert(Entity("p", "second")).ok());
  EXPECT_FALSE(machine_.files->is_stuck());
  EXPECT_EQ(machine_.files->fault_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Machines, StuckMachine, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& tested) { return tested.param ? "Rados" : "Disk"; });

}  // namespace
}  // namespace varve::lab::machine_test
