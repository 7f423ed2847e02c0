// Goal: the walks over the work that is left do each piece of work that can be done, and leave the machine to users
// (BX-30, BX-31, BX-33).
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

  /// Writes a list with one staged block, whose last block was staged at `last`. Its name takes `name_bytes`.
  void put_staged(std::uint64_t generation, Ticks last, std::size_t name_bytes) {
    std::string name(name_bytes, ' ');
    for (char& letter : name) letter = static_cast<char>('a' + machine_.random.next() % 26);
    const StagedList list{generation, 1, 1, last};
    write({{content_head_key(kContents, generation), encode_content_head({ContentKind::kPlain, 1, 4, {}})},
           {content_part_key(kContents, generation, 0), encode_part(generation, 0, "text")},
           {staged_block_key(kContainer, generation, "1"), encode_staged_block({{generation, 4}})},
           {staged_list_key(kContainer, name), encode_staged_list(list)},
           {work_key({WorkKind::kExpiry, last, generation}), encode_expiry({kContainer, name})}});
  }
  std::uint64_t blocks_touched() const {
    const auto figures = engine_->statistics();
    return figures.block_reads + figures.cache.hits;
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

// A walk over all lists would touch each of their blocks in every round. Larger files may have more indexes on the way to
// a row.
TEST_F(BlobKeeperWalks, BX30_ExpiredBlocksCostAWalkNoMoreBesideManyThatAreKept) {
  constexpr std::uint64_t kOfLargerFiles = 40;
  constexpr std::size_t kNameBytes = 900;
  std::uint64_t of_few = 0;
  std::uint64_t generation = 0;
  for (const std::uint64_t kept : {std::uint64_t{3}, std::uint64_t{1'000}}) {
    for (std::uint64_t i = 0; i < kept; ++i) put_staged(++generation, backend_.time(), kNameBytes);
    const ContentId expired = ++generation;
    put_staged(expired, 1, kNameBytes);
    ASSERT_TRUE(engine_->compact().ok());
    const std::uint64_t before = blocks_touched();
    backend_.commits_.clear();
    walk_for(10s);
    const std::uint64_t touched = blocks_touched() - before;
    EXPECT_EQ(owners_of(expired), std::nullopt);
    EXPECT_FALSE(has(content_part_key(kContents, expired, 0))) << "its bytes are dead";
    EXPECT_EQ(count(format::encode_table(kWorkTable)), generation - 1 - (of_few == 0 ? 0 : 1)) << "the others wait";
    EXPECT_LE(backend_.commits_.size(), 4U) << "the list, its block, and its content";
    if (of_few > 0) {
      EXPECT_LE(touched, of_few + kOfLargerFiles);
    }
    of_few = touched;
    EXPECT_GT(of_few, 0U);
  }
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
