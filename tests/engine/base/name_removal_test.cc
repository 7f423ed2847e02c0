// Owns: the promises of engine/base/name_removal.h.
#include "engine/base/name_removal.h"

#include <gtest/gtest.h>

#include "io/simulated/memory_file_system.h"

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

}  // namespace
}  // namespace varve::engine::name_removal_test
