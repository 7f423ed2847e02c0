// Goal: connections are divided evenly among the loops, also later. A connection that moves to another loop loses
// neither a request nor the object that it keeps, and ends as usual.
// Method: two loops with connections of a handler that answers with its thread and its count; plans made by hand.
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "tests/serve/socket/http_client.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/loop_load.h"
#include "tools/serve/transport/loops.h"

namespace varve::serve {
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

TEST(LoopLoads, AConnectionMovesOnlyIfItsRequestsArePartOfThePlan) {
  asio::io_context first;
  asio::io_context second;
  LoopBalance balance({&first, &second});
  LoopLoad& load = asio::use_service<LoopLoad>(first);
  LoopLoad::Part hot;
  LoopLoad::Part cool;
  for (int i = 0; i < 50; ++i) load.count_request(hot);
  for (int i = 0; i < 5; ++i) load.count_request(cool);
  EXPECT_EQ(load.take_move(cool), nullptr) << "nobody has planned a move";
  balance.let_move({0, 1, 8});
  EXPECT_EQ(load.take_move(hot), nullptr) << "more than is to move";
  EXPECT_EQ(load.take_move(cool), &second);
  EXPECT_EQ(load.take_move(cool), nullptr) << "the plan is carried out";
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
    serve_plain(std::move(socket), "127.0.0.1", host_);
    return client;
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
  loops_.balance().let_move({0, 1, 1000});
  // The connection may have asked just before. Then it asks again after the next answer.
  std::string moved = ask(*client);
  int requests = 2;
  while (thread_in(moved) == thread_in(first) && requests < 4) moved = ask(*client), ++requests;
  EXPECT_NE(thread_in(moved), thread_in(first));
  EXPECT_EQ(moved.substr(0, moved.find(' ')), std::to_string(requests)) << "what it keeps came along";
  EXPECT_EQ(host_.figures().open, 1u);
  EXPECT_EQ(host_.figures().accepted, 1u);
  loops_.balance().let_move({1, 0, 1000});
  for (int i = 0; i < 3; ++i) moved = ask(*client);
  EXPECT_EQ(thread_in(moved), thread_in(first)) << "it moves back";
}

TEST_F(MovingConnections, RequestsThatAreSentTogetherAreAllAnsweredInOrder) {
  const auto client = connect(*contexts_[0]);
  (void)ask(*client);
  loops_.balance().let_move({0, 1, 1000});
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
  loops_.balance().let_move({0, 1, 1000});
  host_.end_all_soon();
  EXPECT_TRUE(client->ends());
  EXPECT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
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
}  // namespace varve::serve
