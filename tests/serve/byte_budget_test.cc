// Goal: the memory of all connections stays within one budget for any requests, and stalled connections are cut off
// first.
// Method: shares of many sizes, uses and addresses in a random order, compared with the sums that must hold.
#include "tools/serve/transport/byte_budget.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve::serve::byte_budget_test {
namespace {

using Use = ByteBudget::Use;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class Client final : public ByteBudget::Owner {
 public:
  Client(ByteBudget& budget, const std::string& address) : share(budget, address, *this) {}
  bool cut_off() noexcept override {
    ++cuts;
    return true;
  }
  void look_again() noexcept override { ++looks; }
  int cuts = 0;
  int looks = 0;
  ByteBudget::Share share;
};

const ByteBudget::Clock::time_point kNow{std::chrono::hours(1)};

TEST(ByteBudget, OneAddressHasHalf) {
  ByteBudget budget(8 * kMiB);
  Client first(budget, "a");
  Client second(budget, "a");
  Client other(budget, "b");
  EXPECT_TRUE(first.share.take(Use::kBody, 4 * kMiB, kNow));
  EXPECT_FALSE(second.share.take(Use::kBody, 1, kNow));
  EXPECT_TRUE(second.share.is_used_up());
  EXPECT_FALSE(other.share.is_used_up());
  EXPECT_TRUE(other.share.take(Use::kBody, 4 * kMiB, kNow));
  first.share.give_back();
  EXPECT_TRUE(second.share.take(Use::kBody, 4 * kMiB, kNow));
}

TEST(ByteBudget, ClientsThatNobodyKnowsHaveAnEighthTogether) {
  ByteBudget budget(8 * kMiB);
  std::vector<std::unique_ptr<Client>> clients;
  int taken = 0;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<Client>(budget, std::to_string(i)));
    if (clients.back()->share.take(Use::kHeaders, kMiB / 8, kNow)) ++taken;
  }
  EXPECT_EQ(taken, 8);
  Client known(budget, "known");
  EXPECT_TRUE(known.share.take(Use::kBody, 4 * kMiB, kNow));
}

TEST(ByteBudget, WhoStandsStillIsCutOffAndNobodyElse) {
  ByteBudget budget(8 * kMiB);
  Client still(budget, "a");
  Client moving(budget, "b");
  Client served(budget, "c");
  Client next(budget, "d");
  EXPECT_TRUE(still.share.take(Use::kBody, 3 * kMiB, kNow));
  EXPECT_TRUE(moving.share.take(Use::kBody, 3 * kMiB, kNow));
  EXPECT_TRUE(served.share.take(Use::kBody, 2 * kMiB, kNow));
  served.share.is_served();
  EXPECT_FALSE(next.share.take(Use::kBody, kMiB, kNow));
  EXPECT_EQ(still.cuts, 0) << "it has not stood still long enough";
  const auto later = kNow + ByteBudget::kStallTime;
  still.share.moved(1, later);  // an occasional byte is no progress
  moving.share.moved(ByteBudget::kFreeBytes, later);
  EXPECT_FALSE(next.share.take(Use::kBody, kMiB, later));
  EXPECT_FALSE(next.share.take(Use::kBody, kMiB, later)) << "it has not gone yet";
  EXPECT_EQ(still.cuts, 1);
  EXPECT_EQ(moving.cuts + served.cuts, 0);
  still.share.give_back();
  EXPECT_TRUE(next.share.take(Use::kBody, kMiB, later));
}

TEST(ByteBudget, BX03_StreamsOfAnAddressLeaveAQuarterToItsAnswers) {
  ByteBudget budget(8 * kMiB);
  Client stream(budget, "a");
  Client late(budget, "a");
  Client reader(budget, "a");
  EXPECT_TRUE(stream.share.take_turn(0, 3 * kMiB, kNow));
  EXPECT_FALSE(late.share.take_turn(0, 1, kNow));
  EXPECT_TRUE(reader.share.take(Use::kAnswer, kMiB, kNow));
  EXPECT_FALSE(late.share.take_turn(0, 1, kNow + ByteBudget::kStallTime));
  EXPECT_EQ(stream.cuts, 0) << "nobody is cut off for a stream";
}

TEST(ByteBudget, BX03_StreamsAreServedInTheOrderInWhichTheyCame) {
  ByteBudget budget(8 * kMiB);
  Client first(budget, "a");
  Client large(budget, "a");
  Client small(budget, "a");
  Client other(budget, "b");
  EXPECT_TRUE(first.share.take_turn(0, 2 * kMiB, kNow));
  EXPECT_FALSE(large.share.take_turn(0, 2 * kMiB, kNow));
  EXPECT_FALSE(small.share.take_turn(0, kMiB, kNow)) << "it has room, but came later";
  EXPECT_TRUE(other.share.take_turn(0, 2 * kMiB, kNow)) << "another address has room of its own";
  first.share.give_back();
  EXPECT_EQ(large.looks, 1);
  EXPECT_EQ(small.looks, 0);
  EXPECT_FALSE(small.share.take_turn(0, kMiB, kNow));
  EXPECT_TRUE(large.share.take_turn(0, 2 * kMiB, kNow));
  EXPECT_EQ(small.looks, 1);
  EXPECT_TRUE(small.share.take_turn(0, kMiB, kNow));
}

TEST(ByteBudget, BX03_ALongStreamGivesWayToOneThatWaits) {
  ByteBudget budget(8 * kMiB);
  Client running(budget, "a");
  Client waiting(budget, "a");
  EXPECT_TRUE(running.share.take_turn(0, 3 * kMiB, kNow));
  EXPECT_TRUE(running.share.take_turn(1, 3 * kMiB, kNow)) << "nobody waits";
  EXPECT_FALSE(waiting.share.take_turn(0, 2 * kMiB, kNow));
  EXPECT_FALSE(running.share.take_turn(1, 3 * kMiB, kNow));
  EXPECT_EQ(budget.bytes(), 1U);
  EXPECT_TRUE(waiting.share.take_turn(0, 2 * kMiB, kNow));
}

TEST(ByteBudget, BX03_StreamsThatHoldALittleDoNotWaitForEachOther) {
  ByteBudget budget(8 * kMiB);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(budget, "a"));
    EXPECT_TRUE(clients.back()->share.take_turn(0, kMiB, kNow));
  }
  Client next(budget, "a");
  EXPECT_FALSE(next.share.take_turn(0, kMiB, kNow));
  EXPECT_FALSE(clients[0]->share.take_turn(kMiB, 2 * kMiB, kNow));
  EXPECT_FALSE(clients[1]->share.take_turn(kMiB, 2 * kMiB, kNow));
  EXPECT_FALSE(clients[2]->share.take_turn(kMiB, 2 * kMiB, kNow)) << "the first of them comes first";
  EXPECT_EQ(clients[0]->looks, 1);
  EXPECT_TRUE(clients[0]->share.take_turn(kMiB, 2 * kMiB, kNow)) << "its progress releases memory";
  EXPECT_FALSE(clients[1]->share.take_turn(kMiB, 2 * kMiB, kNow));
  clients[0]->share.give_back();
  EXPECT_FALSE(clients[1]->share.take_turn(kMiB, 2 * kMiB, kNow)) << "the one that came first has room now";
  EXPECT_TRUE(next.share.take_turn(0, kMiB, kNow));
  EXPECT_FALSE(clients[1]->share.take_turn(kMiB, 2 * kMiB, kNow));
  next.share.give_back();
  EXPECT_TRUE(clients[1]->share.take_turn(kMiB, 2 * kMiB, kNow));
}

TEST(ByteBudget, BX03_AStreamThatIsLargerThanTheRoomOfAnAddressGoesAlone) {
  ByteBudget budget(8 * kMiB);
  Client running(budget, "a");
  Client large(budget, "b");
  Client late(budget, "c");
  EXPECT_TRUE(running.share.take_turn(0, kMiB, kNow));
  EXPECT_FALSE(large.share.take_turn(0, 5 * kMiB, kNow));
  EXPECT_FALSE(late.share.take_turn(0, kMiB, kNow)) << "otherwise the large one would wait for ever";
  running.share.give_back();
  EXPECT_TRUE(large.share.take_turn(0, 5 * kMiB, kNow));
  EXPECT_TRUE(late.share.take_turn(0, kMiB, kNow));
}

TEST(ByteBudget, MemoryThatRanOutCutsNobodyOff) {
  struct Stuck final : ByteBudget::Owner {
    bool cut_off() noexcept override { return ++tries > 1; }
    int tries = 0;
  } stuck;
  ByteBudget budget(8 * kMiB);
  ByteBudget::Share still(budget, "a", stuck);
  Client next(budget, "b");
  Client served(budget, "c");
  EXPECT_TRUE(still.take(Use::kBody, 4 * kMiB, kNow));
  EXPECT_TRUE(served.share.take(Use::kBody, kMiB, kNow));
  served.share.is_served();
  const auto later = kNow + ByteBudget::kStallTime;
  EXPECT_FALSE(next.share.take(Use::kBody, 4 * kMiB, later));
  EXPECT_FALSE(next.share.take(Use::kBody, 4 * kMiB, later));
  EXPECT_EQ(stuck.tries, 2) << "it is asked again";
}

TEST(ByteBudget, SumsHoldInAnyOrder) {
  constexpr std::uint64_t kMax = 16 * kMiB;
  ByteBudget budget(kMax);
  std::mt19937 draw(1);
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::uint64_t> held(40, 0);
  for (std::size_t i = 0; i < held.size(); ++i) {
    clients.push_back(std::make_unique<Client>(budget, std::to_string(i % 5)));
  }
  auto now = kNow;
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t i = draw() % held.size();
    const std::uint64_t bytes = 1 + draw() % (4 * kMiB);
    now += std::chrono::milliseconds(draw() % 50);
    if (draw() % 3 == 0) {
      clients[i]->share.give_back();
      held[i] = 0;
    } else if (clients[i]->share.take(draw() % 4 == 0 ? Use::kHeaders : Use::kBody, bytes, now)) {
      held[i] = bytes;
    }
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> of_address(5, 0);
    for (std::size_t k = 0; k < held.size(); ++k) {
      sum += held[k];
      of_address[k % 5] += held[k];
    }
    ASSERT_EQ(budget.bytes(), sum);
    ASSERT_LE(sum, kMax);
    for (const std::uint64_t one : of_address) ASSERT_LE(one, kMax / 2);
  }
  clients.clear();
  EXPECT_EQ(budget.bytes(), 0U);
}

}  // namespace
}  // namespace varve::serve::byte_budget_test
