// Goal: each rule of queues and messages holds for the embedded store.
// Method: one example or a few for each rule, by a clock that the test moves.
#include "varve/queue.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "varve/limits.h"

namespace varve::test::queue_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Said kOutOfRange{Code::kInvalidArgument, "OutOfRangeQueryParameterValue"};
constexpr Said kInvalidParameter{Code::kInvalidArgument, "InvalidQueryParameterValue"};

/// The engine's clock gives unique values, so it is ahead of the moved clock by as many ticks as it gave at once.
constexpr auto kJustAfter = 1ms;

class Queues : public testing::Test {
 protected:
  QueueBench bench_;
};

TEST(QueueNames, QN01_AreThreeToSixtyThreeSmallLettersDigitsAndInnerHyphens) {
  for (const std::string& name :
       {std::string("abc"), std::string("a-b-c"), std::string("0rders"), std::string(63, 'q')}) {
    EXPECT_EQ(said(check_queue_name(name)), kDone) << name;
  }
}

TEST(QueueNames, QN02_TheErrorTellsLengthFromCharacters) {
  for (const std::string& name : {std::string(), std::string("ab"), std::string(64, 'q')}) {
    EXPECT_EQ(said(check_queue_name(name)), (Said{Code::kInvalidArgument, "OutOfRangeInput"})) << name;
  }
  for (const char* const name : {"Orders", "-abc", "abc-", "a--b", "a_b", "a b", "a|b", "\xC3\xA9tude"}) {
    EXPECT_EQ(said(check_queue_name(name)), (Said{Code::kInvalidArgument, "InvalidResourceName"})) << name;
  }
}

TEST_F(Queues, QN07_VerbsOfAQueueThatIsNotThere) {
  Queue queue = bench_.queue();
  const SentMessage message = sent(queue, "text");
  EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kDone);
  EXPECT_EQ(said(queue.put("text")), kQueueGone);
  EXPECT_EQ(said(queue.get()), kQueueGone);
  EXPECT_EQ(said(queue.peek()), kQueueGone);
  EXPECT_EQ(said(queue.remove(message.id, message.receipt)), kQueueGone);
  EXPECT_EQ(said(queue.update(message.id, message.receipt, 1s)), kQueueGone);
  EXPECT_EQ(said(queue.clear()), kQueueGone);
  EXPECT_EQ(said(queue.figures()), kQueueGone);
  EXPECT_EQ(said(queue.metadata()), kQueueGone);
  EXPECT_EQ(said(queue.set_metadata({})), kQueueGone);
  EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kQueueGone);
  EXPECT_EQ(said(bench_.store->open_queue(kAccount, "orders")), kQueueGone);
  EXPECT_EQ(said(bench_.store->open_queue("nobody", "orders")), (Said{Code::kNotFound, "ResourceNotFound"}));
  EXPECT_EQ(said(bench_.store->create_queue("nobody", "orders")), (Said{Code::kNotFound, "ResourceNotFound"}));
}

TEST_F(Queues, QB01_AreMadeOnce) {
  (void)bench_.queue("orders", {.metadata = {{"Owner", "Ann"}}});
  EXPECT_EQ(said(bench_.store->create_queue(kAccount, "orders")), (Said{Code::kExists, "QueueAlreadyExists"}));
  EXPECT_TRUE(is_same_metadata({{"Owner", "Ann"}, {"b", "2"}}, {{"B", "2"}, {"owner", "Ann"}}));
  EXPECT_FALSE(is_same_metadata({{"Owner", "Ann"}}, {{"owner", "ann"}}));
  EXPECT_FALSE(is_same_metadata({{"Owner", "Ann"}}, {}));
}

TEST_F(Queues, QB02_ADeleteTakesMessagesAndHoldsWithIt) {
  Queue queue = bench_.queue("orders", {.metadata = {{"a", "b"}}});
  (void)sent(queue, "held");
  (void)sent(queue, "waiting");
  const std::vector<ReceivedMessage> held = got(queue);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(said(bench_.store->drop_queue(kAccount, "orders")), kDone);
  Queue again = bench_.queue();
  EXPECT_THAT(peeked(again), IsEmpty());
  EXPECT_EQ(counted(again), 0U);
  EXPECT_THAT(*again.metadata(), IsEmpty());
  EXPECT_EQ(said(again.remove(held.front())), kMessageGone);
  EXPECT_EQ(said(queue.put("through the old handle")), kDone);
  EXPECT_THAT(got_texts(again), ElementsAre("through the old handle"));
}

TEST_F(Queues, QB04_MetadataIsReplacedAsAWhole) {
  Queue queue = bench_.queue("orders", {.metadata = {{"Owner", "Ann"}}});
  EXPECT_EQ(said(queue.set_metadata({{"x", "1"}, {"Y_2", ""}})), kDone);
  EXPECT_THAT(*queue.metadata(), ElementsAre(MetadataPair{"x", "1"}, MetadataPair{"Y_2", ""}));
  EXPECT_EQ(said(queue.set_metadata({})), kDone);
  EXPECT_THAT(*queue.metadata(), IsEmpty());
}

TEST_F(Queues, QB05_MetadataIsChecked) {
  Queue queue = bench_.queue();
  const Said invalid{Code::kInvalidArgument, "InvalidMetadata"};
  EXPECT_EQ(said(queue.set_metadata({{"", "1"}})), (Said{Code::kInvalidArgument, "EmptyMetadataKey"}));
  EXPECT_EQ(said(queue.set_metadata({{"1a", "1"}})), invalid);
  EXPECT_EQ(said(queue.set_metadata({{"a-b", "1"}})), invalid);
  EXPECT_EQ(said(queue.set_metadata({{"a", "1"}, {"A", "2"}})), invalid);
  EXPECT_EQ(said(queue.set_metadata({{"a", "line\nline"}})), invalid);
  EXPECT_EQ(said(queue.set_metadata({{"a", std::string(8191, 'v')}})), kDone);
  EXPECT_EQ(said(queue.set_metadata({{"a", std::string(8192, 'v')}})), (Said{Code::kTooLarge, "MetadataTooLarge"}));
}

TEST_F(Queues, QB06_TheCountHasHiddenMessagesAndNoExpiredOnes) {
  Queue queue = bench_.queue();
  (void)sent(queue, "one");
  (void)sent(queue, "hidden", {.delay = 10s});
  (void)sent(queue, "short", {.ttl = 5s});
  EXPECT_EQ(counted(queue), 3U);
  EXPECT_EQ((*queue.figures()).text_bytes, 14U);
  EXPECT_EQ(got(queue).size(), 1U);
  EXPECT_EQ(counted(queue), 3U);
  bench_.pass(kJustAfter + 5s);
  EXPECT_EQ(counted(queue), 2U);
  EXPECT_EQ((*queue.figures()).text_bytes, 9U);
}

TEST_F(Queues, QB07_AreListedByNameInPages) {
  for (const char* const name : {"orders-eu", "orders", "apples", "orders2"}) (void)bench_.queue(name);
  std::vector<std::string> names;
  ListOptions options;
  options.page_names_max = 2;
  options.prefix = "or";
  for (int pages = 0;; ++pages) {
    ASSERT_LT(pages, 3);
    const Result<QueuePage> page = bench_.store->list_queues(kAccount, options);
    ASSERT_TRUE(page.ok()) << page.status().to_string();
    for (const QueueInfo& queue : page->queues) names.push_back(queue.name);
    if (!page->continuation) break;
    options.continuation = *page->continuation;
  }
  EXPECT_THAT(names, ElementsAre("orders", "orders-eu", "orders2"));
  EXPECT_EQ(said(bench_.store->list_queues("nobody")), (Said{Code::kNotFound, "ResourceNotFound"}));
}

TEST_F(Queues, QB10_EverythingSurvivesAnOpen) {
  Queue queue = bench_.queue("orders", {.metadata = {{"a", "b"}}});
  (void)sent(queue, "hidden", {.delay = 10s});
  (void)sent(queue, "held");
  (void)sent(queue, "waiting");
  const std::vector<ReceivedMessage> held = got(queue);
  bench_.open();
  Queue again = *bench_.store->open_queue(kAccount, "orders");
  EXPECT_THAT(*again.metadata(), ElementsAre(MetadataPair{"a", "b"}));
  EXPECT_THAT(peeked(again), ElementsAre("waiting"));
  EXPECT_EQ(counted(again), 3U);
  EXPECT_EQ(said(again.remove(held.front())), kDone);
  bench_.pass(kJustAfter + 10s);
  EXPECT_THAT(peeked(again), ElementsAre("waiting", "hidden"));
}

TEST_F(Queues, QM01_APutReturnsIdReceiptAndTimes) {
  Queue queue = bench_.queue();
  const SentMessage first = sent(queue, "1", {.delay = 2s, .ttl = 60s});
  const SentMessage second = sent(queue, "2");
  EXPECT_NE(first.id, second.id);
  EXPECT_LT(first.inserted, second.inserted);
  EXPECT_EQ(first.expires.ticks - first.inserted.ticks, 60U * 10'000'000);
  EXPECT_EQ(first.visible.ticks - first.inserted.ticks, 2U * 10'000'000);
  EXPECT_EQ(second.visible, second.inserted);
  EXPECT_EQ(second.expires.ticks - second.inserted.ticks, 7ULL * 24 * 3600 * 10'000'000);
}

TEST_F(Queues, QM02_AMessageThatNeverExpiresEndsWithTheCalendar) {
  Queue queue = bench_.queue();
  EXPECT_EQ(sent(queue, "1", {.ttl = kNever}).expires.ticks, limits::kDateTimeTicksMax);
  bench_.pass(std::chrono::hours(24 * 365 * 100));
  EXPECT_THAT(peeked(queue), ElementsAre("1"));
}

TEST_F(Queues, QM03_TimesOutOfRangeAreRefusedAndStoreNothing) {
  Queue queue = bench_.queue();
  EXPECT_EQ(said(queue.put("x", {.ttl = 0s})), kOutOfRange);
  EXPECT_EQ(said(queue.put("x", {.ttl = -1s})), kOutOfRange);
  EXPECT_EQ(said(queue.put("x", {.delay = -1s})), kOutOfRange);
  EXPECT_EQ(said(queue.put("x", {.delay = std::chrono::hours(24 * 7) + 1ms, .ttl = kNever})), kOutOfRange);
  EXPECT_EQ(said(queue.put("x", {.delay = 5s, .ttl = 5s})), kInvalidParameter);
  EXPECT_EQ(counted(queue), 0U);
  EXPECT_EQ(said(queue.put("x", {.delay = std::chrono::hours(24 * 7), .ttl = kNever})), kDone);
}

TEST_F(Queues, QM04_TextComesBackAsItWasAndWhatXmlCannotCarryIsRefused) {
  Queue queue = bench_.queue();
  for (const std::string& text : {std::string(), std::string(" \t\r\n<&>\"' "), std::string("\xF0\x9F\x90\x9F")}) {
    (void)sent(queue, text);
    EXPECT_THAT(got_texts(queue), ElementsAre(text));
  }
  const std::string zero(1, '\0');
  for (const std::string& text : {zero, std::string("\x01"), std::string("a\x1F"), std::string("\xEF\xBF\xBE"),
                                  std::string("\xEF\xBF\xBF"), std::string("\xED\xA0\x80"), std::string("\xFF")}) {
    EXPECT_EQ(said(queue.put(text)), (Said{Code::kInvalidArgument, "InvalidXmlDocument"}));
  }
}

TEST_F(Queues, QM05_TextHas65536BytesAtMost) {
  Queue queue = bench_.queue();
  EXPECT_EQ(said(queue.put(std::string(65'537, 'x'))), (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
  (void)sent(queue, std::string(65'536, 'x'));
  EXPECT_THAT(got_texts(queue), ElementsAre(std::string(65'536, 'x')));
  Queue large = bench_.queue("large", {.message_bytes_max = 1'048'576});
  (void)sent(large, std::string(1'048'576, 'y'));
  EXPECT_EQ(got_texts(large).front().size(), 1'048'576U);
  EXPECT_EQ(said(large.put(std::string(1'048'577, 'x'))), (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
}

TEST_F(Queues, QM10_AGetReturnsUpToThirtyTwoVisibleMessages) {
  Queue queue = bench_.queue();
  EXPECT_THAT(got(queue), IsEmpty());
  for (int i = 0; i < 40; ++i) (void)sent(queue, std::to_string(i));
  EXPECT_EQ(said(queue.get({.count = 0})), kOutOfRange);
  EXPECT_EQ(said(queue.get({.count = 33})), kOutOfRange);
  EXPECT_EQ(said(queue.get({.hold = 0s})), kOutOfRange);
  EXPECT_EQ(said(queue.get({.hold = std::chrono::hours(24 * 7) + 1ms})), kOutOfRange);
  EXPECT_EQ(got(queue).size(), 1U);
  EXPECT_EQ(got(queue, {.count = 32}).size(), 32U);
  EXPECT_EQ(got(queue, {.count = 32}).size(), 7U);
}

TEST_F(Queues, QM11_AGetHidesGivesAReceiptAndCounts) {
  Queue queue = bench_.queue();
  const SentMessage put = sent(queue, "text");
  const std::vector<ReceivedMessage> messages = got(queue, {.hold = 10s});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].id, put.id);
  EXPECT_EQ(messages[0].inserted, put.inserted);
  EXPECT_EQ(messages[0].expires, put.expires);
  EXPECT_NE(messages[0].receipt, put.receipt);
  EXPECT_EQ(messages[0].deliveries, 1U);
  EXPECT_THAT(got(queue), IsEmpty());
  EXPECT_THAT(peeked(queue), IsEmpty());
}

TEST_F(Queues, QM12_AMessageIsVisibleAgainAfterTheHoldUnlessItExpired) {
  Queue queue = bench_.queue();
  (void)sent(queue, "long");
  (void)sent(queue, "short", {.ttl = 15s});
  EXPECT_EQ(got(queue, {.count = 2, .hold = 20s}).size(), 2U);
  bench_.pass(19999ms);
  EXPECT_THAT(got(queue), IsEmpty());
  bench_.pass(kJustAfter + 1ms);
  EXPECT_THAT(got_texts(queue, {.count = 2}), ElementsAre("long"));
}

TEST_F(Queues, QM13_DeliveriesCountGetsAlone) {
  Queue queue = bench_.queue();
  (void)sent(queue, "text");
  for (std::uint32_t delivery = 1; delivery <= 3; ++delivery) {
    EXPECT_EQ((*queue.peek()).front().deliveries, delivery - 1);
    const ReceivedMessage message = got(queue).front();
    EXPECT_EQ(message.deliveries, delivery);
    EXPECT_EQ(said(queue.update(message.id, message.receipt, 0s)), kDone);
  }
}

TEST_F(Queues, QM15_MessagesComeInTheOrderInWhichTheyBecameVisible) {
  Queue queue = bench_.queue();
  (void)sent(queue, "late", {.delay = 3s});
  (void)sent(queue, "1");
  (void)sent(queue, "2");
  const ReceivedMessage first = got(queue, {.hold = 1s}).front();
  bench_.pass(5s);
  EXPECT_THAT(got_texts(queue, {.count = 32}), ElementsAre("2", "1", "late"));
}

TEST_F(Queues, QM20_APeekChangesNothing) {
  Queue queue = bench_.queue();
  (void)sent(queue, "1");
  (void)sent(queue, "2");
  EXPECT_THAT(peeked(queue, 1), ElementsAre("1"));
  EXPECT_THAT(peeked(queue), ElementsAre("1", "2"));
  EXPECT_EQ((*queue.peek()).front().deliveries, 0U);
  EXPECT_EQ(said(queue.peek(0)), kOutOfRange);
  EXPECT_EQ(said(queue.peek(33)), kOutOfRange);
}

TEST_F(Queues, QM30_QM39_ADeleteIsForGood) {
  Queue queue = bench_.queue();
  for (const std::size_t size : {std::size_t{3}, std::size_t{20'000}}) {
    (void)sent(queue, std::string(size, 'x'));
    const ReceivedMessage message = got(queue).front();
    EXPECT_EQ(said(queue.remove(message)), kDone);
    EXPECT_EQ(said(queue.remove(message)), kMessageGone);
    bench_.pass(60s);
    EXPECT_THAT(got(queue), IsEmpty());
    EXPECT_EQ(counted(queue), 0U);
    EXPECT_EQ((*queue.figures()).text_bytes, 0U);
  }
}

TEST_F(Queues, QM31_OnlyTheLastReceiptIsValidAndTimeDoesNotEndIt) {
  Queue queue = bench_.queue();
  const SentMessage put = sent(queue, "text");
  const ReceivedMessage first = got(queue, {.hold = 1s}).front();
  EXPECT_EQ(said(queue.remove(put.id, put.receipt)), kMessageGone);
  bench_.pass(10s);
  const ReceivedMessage second = got(queue, {.hold = 1s}).front();
  EXPECT_EQ(said(queue.remove(first)), kMessageGone);
  const UpdatedMessage third = *queue.update(second.id, second.receipt, 1s);
  EXPECT_EQ(said(queue.remove(second)), kMessageGone);
  bench_.pass(10s);
  EXPECT_EQ(said(queue.remove(second.id, third.receipt)), kDone);
}

TEST_F(Queues, QM32_TheReceiptOfAPutPermitsAChangeBeforeAnyGet) {
  Queue queue = bench_.queue();
  const SentMessage one = sent(queue, "1");
  const SentMessage two = sent(queue, "2");
  EXPECT_EQ(said(queue.remove(one.id, one.receipt)), kDone);
  EXPECT_EQ(said(queue.update(two.id, two.receipt, 0s, "changed")), kDone);
  EXPECT_THAT(peeked(queue), ElementsAre("changed"));
}

TEST_F(Queues, QM34_EachKindOfBadReceiptHasItsError) {
  Queue queue = bench_.queue();
  Queue other = bench_.queue("other");
  const SentMessage one = sent(queue, "1");
  const SentMessage two = sent(queue, "2");
  PopReceipt forged = one.receipt;
  forged.version += 1;
  EXPECT_EQ(said(queue.remove(one.id, forged)), kInvalidParameter);
  EXPECT_EQ(said(queue.remove(one.id, PopReceipt())), kInvalidParameter);
  EXPECT_EQ(said(PopReceipt::parse("junk")), kInvalidParameter);
  EXPECT_EQ(said(PopReceipt::parse("AAAA")), kInvalidParameter);
  EXPECT_EQ(*PopReceipt::parse(one.receipt.to_string()), one.receipt);
  EXPECT_EQ(said(queue.remove(one.id, two.receipt)), kMessageGone);
  EXPECT_EQ(said(queue.remove(Guid(), one.receipt)), kMessageGone);
  EXPECT_EQ(said(other.remove(one.id, one.receipt)), kMessageGone);
  EXPECT_EQ(counted(queue), 2U);
}

TEST_F(Queues, QM35_AnUpdateChangesVisibilityAndTextAlone) {
  Queue queue = bench_.queue();
  for (const std::size_t before : {std::size_t{5}, std::size_t{20'000}}) {
    for (const std::size_t after : {std::size_t{7}, std::size_t{30'000}}) {
      const SentMessage put = sent(queue, std::string(before, 'b'));
      const ReceivedMessage message = got(queue).front();
      const UpdatedMessage kept = *queue.update(message.id, message.receipt, 5s);
      EXPECT_THAT(peeked(queue), IsEmpty());
      const UpdatedMessage changed = *queue.update(message.id, kept.receipt, 0s, std::string(after, 'a'));
      EXPECT_EQ((*queue.figures()).text_bytes, after);
      const ReceivedMessage again = got(queue).front();
      EXPECT_EQ(again.text, std::string(after, 'a'));
      EXPECT_EQ(again.inserted, put.inserted);
      EXPECT_EQ(again.expires, put.expires);
      EXPECT_EQ(again.deliveries, 2U);
      EXPECT_EQ(said(queue.update(again.id, changed.receipt, 0s)), kMessageGone);
      EXPECT_EQ(said(queue.update(again.id, again.receipt, -1s)), kOutOfRange);
      EXPECT_EQ(said(queue.update(again.id, again.receipt, std::chrono::hours(24 * 7) + 1ms)), kOutOfRange);
      EXPECT_EQ(said(queue.update(again.id, again.receipt, 0s, std::string(65'537, 'x'))),
                (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
      EXPECT_EQ(said(queue.remove(again)), kDone);
      EXPECT_EQ(counted(queue), 0U);
    }
  }
}

TEST_F(Queues, QM36_QM41_ExpiryWinsOverEveryHold) {
  Queue queue = bench_.queue();
  (void)sent(queue, "text", {.ttl = 10s});
  const ReceivedMessage message = got(queue).front();
  const UpdatedMessage later = *queue.update(message.id, message.receipt, std::chrono::hours(1));
  bench_.pass(kJustAfter + 10s);
  EXPECT_EQ(said(queue.update(message.id, later.receipt, 0s)), kMessageGone);
  EXPECT_EQ(said(queue.remove(message.id, later.receipt)), kMessageGone);
  EXPECT_EQ(counted(queue), 0U);
  bench_.pass(std::chrono::hours(2));
  EXPECT_THAT(got(queue), IsEmpty());
}

TEST_F(Queues, QM37_OfTwoUpdatesWithOneReceiptOneSucceeds) {
  Queue queue = bench_.queue();
  (void)sent(queue, "text");
  const ReceivedMessage message = got(queue, {.hold = 1s}).front();
  bench_.pass(10s);
  EXPECT_EQ(said(queue.update(message.id, message.receipt, 1s)), kDone);
  EXPECT_EQ(said(queue.update(message.id, message.receipt, 1s)), kMessageGone);
}

TEST_F(Queues, QM38_AClearTakesHeldMessagesTooAndKeepsTheQueue) {
  Queue queue = bench_.queue("orders", {.metadata = {{"a", "b"}}, .message_bytes_max = 10});
  for (int i = 0; i < 5; ++i) (void)sent(queue, std::to_string(i));
  const ReceivedMessage held = got(queue).front();
  EXPECT_EQ(said(queue.clear()), kDone);
  EXPECT_EQ(said(queue.remove(held)), kMessageGone);
  EXPECT_THAT(peeked(queue), IsEmpty());
  EXPECT_EQ(counted(queue), 0U);
  EXPECT_THAT(*queue.metadata(), ElementsAre(MetadataPair{"a", "b"}));
  EXPECT_EQ(said(queue.put("eleven bytes")), (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
  (void)sent(queue, "after");
  EXPECT_THAT(got_texts(queue), ElementsAre("after"));
}

TEST_F(Queues, QM43_PutsOneAfterTheOtherAscendAlsoWithinOneTick) {
  Queue queue = bench_.queue();
  std::vector<std::string> expected;
  for (int i = 0; i < 32; ++i) {
    expected.push_back(std::to_string(i));
    (void)sent(queue, expected.back());
  }
  EXPECT_EQ(got_texts(queue, {.count = 32}), expected);
}

TEST_F(Queues, QX12_AMessageThatWasDeliveredTooOftenGoesToTheDeadLetters) {
  Queue queue = bench_.queue();
  Queue dead = bench_.queue("dead");
  const SentMessage put = sent(queue, "poison", {.ttl = 60s});
  (void)sent(queue, "good");
  const GetOptions options{.count = 1, .hold = 1s, .deliveries_max = 2, .dead_letter = &dead};
  for (int delivery = 0; delivery < 2; ++delivery) {
    EXPECT_EQ(got(queue, {.count = 2, .hold = 1s, .deliveries_max = 2, .dead_letter = &dead}).size(), 2U);
    bench_.pass(2s);
  }
  EXPECT_THAT(got(queue, options), IsEmpty());
  const std::vector<Message> letters = *dead.peek(32);
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_EQ(letters[0].id, put.id);
  EXPECT_EQ(letters[0].text, "poison");
  EXPECT_EQ(letters[0].inserted, put.inserted);
  EXPECT_EQ(letters[0].deliveries, 2U);
  EXPECT_EQ(letters[0].origin, "orders");
  EXPECT_EQ(counted(queue), 0U);
  EXPECT_EQ(counted(dead), 2U);
  bench_.pass(std::chrono::hours(24 * 30));
  const ReceivedMessage letter = got(dead).front();
  EXPECT_EQ(letter.deliveries, 3U);
  EXPECT_EQ(said(dead.remove(letter)), kDone);
}

TEST_F(Queues, QX12_DeadLettersNeedAnotherQueueOfTheSameStore) {
  Queue queue = bench_.queue();
  Queue dead = bench_.queue("dead");
  const Said invalid{Code::kInvalidArgument, "InvalidInput"};
  EXPECT_EQ(said(queue.get({.deliveries_max = 1})), invalid);
  EXPECT_EQ(said(queue.get({.dead_letter = &dead})), invalid);
  EXPECT_EQ(said(queue.get({.deliveries_max = 1, .dead_letter = &queue})), invalid);
  QueueBench elsewhere;
  Queue foreign = elsewhere.queue("dead");
  EXPECT_EQ(said(queue.get({.deliveries_max = 1, .dead_letter = &foreign})), invalid);
}

TEST_F(Queues, QX13_APutWithAKnownKeyStoresNothing) {
  Queue queue = bench_.queue();
  const PutOptions keyed{.deduplication_key = "key \xFF", .deduplication_window = 60s};
  const SentMessage first = sent(queue, "1", keyed);
  EXPECT_FALSE(first.is_duplicate);
  const SentMessage second = sent(queue, "2", keyed);
  EXPECT_TRUE(second.is_duplicate);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.inserted, first.inserted);
  EXPECT_EQ(counted(queue), 1U);
  EXPECT_EQ(said(queue.remove(got(queue).front())), kDone);
  EXPECT_TRUE(sent(queue, "3", keyed).is_duplicate) << "the key outlives its message";
  bench_.pass(kJustAfter + 60s);
  EXPECT_FALSE(sent(queue, "4", keyed).is_duplicate);
  EXPECT_EQ(said(queue.clear()), kDone);
  EXPECT_FALSE(sent(queue, "5", keyed).is_duplicate);
  EXPECT_THAT(got_texts(queue), ElementsAre("5"));
  EXPECT_EQ(said(queue.put("x", {.deduplication_key = std::string_view(std::string(129, 'k'))})),
            (Said{Code::kInvalidArgument, "InvalidInput"}));
}

TEST_F(Queues, QX15_AWallClockThatGoesBackDelaysNothingVisible) {
  Queue queue = bench_.queue();
  (void)sent(queue, "1");
  bench_.machine.clock.set_wall(bench_.machine.clock.wall() - 3600 * io::kTicksPerSecond);
  EXPECT_THAT(got_texts(queue), ElementsAre("1"));
  (void)sent(queue, "2");
  EXPECT_THAT(got_texts(queue), ElementsAre("2"));
}

}  // namespace
}  // namespace varve::test::queue_test
