// Goal: clients read the logs of their account and delete them, and can change nothing else in `$logs`.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/analytics_bench.h"

namespace varve::serve::log_access_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

/// An account with one log.
class LogAccess : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.want_log({true, true, true, std::nullopt});
    bench_.analytics->update(clock("10:20:00"));
    EXPECT_EQ(bench_.insert("1"), "201");
    bench_.analytics->write(bench_.now);
  }
  std::string told(std::string_view verb, const std::string& resource, std::string body = {}, Headers headers = {}) {
    return outcome(bench_.to_blobs(verb, resource, std::move(body), std::move(headers)));
  }

  AnalyticsBench bench_;
  const std::string log_ = "$logs/table/2026/03/03/1000/000000.log";
};

TEST_F(LogAccess, AL02_ClientsReadListAndDeleteLogs) {
  const HttpResponse got = bench_.to_blobs("GET", log_);
  EXPECT_EQ(outcome(got), "200");
  EXPECT_THAT(got.body, HasSubstr(";InsertEntity;"));
  EXPECT_EQ(header(got, "x-ms-meta-LogVersion"), "1.0");
  EXPECT_EQ(told("HEAD", log_), "200");
  EXPECT_EQ(told("GET", log_ + "?comp=metadata"), "200");
  EXPECT_EQ(told("GET", "$logs?restype=container"), "200");
  const HttpResponse listed = bench_.to_blobs("GET", "$logs?restype=container&comp=list&prefix=table/2026");
  EXPECT_THAT(listed.body, HasSubstr("<Name>table/2026/03/03/1000/000000.log</Name>"));
  EXPECT_EQ(told("DELETE", log_), "202");
  EXPECT_EQ(told("GET", log_), "404 BlobNotFound");
}

TEST_F(LogAccess, AL02_ClientsChangeNothingElse) {
  const std::string refused = "403 AuthorizationFailure";
  const Headers block = {{"x-ms-blob-type", "BlockBlob"}};
  EXPECT_EQ(told("PUT", "$logs/a", "x", block), refused);
  EXPECT_EQ(told("PUT", log_, "x", block), refused);
  EXPECT_EQ(told("PUT", log_ + "?comp=appendblock", "x"), refused);
  EXPECT_EQ(told("PUT", "$logs/a?comp=block&blockid=MDAx", "x"), refused);
  EXPECT_EQ(told("PUT", "$logs/a?comp=blocklist", "<BlockList/>"), refused);
  EXPECT_EQ(told("PUT", log_ + "?comp=metadata", {}, {{"x-ms-meta-a", "1"}}), refused);
  EXPECT_EQ(told("PUT", log_ + "?comp=properties", {}, {{"x-ms-blob-content-type", "a/b"}}), refused);
  EXPECT_EQ(told("PUT", log_ + "?comp=tags", "<Tags><TagSet/></Tags>"), refused);
  EXPECT_EQ(told("PUT", log_ + "?comp=lease", {}, {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}),
            refused);
  EXPECT_EQ(told("PUT", "$logs/copy", {}, {{"x-ms-copy-source", "http://127.0.0.1:10002/myaccount/" + log_}}), refused);
  EXPECT_EQ(told("PUT", "$logs?restype=container"), refused);
  EXPECT_EQ(told("DELETE", "$logs?restype=container"), refused);
  EXPECT_EQ(told("PUT", "$logs?restype=container&comp=metadata", {}, {{"x-ms-meta-a", "1"}}), refused);
  EXPECT_EQ(told("PUT", "$logs?restype=container&comp=acl", "<SignedIdentifiers/>"), refused);
  EXPECT_EQ(told("PUT", "$logs?restype=container&comp=lease", {},
                 {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}),
            refused);
  EXPECT_THAT(bench_.log(log_.substr(6)), HasSubstr(";InsertEntity;"));
}

TEST_F(LogAccess, AL02_ItIsThereAlwaysAndListedOnlyIfAsked) {
  EXPECT_TRUE(bench_.store().drop_container(kAccount, "$logs").ok());
  EXPECT_EQ(told("GET", "$logs?restype=container&comp=list"), "200");
  EXPECT_TRUE(bench_.store().drop_container(kAccount, "$logs").ok());
  EXPECT_THAT(bench_.to_blobs("GET", "?comp=list").body, Not(HasSubstr("$logs")));
  EXPECT_THAT(bench_.to_blobs("GET", "?comp=list&include=system").body, HasSubstr("<Name>$logs</Name>"));
  EXPECT_THAT(bench_.to_blobs("GET", "?comp=list&include=metadata").body, Not(HasSubstr("$logs")));
  EXPECT_EQ(told("PUT", "photos?restype=container"), "201");
  const HttpResponse first = bench_.to_blobs("GET", "?comp=list&maxresults=1");
  EXPECT_THAT(first.body, HasSubstr("<Name>photos</Name>")) << "the first page is not empty";
}

}  // namespace
}  // namespace varve::serve::log_access_test
