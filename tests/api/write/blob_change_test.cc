// Goal: a change of a blob whose account is dropped meanwhile is told that the container is gone, not that it is damaged.
// Method: the plan of a verb drops the account, and its judgement meets what a flush after the drop may leave.
#include "api/write/blob_change.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/core/container_state.h"
#include "tests/api/blob/blob_bench.h"

namespace varve::blob_change_test {
namespace {

using namespace test;

class BlobChanges : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<StoreCore>> opened = StoreCore::open(kStorePath, bench_.options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    core_ = *std::move(opened);
    create();
  }
  void TearDown() override {
    container_.reset();
    if (core_) {
      EXPECT_EQ(said(core_->close()), kFine);
    }
  }
  void create() {
    EXPECT_EQ(said(core_->catalog().create_account(kAccount)), kFine);
    const TableName name{std::string(kAccount), "photos", "photos"};
    EXPECT_EQ(said(core_->catalog().create_container(name, {})), kFine);
    container_ = Container::State::named(core_, name);
  }
  void drop() { EXPECT_EQ(said(core_->catalog().drop_account(kAccount)), kFine); }

  /// Commits a verb that calls `meanwhile` between its first plan and its judgement, which finds damage.
  Status change(const std::function<void()>& meanwhile) {
    const std::shared_ptr<Container::State> used = container_;
    BlobVerb verb;
    verb.name = "a";
    int plans = 0;
    verb.plan = [&](const ResolvedTable& /*at*/, const BlobRow* /*row*/, BlobPlan& /*plan*/) {
      if (++plans == 1) meanwhile();
      return Status();
    };
    verb.judge = [&](BlobDraft& draft) -> Refusal {
      if (plans == 1) return Status::corruption("a content that a blob names is missing");
      draft.replace(BlobRow());
      return {};
    };
    return commit_blob(*used, verb).status();
  }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  std::shared_ptr<Container::State> container_;
};

TEST_F(BlobChanges, DamageIsReported) {
  EXPECT_EQ(change([] {}).code(), Code::kCorruption);
}

TEST_F(BlobChanges, TheRemnantsOfADroppedAccountAreNoDamage) {
  EXPECT_EQ(said(change([&] { drop(); })), kContainerGone);
}

TEST_F(BlobChanges, TheRemnantsOfARecreatedAccountAreNoDamage) {
  const auto recreate = [&] {
    drop();
    create();
  };
  EXPECT_EQ(said(change(recreate)), kFine);
}

}  // namespace
}  // namespace varve::blob_change_test
