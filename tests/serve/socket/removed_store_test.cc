// Goal: if the store's directory is removed during operation, no answer confuses a fault of the machine with the model:
// missing files cause neither a missing table nor an existing entity.
// Method: each operation of the service, after the directory was removed, and after it was moved away.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"
#include "tests/support/remove_in_use.h"

namespace varve::serve::removed_store_test {
namespace {

using namespace test;

const Headers kJson = {{"Content-Type", "application/json"}};
const Headers kAnyJson = {{"Content-Type", "application/json"}, {"If-Match", "*"}};
const Headers kXml = {{"Content-Type", "application/xml"}};

HttpResponse send(const ServedProgram& program, const std::string& bytes) {
  HttpClient client(program.port());
  if (!client.send(bytes)) return {};
  return client.read().value_or(HttpResponse{0});
}

std::string change_set(const std::string& row) {
  const std::string body = R"({"PartitionKey":"p","RowKey":")" + row + "\"}";
  return "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
         "Content-Transfer-Encoding: binary\r\n\r\nPOST http://127.0.0.1" +
         ServiceBench::path_of("Orders") + " HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" + body +
         "\r\n--c--\r\n--b--\r\n";
}

std::vector<std::string> writes() {
  const std::string place = "Orders(PartitionKey='p',RowKey='1')";
  const std::string entity = R"({"PartitionKey":"p","RowKey":"1","A":2})";
  return {
      signed_bytes("POST", "Orders", R"({"PartitionKey":"p","RowKey":"2"})", kJson),
      signed_bytes("PUT", place, entity, kAnyJson),
      signed_bytes("MERGE", place, entity, kAnyJson),
      signed_bytes("PUT", place, entity, kJson),
      signed_bytes("DELETE", place, "", {{"If-Match", "*"}}),
      signed_bytes("POST", "$batch", change_set("3"), {{"Content-Type", "multipart/mixed; boundary=b"}}),
      signed_bytes("POST", "Tables", R"({"TableName":"More"})", kJson),
      signed_bytes("DELETE", "Tables('Orders')"),
      signed_bytes("PUT", "?restype=service&comp=properties",
                   "<StorageServiceProperties><Cors/></StorageServiceProperties>", kXml),
      signed_bytes("PUT", "Orders?comp=acl", "<SignedIdentifiers/>", kXml),
  };
}

std::vector<std::string> reads() {
  return {
      signed_bytes("GET", "Orders(PartitionKey='p',RowKey='1')"),
      signed_bytes("GET", "Orders()"),
      signed_bytes("GET", "Tables"),
      signed_bytes("GET", "Tables('Orders')"),
      signed_bytes("GET", "?restype=service&comp=properties"),
      signed_bytes("GET", "Orders?comp=acl"),
  };
}

/// For a batch, the status of its last part is checked too.
bool is_failure_of_the_machine(const HttpResponse& response) {
  if (response.status != 202) return response.status >= 500;
  return response.body.find("HTTP/1.1 5") != std::string::npos;
}

TEST(RemovedStore, IsNoAnswerOfTheModel) {
  ServedProgram program(ProgramOptions{});
  ASSERT_TRUE(program.is_ready()) << program.err();
  ASSERT_EQ(send(program, signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", kJson)).status, 201);
  ASSERT_EQ(send(program, signed_bytes("POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})", kJson)).status, 201);
  ASSERT_EQ(ask(program.metrics_port(), "/health").status, 200);
  ASSERT_TRUE(remove_in_use(program.data()));
  for (int turn = 0; turn < 2; ++turn) {
    for (const std::string& bytes : writes()) {
      const HttpResponse response = send(program, bytes);
      EXPECT_TRUE(is_failure_of_the_machine(response)) << bytes << "\n" << response.status << " " << response.body;
    }
    for (const std::string& bytes : reads()) {
      const HttpResponse response = send(program, bytes);
      EXPECT_TRUE(response.status == 200 || response.status >= 500) << bytes << "\n"
                                                                    << response.status << " " << response.body;
    }
  }
  EXPECT_EQ(ask(program.metrics_port(), "/health").status, 503);
  program.signal(SIGTERM);
  (void)program.finish();
}

}  // namespace
}  // namespace varve::serve::removed_store_test
