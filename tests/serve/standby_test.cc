// Goal: of two servers on one store, one serves and one waits. The waiting one takes over when the owner is gone, and the
// former owner notices it.
// Method: processes share a model of RADOS, whose threads and time follow a seed.
#include "tools/serve/standby.h"

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/service/request_handler.h"
#include "tests/serve/watch_bench.h"
#include "tests/support/rados_machine.h"
#include "tools/serve/watch/monitor.h"

namespace varve::serve::standby_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Standby : public testing::Test {
 protected:
  struct Process {
    varve::test::RadosProgram& program;
    io::Env env;
    StorePlace place;
  };
  std::unique_ptr<Process> start() {
    varve::test::RadosProgram& program = machine_.start();
    auto process = std::make_unique<Process>(Process{program, machine_.env_of(program), {}});
    process->place.path = varve::test::kRadosPath;
    process->place.env = &process->env;
    process->place.is_shared = true;
    return process;
  }
  static StoreOptions options() {
    StoreOptions chosen;
    chosen.create_if_absent = true;
    return chosen;
  }

  static StandbyHooks hooks_of(std::function<void()> on_standby, std::function<bool()> may_wait) {
    StandbyHooks hooks;
    hooks.on_standby = std::move(on_standby);
    hooks.may_wait = std::move(may_wait);
    return hooks;
  }

  varve::test::RadosMachine machine_{1};
};

TEST_F(Standby, WaitsForTheOwnerAndTakesOverWhenItIsGone) {
  machine_.cluster.hold_blocklists();
  const std::unique_ptr<Process> first = start();
  const std::unique_ptr<Process> second = start();
  int told = 0;
  const auto count = [&told] { ++told; };
  Result<std::unique_ptr<Store>> owner = open_as_owner(first->place, options(), hooks_of(count, [] { return true; }));
  ASSERT_TRUE(owner.ok()) << owner.status().to_string();
  EXPECT_EQ(told, 0);
  ASSERT_TRUE((*owner)->create_account("account1").ok());
  EXPECT_TRUE(find_loss(**owner).ok());

  int attempts = 0;
  Result<std::unique_ptr<Store>> successor =
      open_as_owner(second->place, options(), hooks_of(count, [&] {
                      if (++attempts == 3) machine_.cluster.cut_off(first->program.door->client(), 0, 0);
                      return attempts < 20;
                    }));
  ASSERT_TRUE(successor.ok()) << successor.status().to_string();
  EXPECT_EQ(told, 1) << "one line, however long it waits";
  EXPECT_GE(attempts, 3);
  EXPECT_EQ((*successor)->create_account("account1").code(), Code::kExists);

  machine_.cluster.reconnect(first->program.door->client());
  first->program.files->process().renew();
  EXPECT_EQ(find_loss(**owner).code(), Code::kFenced);
  EXPECT_TRUE(find_loss(**successor).ok());
}

TEST_F(Standby, EndsItsWaitWhenItMustNotGoOn) {
  const std::unique_ptr<Process> first = start();
  const std::unique_ptr<Process> second = start();
  const auto ignore = [] {};
  Result<std::unique_ptr<Store>> owner = open_as_owner(first->place, options(), hooks_of(ignore, [] { return true; }));
  ASSERT_TRUE(owner.ok());
  EXPECT_EQ(open_as_owner(second->place, options(), hooks_of(ignore, [] { return false; })).code(), Code::kLocked);
  second->place.is_shared = false;
  EXPECT_EQ(open_as_owner(second->place, options(), hooks_of(ignore, [] { return true; })).code(), Code::kLocked);
}

TEST_F(Standby, DoesNotMakeAStoreAgainThatIsGone) {
  const std::unique_ptr<Process> first = start();
  const std::unique_ptr<Process> second = start();
  const auto ignore = [] {};
  Result<std::unique_ptr<Store>> owner = open_as_owner(first->place, options(), hooks_of(ignore, [] { return true; }));
  ASSERT_TRUE(owner.ok());
  const std::string root = io::root_object(varve::test::kStoreName);
  const std::unique_ptr<io::ObjectDoor> raw = machine_.cluster.make_door();
  int attempts = 0;
  const Result<std::unique_ptr<Store>> successor = open_as_owner(second->place, options(), hooks_of(ignore, [&] {
                                                                   if (attempts++ > 0) return false;
                                                                   io::ObjectChange removal;
                                                                   removal.object = root;
                                                                   removal.epoch = 1000;
                                                                   removal.removes = true;
                                                                   EXPECT_EQ(raw->change(removal), 0);
                                                                   return true;
                                                                 }));
  EXPECT_EQ(attempts, 1) << "a store that is gone is not waited for";
  EXPECT_EQ(successor.code(), Code::kNotFound) << successor.status().to_string();
  io::ObjectLook found;
  EXPECT_EQ(raw->look(root, found), ENOENT);
}

// The watch has a thread of its own, so this test has real threads.
TEST(StandbyWatch, NoticesThatAnotherOwnerHasTakenOver) {
  io::Scheduler scheduler;
  io::ManualClock clock;
  io::SeededRandom random(1);
  io::ObjectCluster cluster(scheduler, 1);
  cluster.hold_blocklists();
  const std::unique_ptr<io::ObjectDoor> first_door = cluster.make_door();
  const std::unique_ptr<io::ObjectDoor> second_door = cluster.make_door();
  io::RadosFileSystem first("pool", *first_door, clock, random, scheduler);
  io::RadosOptions at_once;
  at_once.takeover_wait = false;
  io::RadosFileSystem second("pool", *second_door, clock, random, scheduler, at_once);
  const io::Env first_env{first, clock, random, scheduler};
  const io::Env second_env{second, clock, random, scheduler};
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &first_env;
  Result<std::unique_ptr<Store>> owner = Store::open(varve::test::kRadosPath, options);
  ASSERT_TRUE(owner.ok()) << owner.status().to_string();
  std::promise<void> lost;
  const Result<std::unique_ptr<OwnerWatch>> watch = OwnerWatch::start(**owner, [&] { lost.set_value(); });
  ASSERT_TRUE(watch.ok());
  EXPECT_TRUE((*watch)->loss().ok());

  options.env = &second_env;
  Result<std::unique_ptr<Store>> successor = Store::open(varve::test::kRadosPath, options);
  ASSERT_TRUE(successor.ok()) << successor.status().to_string();
  first.process().renew();
  lost.get_future().wait();
  EXPECT_EQ((*watch)->loss().code(), Code::kFenced);
}

TEST(StandbyMonitor, SaysThatTheProcessWaits) {
  Monitor monitor;
  const auto ask = [&](const std::string& path) {
    HttpRequest request;
    request.head.verb = "GET";
    request.head.path = path;
    return *wait(monitor.handle(std::move(request), nullptr));
  };
  const HttpResponse health = ask("/health");
  EXPECT_EQ(health.status, 503);
  EXPECT_THAT(health.body, StartsWith("standby: "));
  const HttpResponse metrics = ask("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.body, HasSubstr("varve_health{state=\"standby\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("varve_accepts_writes 0\n"));
}

}  // namespace
}  // namespace varve::serve::standby_test
