// Goal: each read requests room for its answer, and is refused if there is none. The outcome of a write is reported
// with any room.
// Method: each route, with rooms of every size around that of its answer.
#include "api/rest/protocol/answer_room.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::answer_room_test {
namespace {

using namespace test;

class Room final : public AnswerRoom {
 public:
  explicit Room(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  bool grow_to(std::uint64_t bytes) override {
    asked_ = std::max(asked_, bytes);
    if (bytes > bytes_max_) return false;
    held_ = bytes;
    return true;
  }
  std::uint64_t asked() const { return asked_; }
  std::uint64_t held() const { return held_; }

 private:
  const std::uint64_t bytes_max_;
  std::uint64_t asked_ = 0;
  std::uint64_t held_ = 0;
};

HttpResponse send(ServiceBench& service, HttpRequest request, Room& room) {
  request.room = &room;
  return service.send(std::move(request));
}

TEST(AnswerRoom, EachReadIsRefusedWithoutIt) {
  ServiceBench service;
  for (int row = 0; row < 8; ++row) {
    const std::string body =
        R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + R"(","A":")" + std::string(9'000, 'x') + "\"}";
    ASSERT_EQ(outcome(service.send("POST", "Orders", body, {{"Content-Type", "application/json"}})), "201");
  }
  for (const char* const read : {"Orders()", "Orders(PartitionKey='p',RowKey='3')", "Tables"}) {
    SCOPED_TRACE(read);
    Room large(std::uint64_t{1} << 20);
    const HttpResponse whole = send(service, service.signed_request("GET", read), large);
    ASSERT_EQ(outcome(whole), "200");
    EXPECT_GE(large.held(), whole.body.size()) << "it holds what it sends";
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{whole.body.size() / 2}, large.asked() - 1}) {
      Room small(bytes);
      const HttpResponse refused = send(service, service.signed_request("GET", read), small);
      EXPECT_EQ(outcome(refused), "503 ServerBusy") << bytes;
      EXPECT_LT(refused.body.size(), 1000U);
    }
    Room enough(large.asked());
    EXPECT_EQ(outcome(send(service, service.signed_request("GET", read), enough)), "200");
  }
}

TEST(AnswerRoom, PagesAskForItWhileTheyGrow) {
  ServiceBench service;
  for (int row = 0; row < 40; ++row) {
    const std::string body =
        R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + R"(","A":")" + std::string(20'000, 'x') + "\"}";
    ASSERT_EQ(outcome(service.send("POST", "Orders", body, {{"Content-Type", "application/json"}})), "201");
  }
  Room none(0);
  ASSERT_EQ(outcome(send(service, service.signed_request("GET", "Orders()"), none)), "503 ServerBusy");
  EXPECT_LT(none.asked(), 140'000U)
      << "it was given up at the first entity that had no room, not at the end of 800,000";
}

TEST(AnswerRoom, WritesNeedNone) {
  ServiceBench service;
  const Headers json = {{"Content-Type", "application/json"}};
  const std::string entity = R"({"PartitionKey":"p","RowKey":"1","A":")" + std::string(30'000, 'x') + "\"}";
  Room none(0);
  EXPECT_EQ(outcome(send(service, service.signed_request("POST", "Tables", R"({"TableName":"More"})", json), none)),
            "201");
  EXPECT_EQ(outcome(send(service, service.signed_request("POST", "Orders", entity, json), none)), "201");
  Headers any = json;
  any.emplace_back("If-Match", "*");
  const std::string place = "Orders(PartitionKey='p',RowKey='1')";
  EXPECT_EQ(outcome(send(service, service.signed_request("PUT", place, entity, any), none)), "204");
  EXPECT_EQ(outcome(send(service, service.signed_request("MERGE", place, entity, any), none)), "204");
  EXPECT_EQ(outcome(send(service, service.signed_request("DELETE", place, "", any), none)), "204");
  EXPECT_EQ(outcome(send(service, service.signed_request("DELETE", "Tables('More')"), none)), "204");
  EXPECT_EQ(none.asked(), 0U);
}

}  // namespace
}  // namespace varve::serve::answer_room_test
