// Goal: connections are divided evenly among the loops, also later. A connection that moves to another loop loses
// neither a request nor the object that it keeps, and ends as usual.
// Method: two loops with connections of a handler that answers with its thread and its count; plans made by hand.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include "tests/serve/socket/http_client.h"
#include "tests/support/allocation_counter.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/loop_load.h"
#include "tools/serve/transport/loops.h"

namespace varve::serve::moving_connections_test {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using std::chrono::milliseconds;

TEST(LoopPlans, MoveHalfOfTheDifferenceFromTheBusiestToTheIdlest) {
  const std::optional<LoopMove> move =
      plan_move({{milliseconds(40), 400}, {milliseconds(90), 900}, {milliseconds(10), 100}}, milliseconds(100));
  ASSERT_TRUE(move);
  EXPECT_EQ(move->from, 1u);
  EXPECT_EQ(move->to, 2u);
  EXPECT_EQ(move->requests, 400u);
}

TEST(LoopPlans, MoveNothingIfTheLoadsAreNearlyEqualOrThereIsOneLoop) {
  EXPECT_FALSE(plan_move({{milliseconds(50), 500}, {milliseconds(60), 600}}, milliseconds(100)));
  EXPECT_FALSE(plan_move({{milliseconds(100), 1000}}, milliseconds(100)));
  EXPECT_FALSE(plan_move({{milliseconds(90), 0}, {milliseconds(0), 0}}, milliseconds(100)));
  EXPECT_FALSE(plan_move({}, milliseconds(100)));
}

class LoopLoads : public ::testing::Test {
 protected:
  asio::io_context first_;
  asio::io_context second_;
  LoopBalance balance_{{&first_, &second_}};
  LoopLoad& load_ = asio::use_service<LoopLoad>(first_);

  void count(LoopLoad::Part& part, int requests) {
    for (int i = 0; i < requests; ++i) load_.count_request(part);
  }
};

TEST_F(LoopLoads, LetAConnectionMoveOnlyIfItsRequestsArePartOfThePlan) {
  LoopLoad::Part hot;
  LoopLoad::Part cool;
  count(hot, 50);
  count(cool, 5);
  EXPECT_EQ(load_.take_move(cool), nullptr) << "nobody has planned a move";
  balance_.end_interval(LoopMove{0, 1, 8});
  EXPECT_EQ(load_.take_move(hot), nullptr) << "more than is to move";
  EXPECT_EQ(load_.take_move(cool), &second_);
  EXPECT_EQ(load_.take_move(cool), nullptr) << "the plan is carried out";
}

TEST_F(LoopLoads, CountAConnectionAsInTheIntervalThatThePlanIsMadeOf) {
  std::vector<LoopLoad::Part> equal(4);
  for (LoopLoad::Part& part : equal) count(part, 100);
  balance_.end_interval(LoopMove{0, 1, 200});
  std::size_t moved = 0;
  for (LoopLoad::Part& part : equal) {
    count(part, 1);  // the first request of the new interval
    moved += load_.take_move(part) != nullptr ? 1U : 0U;
  }
  EXPECT_EQ(moved, 2u) << "half of the load";
}

TEST_F(LoopLoads, LetNoConnectionMoveThatWasIdleWhenThePlanWasMade) {
  LoopLoad::Part fresh;
  LoopLoad::Part old;
  count(old, 3);
  balance_.end_interval(std::nullopt);
  balance_.end_interval(LoopMove{0, 1, 200});
  count(fresh, 1);
  EXPECT_EQ(load_.take_move(fresh), nullptr);
  EXPECT_EQ(load_.take_move(old), nullptr);
  count(old, 1);
  EXPECT_EQ(load_.take_move(old), nullptr);
}

/// Uses the calling thread's processor time until so much of it has passed.
void use_processor(milliseconds time) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto end = used() + time;
  while (used() < end) continue;
}

/// Runs the work on the thread of a loop, after all that the loop has begun.
void run_on(asio::io_context& context, const std::function<void()>& work) {
  const auto done = std::make_shared<std::promise<void>>();  // The loop may still use it when this function ends.
  asio::post(context, [&work, done] {
    work();
    done->set_value();
  });
  done->get_future().wait();
}

TEST(LoopBalances, FollowTheProcessorTimeOfTheThreads) {
  Loops loops(2);
  ASSERT_TRUE(loops.start(nullptr).ok());
  const std::vector<asio::io_context*> contexts = loops.all();
  run_on(*contexts[1], [] {});
  const std::chrono::steady_clock::time_point begin(std::chrono::hours(1));
  LoopLoad::Part small;
  LoopLoad::Part large;
  run_on(*contexts[0], [&] {
    loops.balance().look(begin);
    LoopLoad& load = asio::use_service<LoopLoad>(*contexts[0]);
    for (int i = 0; i < 30; ++i) load.count_request(small);
    for (int i = 0; i < 70; ++i) load.count_request(large);
    use_processor(milliseconds(60));
    loops.balance().look(begin + milliseconds(99));
    EXPECT_EQ(load.take_move(small), nullptr) << "the interval has not passed";
    loops.balance().look(begin + milliseconds(100));
    EXPECT_EQ(load.take_move(large), nullptr) << "more than half of the load";
    EXPECT_EQ(load.take_move(small), contexts[1]);
  });
  loops.finish();
}

/// Answers with the thread, and with the number of requests of the connection so far.
class Counting final : public RequestHandler {
 public:
  Task<Status> admit(const HttpRequest& /*request*/, HomeThread* /*home*/) override { co_return Status(); }
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) override {
    EXPECT_TRUE(home->is_here());
    if (*request.kept == nullptr) *request.kept = std::make_shared<int>(0);
    std::ostringstream text;
    text << ++*static_cast<int*>(request.kept->get()) << " " << std::this_thread::get_id();
    co_return HttpResponse{200, {}, text.str()};
  }
  HttpResponse refuse(const Status& status, const std::string& /*client_ip*/) override {
    return {400, {}, status.to_string()};
  }
  void stop() noexcept override {}
};

class MovingConnections : public ::testing::Test {
 protected:
  MovingConnections() {
    EXPECT_TRUE(loops_.start(nullptr).ok());
    contexts_ = loops_.all();
  }
  ~MovingConnections() override {
    host_.end_all_now();
    EXPECT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
    loops_.finish();
  }

  /// Connects a client to the context.
  std::unique_ptr<test::HttpClient> connect(asio::io_context& context) {
    auto client = std::make_unique<test::HttpClient>(acceptor_.local_endpoint().port());
    asio::basic_stream_socket<Tcp, asio::io_context::executor_type> socket(context);
    acceptor_.accept(socket);
    serve_plain(std::move(socket), {"127.0.0.1"}, host_);
    return client;
  }
  /// Waits until every connection has ended and closed its descriptor.
  void end_of_all() {
    ASSERT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
    for (asio::io_context* const context : contexts_) run_on(*context, [] {});
  }
  /// Returns the body of the next answer.
  static std::string ask(test::HttpClient& client) {
    EXPECT_TRUE(client.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
    return answer(client);
  }
  static std::string answer(test::HttpClient& client) {
    const std::optional<HttpResponse> response = client.read();
    EXPECT_TRUE(response.has_value());
    return response ? response->body : std::string();
  }
  static std::string thread_in(const std::string& body) { return body.substr(body.find(' ') + 1); }

  Counting handler_;
  ConnectionHost host_{handler_, {}};
  Loops loops_{2};
  std::vector<asio::io_context*> contexts_;
  asio::io_context accepting_;
  Tcp::acceptor acceptor_{accepting_, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
};

TEST_F(MovingConnections, KeepTheirRequestsAndWhatTheyKeep) {
  const auto client = connect(*contexts_[0]);
  const std::string first = ask(*client);
  loops_.balance().end_interval(LoopMove{0, 1, 1000});
  // The connection may have asked just before. Then it asks again after the next answer.
  std::string moved = ask(*client);
  int requests = 2;
  while (thread_in(moved) == thread_in(first) && requests < 4) moved = ask(*client), ++requests;
  EXPECT_NE(thread_in(moved), thread_in(first));
  EXPECT_EQ(moved.substr(0, moved.find(' ')), std::to_string(requests)) << "what it keeps came along";
  EXPECT_EQ(host_.figures().open, 1u);
  EXPECT_EQ(host_.figures().accepted, 1u);
  loops_.balance().end_interval(LoopMove{1, 0, 1000});
  for (int i = 0; i < 3; ++i) moved = ask(*client);
  EXPECT_EQ(thread_in(moved), thread_in(first)) << "it moves back";
}

TEST_F(MovingConnections, RequestsThatAreSentTogetherAreAllAnsweredInOrder) {
  const auto client = connect(*contexts_[0]);
  (void)ask(*client);
  loops_.balance().end_interval(LoopMove{0, 1, 1000});
  constexpr int kRequests = 200;
  std::string bytes;
  for (int i = 0; i < kRequests; ++i) bytes += "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
  ASSERT_TRUE(client->send(bytes));
  for (int i = 0; i < kRequests; ++i) {
    const std::string body = answer(*client);
    ASSERT_EQ(body.substr(0, body.find(' ')), std::to_string(i + 2));
  }
}

TEST_F(MovingConnections, OfAServerThatEndsStayAndEnd) {
  const auto client = connect(*contexts_[0]);
  (void)ask(*client);
  loops_.balance().end_interval(LoopMove{0, 1, 1000});
  host_.end_all_soon();
  EXPECT_TRUE(client->ends());
  EXPECT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
}

/// Returns the number of open descriptors of this process.
std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST_F(MovingConnections, LoseNoDescriptorIfMemoryEndsOnTheWay) {
  for (asio::io_context* const context : contexts_) (void)ask(*connect(*context));  // The loops open their own.
  end_of_all();
  const std::ptrdiff_t before = open_descriptors();
  bool happened = true;
  bool has_moved = false;
  for (std::uint64_t nth = 1; happened && nth < 1'000; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    {
      const auto client = connect(*contexts_[0]);
      const std::string first = ask(*client);
      loops_.balance().end_interval(LoopMove{0, 1, 1000});
      const varve::test::OtherThreadsAllocationFailure failure(nth, false);
      std::string last = first;
      for (int i = 0; i < 3 && !last.empty(); ++i) {
        EXPECT_TRUE(client->send("GET / HTTP/1.1\r\nHost: here\r\n\r\n") || failure.happened());
        const std::optional<HttpResponse> response = client->read();
        EXPECT_TRUE(response.has_value() || failure.happened());
        last = response ? response->body : std::string();
      }
      happened = failure.happened();
      has_moved = !last.empty() && thread_in(last) != thread_in(first);
    }
    end_of_all();
  }
  EXPECT_FALSE(happened);
  EXPECT_TRUE(has_moved);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(MovingConnections, NewOnesGoWhereTheFewestAre) {
  std::vector<std::unique_ptr<test::HttpClient>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect(*contexts_[0]));
  std::set<std::string> threads;
  for (int i = 0; i < 3; ++i) {
    asio::io_context& next = loops_.next();
    EXPECT_EQ(&next, contexts_[1]);
    clients.push_back(connect(next));
    threads.insert(thread_in(ask(*clients.back())));
  }
  EXPECT_EQ(threads.size(), 1u);
}

}  // namespace
}  // namespace varve::serve::moving_connections_test
