// Owns: the promises of engine/base/name_removal.h.
#include "engine/base/name_removal.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/rados_file_system.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/object_cluster.h"
#include "tests/support/allocation_counter.h"

namespace varve::engine::name_removal_test {
namespace {

class NameRemovalTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = files_.open_directory("/");
    ASSERT_TRUE(opened.ok());
    directory_ = *std::move(opened);
    for (const char* const name : {"1", "2"}) ASSERT_TRUE(directory_->create(name).ok());
    removal_ = std::make_unique<NameRemoval>(scheduler_, *directory_);
  }
  std::vector<std::string> names() { return files_.snapshot().file_names("/"); }

  using Names = std::vector<std::string>;
  io::Scheduler scheduler_;
  io::MemoryFileSystem files_;
  std::unique_ptr<io::Directory> directory_;
  std::unique_ptr<NameRemoval> removal_;
};

TEST_F(NameRemovalTest, IsAtOnceWhileNobodyHolds) {
  removal_->remove("1");
  EXPECT_EQ(names(), Names{"2"});
}

TEST_F(NameRemovalTest, WaitsForTheLastHold) {
  NameRemoval::Hold first = removal_->hold();
  NameRemoval::Hold second = removal_->hold();
  removal_->remove("1");
  first = NameRemoval::Hold();
  EXPECT_EQ(names(), (Names{"1", "2"}));
  NameRemoval::Hold moved = std::move(second);
  removal_->remove("2");
  EXPECT_EQ(names(), (Names{"1", "2"}));
  moved = NameRemoval::Hold();
  EXPECT_TRUE(names().empty());
}

TEST_F(NameRemovalTest, OfANameThatIsGoneIsNothing) {
  removal_->remove("3");
  EXPECT_EQ(names(), (Names{"1", "2"}));
}

// The engine releases files where nothing may be thrown. A removal in a cluster allocates.
TEST(NameRemovalWithoutMemory, LeavesTheNameAndThrowsNothing) {
  test::exempt_allocations(io::inside_object_cluster);
  io::Scheduler scheduler;
  io::ManualClock clock;
  io::SeededRandom random(1);
  io::ObjectCluster cluster(scheduler, 1);
  const std::unique_ptr<io::ObjectDoor> door = cluster.make_door();
  io::RadosOptions options;
  options.renewal_time = std::chrono::hours(1);
  io::RadosFileSystem files("pool", *door, clock, random, scheduler, options);
  ASSERT_TRUE(files.create_directory("rados:pool/store", {"test"}).ok());
  const std::unique_ptr<io::Directory> directory = *files.open_directory("rados:pool/store");
  const auto lock = directory->lock("LOCK", io::LockMode::kExclusive, std::chrono::milliseconds(0));
  ASSERT_TRUE(lock.ok());
  NameRemoval removal(scheduler, *directory);
  for (const bool is_put_off : {false, true}) {
    int failures = 0;
    bool happened = true;
    for (std::uint64_t nth = 1; happened; ++nth) {
      const std::string name = std::to_string(nth) + (is_put_off ? ".put-off" : ".at-once");
      ASSERT_TRUE(directory->create(name).ok());
      NameRemoval::Hold hold;
      if (is_put_off) {
        hold = removal.hold();
        removal.remove(name);
      }
      std::string removed = name;
      {
        const test::AllocationFailure failure(nth);
        if (is_put_off) {
          hold = NameRemoval::Hold();
        } else {
          removal.remove(std::move(removed));
        }
        happened = failure.happened();
      }
      if (happened) ++failures;
    }
    EXPECT_GT(failures, 2);
  }
  EXPECT_TRUE((*lock)->check().ok());
  test::exempt_allocations(nullptr);
}

}  // namespace
}  // namespace varve::engine::name_removal_test
