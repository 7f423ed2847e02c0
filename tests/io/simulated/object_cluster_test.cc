// The model of RADOS: what a change requires, and what may happen to it on its way.
#include "io/simulated/object_cluster.h"

#include <cerrno>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/seeded_scheduler.h"
#include "tests/io/io_test_support.h"

namespace varve::io::object_cluster_test {
namespace {

ObjectChange making(std::string object, std::uint64_t epoch) {
  ObjectChange change;
  change.object = std::move(object);
  change.epoch = epoch;
  change.presence = ObjectChange::Presence::kMustBeAbsent;
  return change;
}

ObjectChange setting(std::string object, std::uint64_t epoch, const std::string& value) {
  ObjectChange change;
  change.object = std::move(object);
  change.epoch = epoch;
  change.attributes["value"] = value;
  return change;
}

class ObjectClusterTest : public testing::Test {
 protected:
  std::string value_of(std::string_view object) {
    ObjectLook found;
    return other_->look(object, found) == 0 ? found.attributes["value"] : "-";
  }
  Scheduler scheduler_;
  ObjectCluster cluster_{scheduler_, 1};
  std::unique_ptr<ObjectDoor> door_ = cluster_.make_door();
  std::unique_ptr<ObjectDoor> other_ = cluster_.make_door();
};

TEST_F(ObjectClusterTest, AChangeRequiresItsObjectAndItsEpoch) {
  EXPECT_EQ(door_->change(setting("a", 5, "1")), ENOENT);
  EXPECT_EQ(door_->change(making("a", 5)), 0);
  EXPECT_EQ(door_->change(making("a", 5)), EEXIST);
  EXPECT_EQ(door_->change(setting("a", 5, "1")), 0);
  EXPECT_EQ(other_->change(setting("a", 6, "2")), 0);
  EXPECT_EQ(door_->change(setting("a", 5, "3")), kStaleEpoch);
  EXPECT_EQ(value_of("a"), "2");
}

TEST_F(ObjectClusterTest, TheEpochGoesWithItsObject) {
  ASSERT_EQ(door_->change(making("a", 6)), 0);
  ObjectChange removal = setting("a", 6, "");
  removal.removes = true;
  ASSERT_EQ(door_->change(removal), 0);
  EXPECT_EQ(door_->change(setting("a", 5, "late")), ENOENT);
  EXPECT_EQ(door_->change(making("a", 5)), 0) << "only the epoch in its name keeps an old owner from making it";
}

TEST_F(ObjectClusterTest, AChangeHappensOnlyWithTheExpectedAttributes) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  ObjectChange change = setting("a", 1, "2");
  change.expected_attributes["value"] = "1";
  EXPECT_EQ(door_->change(change), ECANCELED);
  ASSERT_EQ(door_->change(setting("a", 1, "1")), 0);
  EXPECT_EQ(door_->change(change), 0);
  EXPECT_EQ(value_of("a"), "2");
}

TEST_F(ObjectClusterTest, ARepeatedChangeHasTheSecondAnswer) {
  cluster_.repeat(100);
  EXPECT_EQ(door_->change(making("a", 1)), EEXIST);
  EXPECT_EQ(door_->change(setting("a", 1, "1")), 0);
  EXPECT_EQ(value_of("a"), "1");
}

TEST_F(ObjectClusterTest, WhatAClientSentBeforeItWasCutOffArrivesLateOrNever) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  cluster_.cut_off(door_->client(), 1, 2);
  EXPECT_EQ(door_->change(setting("a", 1, "1")), 0);
  for (const char* const value : {"2", "3", "4"}) EXPECT_EQ(door_->change(setting("a", 1, value)), ETIMEDOUT);
  ObjectLook found;
  EXPECT_EQ(door_->look("a", found), ETIMEDOUT);
  EXPECT_EQ(value_of("a"), "1");
  EXPECT_EQ(cluster_.deliver(door_->client(), 1), 1U);
  EXPECT_EQ(value_of("a"), "2");
  ASSERT_EQ(other_->change(setting("a", 2, "new")), 0);
  EXPECT_EQ(cluster_.deliver(door_->client(), 9), 0U);
  EXPECT_EQ(value_of("a"), "new");
}

TEST_F(ObjectClusterTest, LateChangesKeepTheOrderOfTheirObjectAlone) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  ASSERT_EQ(door_->change(making("b", 1)), 0);
  bool has_overtaken = false;
  for (int round = 0; round < 20; ++round) {
    cluster_.cut_off(door_->client(), 0, 4);
    for (const char* const value : {"1", "2"}) {
      EXPECT_EQ(door_->change(setting("a", 1, value)), ETIMEDOUT);
      EXPECT_EQ(door_->change(setting("b", 1, value)), ETIMEDOUT);
    }
    EXPECT_EQ(cluster_.deliver(door_->client(), 2), 2U);
    EXPECT_NE(value_of("a") + value_of("b"), "22");
    has_overtaken |= value_of("b") == "2";
    EXPECT_EQ(cluster_.deliver(door_->client(), 9), 2U);
    EXPECT_EQ(value_of("a") + value_of("b"), "22");
    cluster_.reconnect(door_->client());
    for (const char* const object : {"a", "b"}) EXPECT_EQ(door_->change(setting(object, 1, "0")), 0);
  }
  EXPECT_TRUE(has_overtaken);
}

/// With threads that follow a seed.
class ObjectClusterSchedules : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::string value_of(std::string_view object) {
    ObjectLook found;
    return other_->look(object, found) == 0 ? found.attributes["value"] : "-";
  }
  void rest() {
    Mutex mutex(simulation_.scheduler());
    Condition never(simulation_.scheduler());
    const MutexGuard guard(mutex);
    (void)never.wait_for(mutex, std::chrono::milliseconds(1));
  }
  ManualClock clock_;
  SeededScheduler simulation_{GetParam(), clock_};
  ObjectCluster cluster_{simulation_.scheduler(), GetParam()};
  std::unique_ptr<ObjectDoor> door_ = cluster_.make_door();
  std::unique_ptr<ObjectDoor> other_ = cluster_.make_door();
};

TEST_P(ObjectClusterSchedules, LostAnswersAreOfChangesThatArrivedAndLostRequestsOfOthers) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  for (const ObjectCluster::Loss loss : {ObjectCluster::Loss::kRequests, ObjectCluster::Loss::kAnswers}) {
    const bool arrives = loss == ObjectCluster::Loss::kAnswers;
    ASSERT_EQ(other_->change(setting("a", 1, "before")), 0);
    cluster_.lose(door_->client(), loss);
    bool is_answered = false;
    Thread maker = *simulation_.scheduler().start("maker", [&] {
      EXPECT_EQ(door_->change(setting("a", 1, "sent")), 0);
      is_answered = true;
    });
    rest();
    EXPECT_FALSE(is_answered);
    EXPECT_EQ(value_of("a"), arrives ? "sent" : "before");
    std::vector<std::byte> bytes(1);
    std::size_t count = 0;
    EXPECT_EQ(door_->read("a", 0, bytes, count, std::chrono::milliseconds(5)), ETIMEDOUT);
    EXPECT_EQ(other_->change(setting("a", 1, "meanwhile")), 0);
    cluster_.reconnect(door_->client());
    maker = Thread();
    EXPECT_EQ(value_of("a"), "sent") << "it arrives now, or again";
    EXPECT_EQ(door_->read("a", 0, bytes, count, std::chrono::milliseconds(5)), 0);
  }
}

/// Sends a change that arrives twice. When it has arrived once, `client` changes the object. Returns what remains.
std::string value_after_a_repeat(std::uint64_t seed, bool same_client) {
  ManualClock clock;
  SeededScheduler simulation(seed, clock);
  ObjectCluster cluster(simulation.scheduler(), seed);
  const std::unique_ptr<ObjectDoor> door = cluster.make_door();
  const std::unique_ptr<ObjectDoor> other = cluster.make_door();
  const auto value = [&] {
    ObjectLook found;
    EXPECT_EQ(other->look("a", found), 0);
    return found.attributes["value"];
  };
  EXPECT_EQ(door->change(making("a", 1)), 0);
  cluster.repeat(100);
  Thread maker = *simulation.scheduler().start("maker", [&] { EXPECT_EQ(door->change(setting("a", 1, "first")), 0); });
  while (value() != "first") continue;
  cluster.repeat(0);
  EXPECT_EQ((same_client ? door : other)->change(setting("a", 1, "later")), 0);
  maker = Thread();
  return value();
}

TEST(ObjectClusterRepeats, ComeAfterChangesOfOthersAndBeforeLaterOnesOfTheirClientAtTheirObject) {
  std::set<std::string> others;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    others.insert(value_after_a_repeat(seed, false));
    EXPECT_EQ(value_after_a_repeat(seed, true), "later");
  }
  EXPECT_EQ(others, (std::set<std::string>{"first", "later"}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ObjectClusterSchedules, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

TEST_F(ObjectClusterTest, ADiskPastItsReserveDropsWhatMayExceedAndAnswersTheRest) {
  ASSERT_EQ(door_->change(making("a/1", 1)), 0);
  cluster_.fill_reserve([](std::string_view object) { return object.starts_with("a/"); });
  ObjectChange growing = making("a/2", 1);
  EXPECT_EQ(door_->change(growing), ENOSPC);
  growing.may_exceed = true;
  growing.patience = std::chrono::milliseconds(1);
  EXPECT_EQ(door_->change(growing), ETIMEDOUT);
  growing.object = "b";
  EXPECT_EQ(door_->change(growing), 0) << "on another disk";
  ObjectChange sealing = setting("a/1", 2, "sealed");
  sealing.may_exceed = true;
  sealing.patience = std::chrono::milliseconds(1);
  EXPECT_EQ(door_->change(sealing), ETIMEDOUT) << "even if nothing grows";
  sealing.may_exceed = false;
  EXPECT_EQ(door_->change(sealing), 0);
  cluster_.set_full(false);
  growing.object = "a/2";
  EXPECT_EQ(door_->change(growing), 0);
  EXPECT_EQ(cluster_.names(), (std::vector<std::string>{"a/1", "a/2", "b"}));
}

TEST_F(ObjectClusterTest, ABlocklistedClientIsRefused) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  ASSERT_EQ(other_->blocklist(door_->client()), 0);
  EXPECT_EQ(door_->change(setting("a", 1, "1")), ESHUTDOWN);
  EXPECT_EQ(value_of("a"), "");
}

}  // namespace
}  // namespace varve::io::object_cluster_test
