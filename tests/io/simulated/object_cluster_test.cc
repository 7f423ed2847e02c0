// The model of RADOS: what a change requires, and what may happen to it on its way.
#include "io/simulated/object_cluster.h"

#include <cerrno>

#include <gtest/gtest.h>

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
