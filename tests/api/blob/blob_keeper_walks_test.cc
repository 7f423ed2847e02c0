// Goal: the walks over the work that is left do each piece of work that can be done, and leave the machine to users
// (BX-31, BX-33).
// Method: rows are written as a store has them, some of them wrong. A keeper walks in simulated time.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "api/blob/blob_keeper.h"
#include "api/catalog/catalog_rows.h"
#include "tests/api/blob/work_bench.h"

namespace varve::test::blob_keeper_walks_test {
namespace {

using namespace std::chrono_literals;

class Lines final : public engine::EventSink {
 public:
  void on_health(Health /*health*/, const Status& /*cause*/) noexcept override {}
  void on_log(std::string_view /*line*/) noexcept override { ++count_; }
  int count_ = 0;
};

class BlobKeeperWalks : public testing::Test, protected WorkBench {
 protected:
  BlobKeeperWalks() : WorkBench(OneThreadAtATime{}) {
    put(account_row_key("shop"), encode_account_row(kAccountNumber));
  }

  /// Lets a keeper walk for this time.
  void walk_for(std::chrono::milliseconds time) {
    const Result<std::shared_ptr<engine::PoolThreads>> threads = engine::PoolThreads::start(env_, 1);
    ASSERT_TRUE(threads.ok()) << threads.status().to_string();
    BlobKeeper keeper(*threads, backend_, board_, pins_, lines_);
    keeper.begin();
    const io::MutexGuard guard(mutex_);
    static_cast<void>(condition_.wait_for(mutex_, time));
  }

  const io::Env env_ = machine_.env();
  ReaderPins pins_{env_, std::chrono::hours(1)};
  Lines lines_;
  io::Mutex mutex_{machine_.scheduler()};
  io::Condition condition_{machine_.scheduler()};
};

TEST_F(BlobKeeperWalks, BX31_AnAccountsRowThatCannotBeReadKeepsNoWorkOfOtherAccounts) {
  const std::string broken = account_row_key("broken");
  put(broken, "no row");
  put_content(5, 0);
  put_work(leaving(5));
  const Work unknown{WorkKind::kLeaving, 6, 99};
  put_work(unknown);
  walk_for(10s);
  EXPECT_FALSE(has_work(leaving(5)));
  EXPECT_TRUE(has_work(unknown)) << "its account may be the one that cannot be read";
  EXPECT_GE(lines_.count_, 1);
  remove(broken);
  walk_for(10s);
  EXPECT_FALSE(has_work(unknown)) << "its account is gone";
}

TEST_F(BlobKeeperWalks, BX31_WorkOfADroppedAccountGoes) {
  for (std::uint64_t content = 1; content <= 40; ++content) {
    put_work({WorkKind::kFilling, content, 99});
    put_work({WorkKind::kLeaving, content, 98});
  }
  walk_for(10s);
  EXPECT_EQ(count(format::encode_table(kWorkTable)), 0U);
}

// The drop of the account retired all its ids, and each retired id costs memory and bytes of the manifest.
TEST_F(BlobKeeperWalks, BX32_TheEndOfAContainerOfADroppedAccountRetiresNoId) {
  const format::TableId gone = format::make_table_id(99, 5);
  const Work dropped{WorkKind::kContainer, gone, fence_of(gone)};
  put_work(dropped);
  walk_for(10s);
  EXPECT_FALSE(has_work(dropped));
  ASSERT_EQ(backend_.commits_.size(), 1U);
  EXPECT_FALSE(backend_.commits_[0].frees_space);
}

TEST_F(BlobKeeperWalks, TheRestOfARoundWaitsOnAFullDisk) {
  for (ContentId content = 1; content <= 40; ++content) {
    put_content(content, 0);
    put_work(leaving(content));
  }
  backend_.refused_ = Code::kNoSpace;
  walk_for(10s);
  EXPECT_EQ(backend_.commits_.size(), 1U);
  backend_.refused_.reset();
  walk_for(10s);
  EXPECT_EQ(count(format::encode_table(kWorkTable)), 0U);
}

TEST_F(BlobKeeperWalks, BX33_WhileUsersArePacedOneWalkIsMadeASecond) {
  for (ContentId content = 1; content <= 200; ++content) {
    put_content(content, 0);
    put_work(leaving(content));
  }
  backend_.is_pacing_ = true;
  walk_for(3'500ms);
  EXPECT_GE(backend_.commits_.size(), 16U) << "it goes on";
  EXPECT_LE(backend_.commits_.size(), 64U) << "a walk does 16 parts";
  backend_.is_pacing_ = false;
  walk_for(10s);
  EXPECT_EQ(count(format::encode_table(kWorkTable)), 0U);
}

}  // namespace
}  // namespace varve::test::blob_keeper_walks_test
