// Goal: a request of an operator needs no signature, reaches every account, and gets the whole error. No other request
// does.
// Method: requests are handed to the dispatcher as values, with and without the mark of an operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/protocol/operator_error.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::operator_requests_test {
namespace {

using test::outcome;
using test::ServiceBench;
using ::testing::HasSubstr;

ErrorName known_error(std::string_view text) {
  if (text == "EntityAlreadyExists") return "EntityAlreadyExists";
  return "OtherError";
}

HttpRequest of_operator(HttpRequest request) {
  request.is_operator = true;
  return request;
}

TEST(OperatorRequests, NeedNoSignature) {
  ServiceBench bench;
  const HttpRequest plain = ServiceBench::request("GET", ServiceBench::path_of("Tables"));
  EXPECT_EQ(bench.send(plain).status, 401);
  EXPECT_EQ(bench.send(of_operator(plain)).status, 200);
  const HttpRequest insert =
      ServiceBench::request("POST", ServiceBench::path_of("Orders"), R"({"PartitionKey":"p","RowKey":"r"})",
                            {{"Content-Type", "application/json"}});
  EXPECT_EQ(bench.send(insert).status, 401);
  EXPECT_EQ(bench.send(of_operator(insert)).status, 201);
}

TEST(OperatorRequests, ReachAccountsThatHaveNoKey) {
  ServiceBench bench;
  ASSERT_TRUE(bench.bench.store->create_account("second").ok());
  ASSERT_TRUE(bench.bench.store->create_table("second", "Hidden").ok());
  const HttpRequest list = ServiceBench::request("GET", "/second/Tables");
  EXPECT_NE(bench.send(list).status, 200);
  EXPECT_THAT(bench.send(of_operator(list)).body, HasSubstr("Hidden"));
  EXPECT_EQ(bench.send(of_operator(ServiceBench::request("GET", "/absent/Tables"))).status, 404);
}

TEST(OperatorRequests, GetTheWholeErrorAndNobodyElseDoes) {
  ServiceBench bench;
  const Headers json = {{"Content-Type", "application/json"}};
  const std::string entity = R"({"PartitionKey":"p","RowKey":"r"})";
  ASSERT_EQ(bench.send("POST", "Orders", entity, json).status, 201);
  const HttpResponse refused = bench.send("POST", "Orders", entity, json);
  EXPECT_EQ(outcome(refused), "409 EntityAlreadyExists");
  EXPECT_EQ(find_header(refused.headers, kOperatorErrorHeader), nullptr);
  const HttpResponse told =
      bench.send(of_operator(ServiceBench::request("POST", ServiceBench::path_of("Orders"), entity, json)));
  const std::optional<Status> error = read_operator_error(told.headers, &known_error);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ((*error).code(), Code::kExists);
  EXPECT_EQ((*error).service_error(), "EntityAlreadyExists");
}

TEST(OperatorError, KeepsEveryFieldOfEveryCode) {
  for (int number = 1; number <= static_cast<int>(Code::kCancelled); ++number) {
    const Status status = Status(static_cast<Code>(number), "a: b%20\n\xC3\xA4 \"c\"")
                              .with_service_error("EntityAlreadyExists")
                              .at_operation(7)
                              .with_os_error(28);
    HttpResponse response;
    add_operator_error(response, status);
    const std::optional<Status> read = read_operator_error(response.headers, &known_error);
    ASSERT_TRUE(read.has_value()) << number;
    EXPECT_EQ((*read).code(), status.code());
    EXPECT_EQ((*read).message(), status.message());
    EXPECT_EQ((*read).service_error(), status.service_error());
    EXPECT_EQ((*read).operation_index(), status.operation_index());
    EXPECT_EQ((*read).os_error(), status.os_error());
  }
}

TEST(OperatorError, ThatIsMalformedIsNone) {
  for (const char* const text : {"", "NotFound", "NotFound - - 0", "Ok - - 0 x", "Nothing - - 0 x", "NotFound - x 0 x",
                                 "NotFound - - x x", "NotFound - - 0 %zz", "NotFound - - 0 a b"}) {
    HttpResponse response;
    response.with(kOperatorErrorHeader, text);
    EXPECT_FALSE(read_operator_error(response.headers, &known_error).has_value()) << text;
  }
  EXPECT_FALSE(read_operator_error({}, &known_error).has_value());
}

}  // namespace
}  // namespace varve::serve::operator_requests_test
