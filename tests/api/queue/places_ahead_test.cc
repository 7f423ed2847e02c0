// Goal: gets that use what an earlier walk saw ahead deliver what walks would, in their order, and never a message twice.
// Method: lists are made and ended by hand; and queues are changed between gets in each way that touches such a list.
#include "api/queue/places_ahead.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/queue/live_queue.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"

namespace varve::test::places_ahead_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr engine::CommitVersion kVersionOfList = 50;
constexpr std::uint64_t kSeeds = effort(60);

std::vector<TimedPlace> places_of(const std::vector<Ticks>& times) {
  std::vector<TimedPlace> places;
  for (const Ticks time : times) places.push_back({time, 1'000 + time});
  return places;
}

/// A list of these times, whose making `meanwhile` disturbs.
PlacesAhead list_of(const std::vector<Ticks>& times, const std::function<void(PlacesAhead&)>& meanwhile = {}) {
  PlacesAhead ahead;
  EXPECT_EQ(ahead.begin().wanted, 0U) << "the first walk";
  const PlacesAhead::Making making = ahead.begin();
  EXPECT_EQ(making.wanted, PlacesAhead::kFew);
  if (meanwhile) meanwhile(ahead);
  ahead.end(making, places_of(times), kVersionOfList);
  return ahead;
}

/// Takes all places that a reader may use.
std::vector<Ticks> taken(PlacesAhead& ahead, engine::CommitVersion version = kVersionOfList, Ticks now = 100) {
  std::vector<Ticks> times;
  while (const TimedPlace* const first = ahead.first(version, now)) {
    times.push_back(first->time);
    ahead.pop();
  }
  return times;
}

TEST(PlacesAhead, AreTakenInTheirOrderByReadersThatAreNotOlder) {
  PlacesAhead ahead = list_of({1, 2, 3});
  EXPECT_EQ(ahead.first(kVersionOfList - 1, 100), nullptr);
  EXPECT_THAT(taken(ahead, kVersionOfList, 2), ElementsAre(1, 2));
  EXPECT_THAT(taken(ahead, kVersionOfList + 1, 3), ElementsAre(3));
}

TEST(PlacesAhead, EndWhenAMessageWaitsAmongThem) {
  PlacesAhead behind = list_of({1, 2, 3});
  behind.note(4);
  EXPECT_THAT(taken(behind), ElementsAre(1, 2, 3));
  for (const Ticks time : {Ticks{1}, Ticks{3}}) {
    PlacesAhead among = list_of({1, 2, 3});
    among.note(time);
    EXPECT_THAT(taken(among), ElementsAre()) << time;
  }
}

TEST(PlacesAhead, EndBeforeAMessageThatCameToWaitDuringTheWalk) {
  PlacesAhead ahead = list_of({1, 2, 3}, [](PlacesAhead& made) { made.note(2); });
  EXPECT_THAT(taken(ahead), ElementsAre(1));
  PlacesAhead forgotten = list_of({1, 2, 3}, [](PlacesAhead& made) { made.forget(); });
  EXPECT_THAT(taken(forgotten), ElementsAre());
}

TEST(PlacesAhead, AreSeenByOneWalkAtATimeAndNotWhileSomeAreLeft) {
  PlacesAhead ahead = list_of({1}, [](PlacesAhead& made) { EXPECT_EQ(made.begin().wanted, 0U); });
  EXPECT_EQ(ahead.begin().wanted, 0U);
  (void)taken(ahead);
  const PlacesAhead::Making making = ahead.begin();
  EXPECT_EQ(making.wanted, PlacesAhead::kFew);
  ahead.give_up(making);
  EXPECT_EQ(ahead.begin().wanted, PlacesAhead::kFew);
}

TEST(PlacesAhead, AreSeenByALaterWalkIfTheFirstOneRests) {
  PlacesAhead ahead = list_of({});
  EXPECT_EQ(ahead.begin().wanted, 0U);
  const PlacesAhead::Making resting = ahead.begin();
  ASSERT_GT(resting.wanted, 0U);
  for (std::size_t walk = 0; walk < PlacesAhead::kBesideMax; ++walk) EXPECT_EQ(ahead.begin().wanted, 0U);
  const PlacesAhead::Making later = ahead.begin();
  ASSERT_GT(later.wanted, 0U);
  ahead.note(7);
  ahead.end(resting, places_of({1}), kVersionOfList);
  EXPECT_THAT(taken(ahead), ElementsAre()) << "its list is too old";
  ahead.give_up(resting);
  ahead.end(later, places_of({5, 8}), kVersionOfList);
  EXPECT_THAT(taken(ahead), ElementsAre(5));
}

TEST(PlacesAhead, BecomeMoreWithEachFullListAndRareWhereNoneAreSeen) {
  PlacesAhead ahead = list_of({1, 2, 3, 4, 5, 6, 7, 8});
  (void)taken(ahead);
  const auto expect_empty_list = [&ahead] {
    const PlacesAhead::Making making = ahead.begin();
    EXPECT_EQ(making.wanted, 2 * PlacesAhead::kFew);
    ahead.end(making, {}, kVersionOfList);
  };
  expect_empty_list();
  EXPECT_EQ(ahead.begin().wanted, 0U);
  expect_empty_list();
  for (int walk = 0; walk < 3; ++walk) EXPECT_EQ(ahead.begin().wanted, 0U);
  expect_empty_list();
}

class ClaimsOfPlacesAhead : public ::testing::Test {
 protected:
  ClaimsOfPlacesAhead() {
    for (int walk = 0; walk < 2; ++walk) {
      LiveQueue::Making making(live_);
      if (making.places_wanted() > 0) making.end(places_of({1, 2, 3}), kVersionOfList);
    }
  }
  std::optional<Ticks> claimed(LiveQueue::Claims& claims) {
    const std::optional<TimedPlace> place = claims.claim_ahead(kVersionOfList, 100);
    return place ? std::optional(place->time) : std::nullopt;
  }

  QueueBench bench_;
  LiveQueue live_{bench_.env, format::make_table_id(1, 1), QueueTraits(), MessageIdentity(0), OpenMoment()};
};

TEST_F(ClaimsOfPlacesAhead, AreOfDifferentMessages) {
  LiveQueue::Claims walker(live_);
  ASSERT_TRUE(walker.try_claim(1'002));
  LiveQueue::Claims one(live_);
  LiveQueue::Claims other(live_);
  EXPECT_EQ(claimed(one), 1U);
  EXPECT_FALSE(other.try_claim(1'001));
  EXPECT_EQ(claimed(other), 3U);
  EXPECT_EQ(claimed(other), std::nullopt);
  one.let_go_of_newest();
  EXPECT_TRUE(other.try_claim(1'001));
}

TEST_F(ClaimsOfPlacesAhead, EndTheListUnlessTheirMessagesHaveLeft) {
  {
    LiveQueue::Claims done(live_);
    EXPECT_EQ(claimed(done), 1U);
    done.settle();
  }
  {
    LiveQueue::Claims failed(live_);
    EXPECT_EQ(claimed(failed), 2U);
  }
  LiveQueue::Claims next(live_);
  EXPECT_EQ(claimed(next), std::nullopt);
}

TEST_F(ClaimsOfPlacesAhead, ThatFailDuringAWalkRefuseItsList) {
  std::optional<LiveQueue::Claims> failing(live_);
  for (int i = 0; i < 3; ++i) (void)claimed(*failing);
  LiveQueue::Making making(live_);
  ASSERT_GT(making.places_wanted(), 0U);
  failing.reset();
  making.end(places_of({2, 3}), kVersionOfList);
  LiveQueue::Claims next(live_);
  EXPECT_EQ(claimed(next), std::nullopt);
}

/// A queue with the messages "0" to "39", of which gets took the first three. So a list of those that follow is known.
class QueuesWithPlacesAhead : public ::testing::Test {
 protected:
  QueuesWithPlacesAhead() {
    for (int i = 0; i < 40; ++i) sent_.push_back(sent(queue_, std::to_string(i), {.ttl = i % 10 == 4 ? 60s : 24h}));
    for (int i = 0; i < 3; ++i) EXPECT_THAT(got_texts(queue_, {.hold = 1h}), ElementsAre(std::to_string(i)));
  }
  /// Gets one message after another.
  std::vector<std::string> rest() {
    std::vector<std::string> texts;
    for (;;) {
      const std::vector<std::string> next = got_texts(queue_, {.hold = 1h});
      if (next.empty()) return texts;
      texts.push_back(next.front());
    }
  }
  std::vector<std::string> numbers_but(const std::set<int>& without) {
    std::vector<std::string> texts;
    for (int i = 3; i < 40; ++i) {
      if (!without.contains(i)) texts.push_back(std::to_string(i));
    }
    return texts;
  }

  QueueBench bench_;
  Queue queue_ = bench_.queue();
  std::vector<SentMessage> sent_;
};

TEST_F(QueuesWithPlacesAhead, QM15_DeliverInTheOrderOfArrival) {
  EXPECT_EQ(rest(), numbers_but({}));
}

TEST_F(QueuesWithPlacesAhead, DeliverNoExpiredMessage) {
  bench_.pass(61s);
  EXPECT_EQ(rest(), numbers_but({4, 14, 24, 34}));
}

TEST_F(QueuesWithPlacesAhead, QX07_DeliverNoDeletedMessage) {
  for (const std::size_t i : {3U, 4U, 5U, 6U, 7U, 8U, 20U}) {
    EXPECT_EQ(said(queue_.remove(sent_[i].id, sent_[i].receipt)), kDone);
  }
  EXPECT_EQ(rest(), numbers_but({3, 4, 5, 6, 7, 8, 20}));
}

TEST_F(QueuesWithPlacesAhead, DeliverAMessageThatWasHiddenWhenItIsVisibleAgain) {
  EXPECT_TRUE(queue_.update(sent_[5].id, sent_[5].receipt, 10min).ok());
  EXPECT_EQ(rest(), numbers_but({5}));
  bench_.pass(11min);
  EXPECT_THAT(rest(), ElementsAre("5"));
}

TEST_F(QueuesWithPlacesAhead, DeliverWhatBatchesLeave) {
  EXPECT_EQ(got_texts(queue_, {.count = 5, .hold = 1h}), (std::vector<std::string>{"3", "4", "5", "6", "7"}));
  EXPECT_EQ(rest(), numbers_but({3, 4, 5, 6, 7}));
}

TEST_F(QueuesWithPlacesAhead, QM38_DeliverNothingFromBeforeAClear) {
  EXPECT_EQ(said(queue_.clear()), kDone);
  (void)sent(queue_, "new");
  EXPECT_THAT(rest(), ElementsAre("new"));
}

TEST(QueuesWithLargePlacesAhead, DeliverTextsThatHaveRowsOfTheirOwn) {
  QueueBench bench;
  Queue queue = bench.queue();
  for (char c = 'a'; c < 'a' + 20; ++c) (void)sent(queue, std::string(20'000, c));
  for (char c = 'a'; c < 'a' + 20; ++c) EXPECT_THAT(got_texts(queue), ElementsAre(std::string(20'000, c)));
}

// A producer may draw its time before a walk, and publish after it. The next get takes that message first.
TEST(QueuesWithPlacesAheadBesideProducers, QM15_DeliverTheOldestMessageThatWasAcknowledged) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueBench bench(seed, OneThreadAtATime{});
    Queue queue = bench.queue();
    constexpr int kOfEach = 20;
    // Times of arrival. The scheduler runs one thread at a time.
    std::set<std::uint64_t> acknowledged;
    std::set<std::uint64_t> delivered;
    const auto producer = [&, queue]() mutable {
      for (int i = 0; i < kOfEach; ++i) {
        const std::uint64_t inserted = sent(queue, "text").inserted.ticks;
        if (!delivered.contains(inserted)) acknowledged.insert(inserted);
      }
    };
    const auto consumer = [&, queue]() mutable {
      for (int left = 3 * kOfEach; left > 0;) {
        const std::set<std::uint64_t> before = acknowledged;
        for (const ReceivedMessage& message : got(queue, {.hold = 1h})) {
          --left;
          EXPECT_LE(message.inserted.ticks, before.empty() ? message.inserted.ticks : *before.begin());
          EXPECT_TRUE(delivered.insert(message.inserted.ticks).second);
          acknowledged.erase(message.inserted.ticks);
        }
        bench.machine.scheduler().yield();
      }
    };
    run_together(bench, {producer, producer, producer, consumer});
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::places_ahead_test
