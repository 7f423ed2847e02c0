// Goal: `varve account properties` does the same beside a server and at the address of a service as in a directory, and the
// server follows a change at once.
// Method: server and program run as processes. The same lines run on a served store and on a store of their own.
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve::served_properties_test {
namespace {

using test::HttpClient;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

ProgramResult properties_at(const std::string& store, Words words) {
  words.insert(words.begin(), {"account", "properties", store});
  return run_program(words);
}

class ServedProperties : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    ASSERT_EQ(run_program({"account", "create", local_, "devstoreaccount1"}).exit_code, 0);
  }

  /// Runs the line on both stores. Returns the result of the served one.
  ProgramResult both(const Words& words) const {
    const ProgramResult served = properties_at(server_.data(), words);
    const ProgramResult local = properties_at(local_, words);
    EXPECT_EQ(served.exit_code, local.exit_code) << words[0] << ": " << served.err << local.err;
    EXPECT_EQ(served.out, local.out) << words[0];
    EXPECT_EQ(served.err, local.err) << words[0];
    return served;
  }
  std::string address_of(const std::string& service) const {
    if (service != "tables") return server_.address_of(service);
    return "http://127.0.0.1:" + std::to_string(server_.port()) + "/devstoreaccount1";
  }
  /// Returns the status of the answer to a browser that asks whether a page may read.
  int preflight_status(const std::string& service) const {
    const std::string address = address_of(service);
    const std::size_t port = address.find(':', address.find("//")) + 1;
    HttpClient client(static_cast<std::uint16_t>(std::stoi(address.substr(port))));
    EXPECT_TRUE(
        client.send("OPTIONS /devstoreaccount1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://shop.example"
                    "\r\nAccess-Control-Request-Method: GET\r\n\r\n"));
    const std::optional<HttpResponse> answer = client.read();
    return answer ? answer->status : 0;
  }

  const ServedProgram server_{ProgramOptions{{"--listen-queues", "127.0.0.1:0", "--listen-blobs", "127.0.0.1:0"}}};
  ScratchDirectory scratch_;
  const std::string local_ = scratch_.path("store");
};

TEST_F(ServedProperties, AreTheSameAsWithoutAServer) {
  for (const std::string service : {"tables", "queues", "blobs"}) {
    EXPECT_EQ(both({service}).exit_code, 0);
    EXPECT_EQ(both({service, "--log", "read,delete", "--log-days", "7"}).exit_code, 0);
    EXPECT_EQ(
        both({service, "--hour-metrics", "operations", "--minute-metrics", "sums", "--minute-days", "365", "--json"})
            .exit_code,
        0);
    EXPECT_EQ(both({service, "--cors-origins", "https://a.example,https://b.example", "--cors-methods", "GET,PUT",
                    "--cors-max-age", "60", "--cors-headers", "x-ms-meta-a&b", "--cors-exposed", "x-ms-*"})
                  .exit_code,
              0);
    EXPECT_THAT(both({service}).out, HasSubstr("headers x-ms-meta-a&b; exposed x-ms-*\n"));
    EXPECT_EQ(both({service, "--json"}).exit_code, 0);
    EXPECT_EQ(both({service, "--log-days", "366"}).exit_code, 1);
    EXPECT_EQ(both({service, "--cors-clear", "--log", "none", "--log-days", "0"}).exit_code, 0);
    EXPECT_EQ(both({service}).exit_code, 0);
  }
  EXPECT_EQ(both({"blobs", "--default-version", "2021-12-02"}).exit_code, 0);
  EXPECT_THAT(both({"blobs"}).out, HasSubstr("default version  2021-12-02\n"));
  EXPECT_EQ(both({"blobs", "--default-version", "none"}).exit_code, 0);
  EXPECT_THAT(both({"blobs"}).out, HasSubstr("default version  none\n"));
  EXPECT_EQ(properties_at(server_.data(), {"tables", "--account", "none"}).exit_code, 1);
}

TEST_F(ServedProperties, AreTheSameAtAnAddress) {
  for (const std::string service : {"tables", "queues", "blobs"}) {
    const std::string address = address_of(service);
    EXPECT_EQ(
        properties_at(address, {service, "--log", "write", "--hour-metrics", "sums", "--hour-days", "2"}).exit_code, 0);
    EXPECT_EQ(properties_at(address, {service, "--cors-origins", "*", "--cors-methods", "GET"}).exit_code, 0);
    const std::string shown = properties_at(address, {service}).out;
    EXPECT_THAT(shown, HasSubstr("log              write\n")) << service;
    EXPECT_THAT(shown, HasSubstr("cors             origins *; methods GET; max-age 0; headers -; exposed -\n"))
        << service;
    EXPECT_EQ(shown, properties_at(server_.data(), {service}).out);
    EXPECT_EQ(properties_at(address, {service, "--json"}).out, properties_at(server_.data(), {service, "--json"}).out);
  }
  EXPECT_EQ(properties_at(address_of("blobs"), {"blobs", "--default-version", "2021-12-02"}).exit_code, 0);
  EXPECT_THAT(properties_at(server_.data(), {"blobs"}).out, HasSubstr("default version  2021-12-02\n"));
  EXPECT_THAT(properties_at(address_of("queues"), {"blobs"}).err, HasSubstr("a queue service answers at this address"));
}

TEST_F(ServedProperties, AreFollowedByTheNextRequest) {
  for (const std::string service : {"tables", "queues", "blobs"}) {
    EXPECT_EQ(preflight_status(service), 403) << service;
    EXPECT_EQ(properties_at(server_.data(), {service, "--cors-origins", "*", "--cors-methods", "GET"}).exit_code, 0);
    EXPECT_EQ(preflight_status(service), 200) << service;
    EXPECT_EQ(properties_at(server_.data(), {service, "--cors-clear"}).exit_code, 0);
    EXPECT_EQ(preflight_status(service), 403) << service;
  }
  EXPECT_EQ(properties_at(server_.data(), {"tables", "--cors-origins", "*", "--cors-methods", "GET"}).exit_code, 0);
  EXPECT_EQ(preflight_status("tables"), 200);
  EXPECT_EQ(run_program({"account", "drop", server_.data(), "devstoreaccount1", "--yes"}).exit_code, 0);
  EXPECT_NE(preflight_status("tables"), 200) << "the rules went with the account";
}

}  // namespace
}  // namespace varve::serve::served_properties_test
