// Goal: each day gets two rows about the capacity of an account's blobs, if the account asks for metrics of blobs.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/analytics_bench.h"

namespace varve::serve::blob_capacity_test {
namespace {

using namespace test;

constexpr std::string_view kCapacity = "$MetricsCapacityBlob";
constexpr std::string_view kToday = "20260303T0000";

class BlobCapacityOfDay : public ::testing::Test {
 protected:
  /// Makes a container with blobs of this content.
  void fill(const std::string& container, int blobs, const std::string& content) {
    Result<Container> made = bench_.store().create_container(kAccount, container);
    ASSERT_TRUE(made.ok());
    BlobWriteOptions options;
    options.durability = Durability::kBuffered;
    for (int i = 0; i < blobs; ++i) ASSERT_TRUE(made->put(std::to_string(i), content, options).ok());
  }
  std::int64_t figure(std::string_view property, std::string_view row = "data", std::string_view day = kToday) {
    return bench_.count(kCapacity, day, property, row);
  }
  /// Counts until a call has nothing left to do.
  void count(DateTime now) {
    bench_.analytics->update(now);
    for (int i = 0; i < 100 && bench_.analytics->is_writing(); ++i) bench_.analytics->write(now);
  }
  void want(const MetricsProperties& hour) { bench_.want(hour, {}, StorageService::kBlobs); }

  AnalyticsBench bench_;
};

TEST_F(BlobCapacityOfDay, AM04_ADayHasARowForDataAndOneForLogs) {
  fill("photos", 3, "12345");
  fill("texts", 1, std::string(100'000, 'x'));
  fill("empty", 0, "");
  bench_.want_log({true, true, true, std::nullopt});
  bench_.analytics->update(clock("10:00:00"));
  EXPECT_EQ(bench_.insert("1"), "201");
  bench_.analytics->write(bench_.now);
  bench_.want_log({});
  want({true, false, std::nullopt});
  count(clock("10:20:00"));
  EXPECT_EQ(figure("Capacity"), 100'015);
  EXPECT_EQ(figure("ContainerCount"), 3);
  EXPECT_EQ(figure("ObjectCount"), 4);
  EXPECT_GT(figure("Capacity", "analytics"), 100);
  EXPECT_EQ(figure("ContainerCount", "analytics"), 1);
  EXPECT_EQ(figure("ObjectCount", "analytics"), 1);
}

TEST_F(BlobCapacityOfDay, AM04_ADayIsCountedOnceAlsoByTwoServers) {
  fill("photos", 1, "12345");
  want({true, false, std::nullopt});
  count(clock("10:20:00"));
  fill("later", 1, "12345");
  count(clock("10:21:00"));
  bench_.begin();
  count(clock("23:00:00"));
  EXPECT_EQ(figure("ObjectCount"), 1);
  count(at("2026-03-04T00:00:00Z"));
  EXPECT_EQ(figure("ObjectCount", "data", "20260304T0000"), 2);
}

TEST_F(BlobCapacityOfDay, AM04_ACountOfManyContainersTakesSeveralSteps) {
  for (int i = 0; i < 50; ++i) fill("photos" + std::to_string(i), 2, "12345");
  want({true, false, std::nullopt});
  bench_.analytics->update(clock("10:20:00"));
  EXPECT_TRUE(bench_.analytics->is_writing());
  EXPECT_EQ(figure("ObjectCount"), -1);
  EXPECT_TRUE(bench_.store().drop_container(kAccount, "photos49").ok()) << "a container may go meanwhile";
  count(clock("10:20:00"));
  EXPECT_EQ(figure("ObjectCount"), 98);
  EXPECT_EQ(figure("Capacity"), 490);
}

TEST_F(BlobCapacityOfDay, AM04_AM07_OnlyIfItIsAskedForAndForItsRetention) {
  fill("photos", 1, "12345");
  count(clock("10:20:00"));
  EXPECT_EQ(figure("Capacity"), -1);
  want({true, false, 2});
  count(clock("10:21:00"));
  EXPECT_EQ(figure("Capacity"), 5);
  count(at("2026-03-05T10:22:00Z"));
  EXPECT_EQ(figure("Capacity"), 5);
  count(at("2026-03-06T10:22:00Z"));
  EXPECT_EQ(figure("Capacity"), -1);
}

}  // namespace
}  // namespace varve::serve::blob_capacity_test
