// Owns: the environment of a test of queues: a store, a queue, and short forms of its verbs.
// Must never: hide an error that a test did not ask for.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/queue.h"

namespace varve::test {

inline constexpr Said kMessageGone{Code::kNotFound, "MessageNotFound"};
inline constexpr Said kQueueGone{Code::kNotFound, "QueueNotFound"};
inline constexpr Said kDone{Code::kOk, ""};

class QueueBench : public StoreBench {
 public:
  explicit QueueBench(std::uint64_t seed = 1) : StoreBench(seed) { begin(); }
  QueueBench(std::uint64_t seed, OneThreadAtATime one) : StoreBench(seed, one) { begin(); }

  Queue queue(std::string_view name = "orders", const QueueOptions& options = {}) {
    Result<Queue> made = store->create_queue(kAccount, name, options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (!made.ok()) std::abort();
    return *std::move(made);
  }
  void pass(std::chrono::milliseconds time) { machine.clock.advance(time); }

 private:
  void begin() {
    open();
    EXPECT_EQ(said(store->create_account(kAccount)), kDone);
  }
};

inline SentMessage sent(Queue& queue, std::string_view text, const PutOptions& options = {}) {
  Result<SentMessage> put = queue.put(text, options);
  EXPECT_TRUE(put.ok()) << put.status().to_string();
  return put.ok() ? *put : SentMessage();
}
inline std::vector<ReceivedMessage> got(Queue& queue, const GetOptions& options = {}) {
  Result<std::vector<ReceivedMessage>> messages = queue.get(options);
  EXPECT_TRUE(messages.ok()) << messages.status().to_string();
  return messages.ok() ? *std::move(messages) : std::vector<ReceivedMessage>();
}
template <typename Shown>
std::vector<std::string> texts_of(const std::vector<Shown>& messages) {
  std::vector<std::string> texts;
  for (const Shown& message : messages) texts.push_back(message.text);
  return texts;
}
inline std::vector<std::string> got_texts(Queue& queue, const GetOptions& options = {}) {
  return texts_of(got(queue, options));
}
inline std::vector<std::string> peeked(const Queue& queue, std::uint32_t count = 32) {
  const Result<std::vector<Message>> messages = queue.peek(count);
  EXPECT_TRUE(messages.ok()) << messages.status().to_string();
  return messages.ok() ? texts_of(*messages) : std::vector<std::string>();
}
inline std::uint64_t counted(const Queue& queue) {
  const Result<QueueFigures> figures = queue.figures();
  EXPECT_TRUE(figures.ok()) << figures.status().to_string();
  return figures.ok() ? figures->messages : 0;
}

}  // namespace varve::test
