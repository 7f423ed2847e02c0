// Goal: a queue does what the rules say, whatever the order of its verbs and the passing of time (QX-31).
// Method: random verbs go to a queue and to a list of messages that follows the rules word by word. All answers are
// compared, and after each verb the visible messages and the count. The store is opened anew now and then.
#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"
#include "tests/support/effort.h"

namespace varve::test::queue_model_test {
namespace {

using std::chrono::milliseconds;

struct Modelled {
  Guid id;
  std::uint64_t visible;
  std::uint64_t stored_visible;  // differs after an open that released the message
  std::uint64_t inserted;
  std::uint64_t expires;
  std::uint32_t deliveries = 0;
  std::string text;
  std::vector<PopReceipt> receipts;  // the last one is valid
};

constexpr std::uint64_t ticks(milliseconds time) {
  return static_cast<std::uint64_t>(time.count()) * 10'000;
}

class QueueModel {
 public:
  /// Queues of even seeds release their messages at each open.
  explicit QueueModel(std::uint64_t seed)
      : bench_(seed),
        random_(seed),
        releases_(seed % 2 == 0),
        queue_(bench_.queue("orders", {.release_on_open = releases_})) {}

  void step() {
    bench_.pass(milliseconds(1 + below(400)));  // ahead of all values that the clock gave
    switch (below(12)) {
      case 0:
      case 1:
      case 2: return put();
      case 3:
      case 4:
      case 5: return get();
      case 6:
      case 7: return remove();
      case 8:
      case 9: return update();
      case 10: return below(20) == 0 ? clear() : compare();
      default: return below(4) == 0 ? reopen() : compare();
    }
  }

  void compare() {
    const std::uint64_t now = time();
    std::vector<std::string> expected;
    for (const Modelled* message : visible(now)) {
      if (expected.size() < 32) expected.push_back(message->text);
    }
    EXPECT_EQ(peeked(queue_), expected);
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const Modelled& message : messages_) {
      if (now >= message.expires) continue;
      ++count;
      bytes += message.text.size();
    }
    const Result<QueueFigures> figures = queue_.figures();
    ASSERT_TRUE(figures.ok()) << figures.status().to_string();
    EXPECT_EQ(figures->messages, count);
    EXPECT_EQ(figures->text_bytes, bytes);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  /// By the engine's clock, which is ahead of the wall clock by the values it gave since.
  std::uint64_t time() { return std::max(bench_.machine.clock.wall(), latest_); }

  std::string text() {
    const bool is_long = below(20) == 0;
    return "m" + std::to_string(next_++) + std::string(is_long ? 16'384 + below(100) : below(50), 'x');
  }

  std::vector<Modelled*> visible(std::uint64_t now) {
    std::vector<Modelled*> found;
    for (Modelled& message : messages_) {
      if (now >= message.visible && now < message.expires) found.push_back(&message);
    }
    std::sort(found.begin(), found.end(), [](const Modelled* left, const Modelled* right) {
      return std::tuple(left->visible, left->stored_visible, left->inserted) <
             std::tuple(right->visible, right->stored_visible, right->inserted);
    });
    return found;
  }

  void put() {
    PutOptions options;
    options.delay = milliseconds(below(3) == 0 ? below(2'000) : 0);
    options.ttl = below(3) == 0 ? kNever : options.delay + milliseconds(1 + below(5'000));
    const SentMessage message = sent(queue_, text_ = text(), options);
    EXPECT_EQ(message.visible.ticks, message.inserted.ticks + ticks(options.delay));
    messages_.push_back({message.id,
                         message.visible.ticks,
                         message.visible.ticks,
                         message.inserted.ticks,
                         message.expires.ticks,
                         0,
                         text_,
                         {message.receipt}});
    saw(message.receipt);
    saw_tick(message.inserted.ticks);
  }

  void get() {
    const std::uint64_t before = time();
    const std::vector<Modelled*> candidates = visible(before);
    const auto count = static_cast<std::uint32_t>(1 + below(4));
    const milliseconds hold(1 + below(1'500));
    const std::vector<ReceivedMessage> messages = got(queue_, {.count = count, .hold = hold});
    ASSERT_EQ(messages.size(), std::min<std::size_t>(count, candidates.size()));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      Modelled& expected = *candidates[i];
      EXPECT_EQ(messages[i].id, expected.id);
      EXPECT_EQ(messages[i].text, expected.text);
      EXPECT_EQ(messages[i].deliveries, ++expected.deliveries);
      EXPECT_EQ(messages[i].expires.ticks, expected.expires);
      EXPECT_EQ(messages[i].visible.ticks, before + ticks(hold));
      expected.visible = expected.stored_visible = messages[i].visible.ticks;
      expected.receipts.push_back(messages[i].receipt);
      saw(messages[i].receipt);
    }
  }

  /// Returns a message, perhaps one that has expired, and one of its receipts.
  std::optional<std::pair<std::size_t, PopReceipt>> any_receipt() {
    if (messages_.empty()) return std::nullopt;
    const std::size_t index = below(messages_.size());
    const std::vector<PopReceipt>& receipts = messages_[index].receipts;
    return std::pair(index, below(3) == 0 ? receipts[below(receipts.size())] : receipts.back());
  }
  bool is_valid(const Modelled& message, const PopReceipt& receipt) {
    return time() < message.expires && receipt == message.receipts.back();
  }

  void remove() {
    const auto chosen = any_receipt();
    if (!chosen) return;
    const Modelled& message = messages_[chosen->first];
    const bool valid = is_valid(message, chosen->second);
    EXPECT_EQ(said(queue_.remove(message.id, chosen->second)), valid ? kDone : kMessageGone);
    if (!valid) return;
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(chosen->first));
    ++latest_;  // A commit took a value of the clock.
  }

  void update() {
    const auto chosen = any_receipt();
    if (!chosen) return;
    Modelled& message = messages_[chosen->first];
    const std::uint64_t now = time();
    const bool valid = is_valid(message, chosen->second);
    const milliseconds hold(below(1'000));
    const std::optional<std::string> replacement = below(2) == 0 ? std::optional(text()) : std::nullopt;
    const Result<UpdatedMessage> updated = queue_.update(message.id, chosen->second, hold, replacement);
    EXPECT_EQ(said(updated), valid ? kDone : kMessageGone);
    if (!valid || !updated.ok()) return;
    EXPECT_EQ(updated->visible.ticks, now + ticks(hold));
    message.visible = message.stored_visible = updated->visible.ticks;
    if (replacement) message.text = *replacement;
    message.receipts.push_back(updated->receipt);
    saw(updated->receipt);
  }

  void clear() {
    EXPECT_EQ(said(queue_.clear()), kDone);
    messages_.clear();
    bench_.pass(milliseconds(1));
  }

  void reopen() {
    bench_.open();
    const std::uint64_t now = time();
    for (Modelled& message : messages_) {
      message.visible = message.stored_visible;
      if (releases_ && message.deliveries > 0) message.visible = std::min(message.visible, now - 1);
    }
    queue_ = *bench_.store->open_queue(kAccount, "orders");
    compare();
  }

  void saw(const PopReceipt& receipt) { saw_tick(receipt.version); }
  void saw_tick(std::uint64_t tick) { latest_ = std::max(latest_, tick); }

  QueueBench bench_;
  std::mt19937_64 random_;
  const bool releases_;
  Queue queue_;
  std::vector<Modelled> messages_;
  std::uint64_t latest_ = 0;
  std::string text_;
  int next_ = 0;
};

class QueueModels : public testing::TestWithParam<std::uint64_t> {};

TEST_P(QueueModels, QX31_AQueueFollowsItsRules) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  QueueModel model(GetParam());
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    model.step();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  model.compare();
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueueModels, testing::Range<std::uint64_t>(1, 1 + effort(40)));

}  // namespace
}  // namespace varve::test::queue_model_test
