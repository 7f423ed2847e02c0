// Goal: writes of blobs and errors have the headers and bodies that every client expects.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/blob_service_bench.h"

namespace varve::serve::blob_answers_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(BlobAnswers, BH04_EveryWriteHasAVersionAndSaysThatItIsEncrypted) {
  BlobServiceBench service;
  std::vector<HttpResponse> answers;
  answers.push_back(service.put("a", "x"));
  answers.push_back(service.send("PUT", "photos/a?comp=metadata", {}, {{"x-ms-meta-m", "1"}}));
  answers.push_back(service.send("PUT", "photos/log", {}, {{"x-ms-blob-type", "AppendBlob"}}));
  answers.push_back(service.send("PUT", "photos/log?comp=appendblock", "x"));
  EXPECT_EQ(service.told("PUT", "photos/b?comp=block&blockid=MDAx", "x"), "201");
  answers.push_back(service.send("PUT", "photos/b?comp=blocklist", "<BlockList><Latest>MDAx</Latest></BlockList>"));
  for (const HttpResponse& answer : answers) {
    EXPECT_LT(answer.status, 300U) << answer.body;
    EXPECT_THAT(header_of(answer, "ETag"), StartsWith("\"0x"));
    EXPECT_THAT(header_of(answer, "Last-Modified"), HasSubstr("GMT"));
    EXPECT_EQ(header_of(answer, "x-ms-request-server-encrypted"), "true");
  }
  const HttpResponse set = service.send("PUT", "photos/a?comp=properties", {}, {{"x-ms-blob-content-type", "a/b"}});
  EXPECT_THAT(header_of(set, "ETag"), StartsWith("\"0x"));
}

TEST(BlobAnswers, BH05_AnErrorIsXmlAndAHeadHasItsCodeAlone) {
  BlobServiceBench service;
  const HttpResponse got = service.send("GET", "photos/absent");
  EXPECT_EQ(outcome(got), "404 BlobNotFound");
  EXPECT_EQ(header_of(got, "Content-Type"), "application/xml");
  EXPECT_THAT(got.body, HasSubstr("<Code>BlobNotFound</Code>"));
  EXPECT_THAT(got.body, HasSubstr("<Message>"));
  const HttpResponse head = service.send("HEAD", "photos/absent");
  EXPECT_EQ(outcome(head), "404 BlobNotFound");
  EXPECT_EQ(head.body, "");
  const std::string etag = header_of(service.put("a", "x"), "ETag");
  const HttpResponse same = service.send("GET", "photos/a", {}, {{"If-None-Match", etag}});
  EXPECT_EQ(outcome(same), "304 ConditionNotMet");
  EXPECT_EQ(same.body, "");
}

TEST(BlobAnswers, BB05_MetadataTagsAndATierComeWithTheContent) {
  BlobServiceBench service;
  EXPECT_EQ(outcome(service.put("a", "x",
                                {{"x-ms-meta-Owner", "Ann"}, {"x-ms-tags", "t=1&u=2"}, {"x-ms-access-tier", "Cool"}})),
            "201");
  const HttpResponse head = service.send("HEAD", "photos/a");
  EXPECT_EQ(header_of(head, "x-ms-meta-Owner"), "Ann");
  EXPECT_EQ(header_of(head, "x-ms-tag-count"), "2");
  EXPECT_EQ(header_of(head, "x-ms-access-tier"), "Cool");
  EXPECT_THAT(service.send("GET", "photos/a?comp=tags").body, HasSubstr("<Tag><Key>t</Key><Value>1</Value></Tag>"));
  EXPECT_EQ(outcome(service.put("a", "y")), "201");
  const HttpResponse replaced = service.send("HEAD", "photos/a");
  EXPECT_EQ(header_of(replaced, "x-ms-meta-Owner"), "(none)");
  EXPECT_EQ(header_of(replaced, "x-ms-tag-count"), "(none)");
  EXPECT_EQ(outcome(service.put("a", "z", {{"x-ms-meta-1a", "x"}})), "400 InvalidMetadata");
}

}  // namespace
}  // namespace varve::serve::blob_answers_test
