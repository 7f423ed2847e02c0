// Goal: the blob service answers as the specification says: containers, contents, states, leases, listings, errors.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/model/percent.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "format/bytes/crc64.h"
#include "tests/serve/blob_service_bench.h"

namespace varve::serve::blob_service_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kLease = "0f1e2d3c-0000-4000-8000-00000000abcd";

std::string varied(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i * 31 + i / 4099) % 26);
  return text;
}

class BlobService : public ::testing::Test {
 protected:
  BlobServiceBench service_;
};

TEST_F(BlobService, BB01_BG01_BG02_APutIsReadBack) {
  const HttpResponse put = service_.put(
      "eu/a%20b.txt", "hello",
      {{"Content-Type", "text/plain"}, {"x-ms-meta-Owner", "Ann"}, {"x-ms-blob-cache-control", "max-age=5"}});
  EXPECT_EQ(outcome(put), "201");
  EXPECT_EQ(header_of(put, "Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(header_of(put, "x-ms-content-crc64"), crc64_text(format::crc64("hello")));
  EXPECT_EQ(header_of(put, "x-ms-request-server-encrypted"), "true");
  const HttpResponse got = service_.send("GET", "photos/eu/a%20b.txt");
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(header_of(got, "ETag"), header_of(put, "ETag"));
  EXPECT_EQ(header_of(got, "Last-Modified"), header_of(put, "Last-Modified"));
  EXPECT_EQ(header_of(got, "Content-Type"), "text/plain");
  EXPECT_EQ(header_of(got, "Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(header_of(got, "x-ms-meta-Owner"), "Ann");
  EXPECT_EQ(header_of(got, "x-ms-blob-type"), "BlockBlob");
  EXPECT_EQ(header_of(got, "x-ms-lease-state"), "available");
  EXPECT_EQ(header_of(got, "x-ms-access-tier"), "Hot");
  EXPECT_EQ(header_of(got, "x-ms-access-tier-inferred"), "true");
  EXPECT_EQ(header_of(got, "Accept-Ranges"), "bytes");
  EXPECT_EQ(count_headers(got.headers, "Cache-Control"), 1U);
  EXPECT_EQ(header_of(got, "Cache-Control"), "max-age=5");
  const HttpResponse head = service_.send("HEAD", "photos/eu/a%20b.txt");
  EXPECT_EQ(outcome(head), "200");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.stated_bytes, 5U);
  EXPECT_EQ(header_of(head, "x-varve-content-crc64"), header_of(got, "x-varve-content-crc64"));
}

TEST_F(BlobService, BG05_AnEmptyBlobHasNoBytesAndNoRange) {
  EXPECT_EQ(outcome(service_.put("empty", "")), "201");
  const HttpResponse got = service_.send("GET", "photos/empty");
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(got.body, "");
  const HttpResponse part = service_.send("GET", "photos/empty", {}, {{"x-ms-range", "bytes=0-"}});
  EXPECT_EQ(outcome(part), "416 InvalidRange");
  EXPECT_EQ(header_of(part, "Content-Range"), "bytes */0");
}

TEST_F(BlobService, BG03_BG04_ARangeIsAPart) {
  const std::string content = varied(2'000'000);
  EXPECT_EQ(outcome(service_.put("a", content)), "201");
  const HttpResponse part = service_.send("GET", "photos/a", {}, {{"x-ms-range", "bytes=100000-1500000"}});
  EXPECT_EQ(outcome(part), "206");
  EXPECT_EQ(header_of(part, "Content-Range"), "bytes 100000-1500000/2000000");
  EXPECT_TRUE(part.body == content.substr(100'000, 1'400'001));
  EXPECT_EQ(header_of(part, "Content-MD5"), "(none)");
  EXPECT_NE(header_of(part, "x-ms-blob-content-md5"), "(none)");
  EXPECT_GT(service_.pieces, 3) << "a long part is read while it is sent";
  EXPECT_EQ(service_.send("GET", "photos/a", {}, {{"Range", "bytes=-5"}}).body.size(), content.size());
  const std::string etag = header_of(part, "ETag");
  EXPECT_EQ(service_.send("GET", "photos/a", {}, {{"Range", "bytes=0-4"}, {"If-Range", etag}}).status, 206);
  for (const std::string other : {"\"0x1\"", "W/\"0x1\"", "*", "Tue, 03 Mar 2026 10:20:30 GMT"}) {
    const HttpResponse whole = service_.send("GET", "photos/a", {}, {{"Range", "bytes=0-4"}, {"If-Range", other}});
    EXPECT_EQ(outcome(whole), "200") << other;
    EXPECT_EQ(whole.body.size(), content.size()) << other;
  }
  const HttpResponse summed =
      service_.send("GET", "photos/a", {}, {{"x-ms-range", "bytes=0-4"}, {"x-ms-range-get-content-crc64", "true"}});
  EXPECT_EQ(header_of(summed, "x-ms-content-crc64"), crc64_text(format::crc64(content.substr(0, 5))));
  EXPECT_EQ(service_.told("GET", "photos/a", {}, {{"x-ms-range-get-content-md5", "true"}}), "400 InvalidHeaderValue");
}

TEST_F(BlobService, BB04_BH07_AWrongChecksumStoresNothing) {
  const std::string zero_md5 = "AAAAAAAAAAAAAAAAAAAAAA==";
  EXPECT_EQ(outcome(service_.put("a", "x", {{"Content-MD5", zero_md5}})), "400 Md5Mismatch");
  EXPECT_EQ(outcome(service_.put("a", "x", {{"x-ms-content-crc64", "AAAAAAAAAAA="}})), "400 Crc64Mismatch");
  EXPECT_EQ(outcome(service_.put("a", "x", {{"x-ms-blob-content-md5", zero_md5}})), "400 Md5Mismatch");
  EXPECT_EQ(service_.told("GET", "photos/a"), "404 BlobNotFound");
  EXPECT_EQ(outcome(service_.put("a", "hello", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}})), "201");
  EXPECT_EQ(outcome(service_.put("a", "123456789", {{"x-ms-content-crc64", "iJh5CoYUi64="}})), "201");
  Headers wrong = {{"x-ms-blob-type", "BlockBlob"}, {"Content-MD5", zero_md5}};
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a", varied(500'000), 100'000, wrong)), "400 Md5Mismatch");
  EXPECT_EQ(service_.send("GET", "photos/a").body, "123456789");
}

TEST_F(BlobService, BB01_BX03_AContentInPiecesIsTheWholeContent) {
  const std::string content = varied(5'000'000);
  const HttpResponse put =
      service_.send_pieces("PUT", "photos/large", content, 131'072, {{"x-ms-blob-type", "BlockBlob"}});
  EXPECT_EQ(outcome(put), "201");
  EXPECT_EQ(header_of(put, "x-ms-content-crc64"), crc64_text(format::crc64(content)));
  EXPECT_TRUE(service_.send("GET", "photos/large").body == content);
  const HttpResponse small =
      service_.send_pieces("PUT", "photos/small", "hello", 131'072, {{"x-ms-blob-type", "BlockBlob"}});
  EXPECT_EQ(outcome(small), "201");
  EXPECT_EQ(service_.send("GET", "photos/small").body, "hello");
}

TEST_F(BlobService, BH06_ARefusedUploadIsNotRead) {
  const std::string content = varied(500'000);
  const Headers block = {{"x-ms-blob-type", "BlockBlob"}};
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "absent/a", content, 1000, block)), "404 ContainerNotFound");
  EXPECT_EQ(service_.bytes_read, 0U);
  service_.put("a", "x");
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a", content, 1000,
                                         {{"x-ms-blob-type", "BlockBlob"}, {"If-None-Match", "*"}})),
            "409 BlobAlreadyExists");
  EXPECT_EQ(service_.bytes_read, 0U);
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a", content, 1000, {{"x-ms-blob-type", "PageBlob"}})),
            "501 NotImplemented");
  EXPECT_EQ(service_.bytes_read, 0U);
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a", content, 1000)), "400 MissingRequiredHeader");
  EXPECT_EQ(service_.bytes_read, 0U);
}

TEST_F(BlobService, BB02_BC01_ConditionsGuardAPut) {
  const std::string etag = header_of(service_.put("a", "1"), "ETag");
  EXPECT_EQ(outcome(service_.put("a", "2", {{"If-None-Match", "*"}})), "409 BlobAlreadyExists");
  EXPECT_EQ(outcome(service_.put("a", "2", {{"If-Match", "\"0x1\""}})), "412 ConditionNotMet");
  EXPECT_EQ(outcome(service_.put("absent", "2", {{"If-Match", etag}})), "412 ConditionNotMet");
  EXPECT_EQ(outcome(service_.put("a", "2", {{"If-Match", etag}})), "201");
  EXPECT_EQ(outcome(service_.put("a", "3", {{"If-Match", etag}})), "412 ConditionNotMet");
  EXPECT_EQ(service_.send("GET", "photos/a").body, "2");
}

TEST_F(BlobService, BC01_BC02_ConditionsOfReads) {
  const std::string etag = header_of(service_.put("a", "1"), "ETag");
  for (const std::string verb : {"GET", "HEAD"}) {
    const HttpResponse unchanged = service_.send(verb, "photos/a", {}, {{"If-None-Match", etag}});
    EXPECT_EQ(unchanged.status, 304) << verb;
    EXPECT_EQ(unchanged.body, "");
    EXPECT_EQ(header_of(unchanged, "x-ms-error-code"), "ConditionNotMet");
    EXPECT_EQ(service_.send(verb, "photos/a", {}, {{"If-Match", "\"0x1\""}}).status, 412) << verb;
    EXPECT_EQ(service_.send(verb, "photos/a", {}, {{"If-Match", etag}}).status, 200) << verb;
    EXPECT_EQ(service_.send(verb, "photos/a", {}, {{"If-None-Match", "*"}}).status, 400) << verb;
  }
}

TEST_F(BlobService, BB06_BB08_BB20_BlocksBecomeAContent) {
  const std::string first = percent_encode("MDAwMQ==");
  const std::string second = percent_encode("MDAwMg==");
  const HttpResponse staged = service_.send("PUT", "photos/a?comp=block&blockid=" + first, "one ");
  EXPECT_EQ(outcome(staged), "201");
  EXPECT_EQ(header_of(staged, "x-ms-content-crc64"), crc64_text(format::crc64("one ")));
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a?comp=block&blockid=" + second, varied(300'000), 100'000)),
            "201");
  EXPECT_EQ(service_.told("GET", "photos/a"), "404 BlobNotFound");
  EXPECT_THAT(service_.send("GET", "photos/a?comp=blocklist&blocklisttype=all").body,
              HasSubstr("<UncommittedBlocks><Block><Name>MDAwMQ==</Name><Size>4</Size></Block>"));
  const std::string list =
      "<BlockList><Latest>MDAwMQ==</Latest><Uncommitted>MDAwMg==</Uncommitted><Latest>MDAwMQ==</Latest></BlockList>";
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=blocklist", list, {{"x-ms-blob-content-type", "text/plain"}}), "201");
  const HttpResponse got = service_.send("GET", "photos/a");
  EXPECT_TRUE(got.body == "one " + varied(300'000) + "one ");
  EXPECT_EQ(header_of(got, "Content-Type"), "text/plain");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=blocklist", "<BlockList><Latest>OTk5OQ==</Latest></BlockList>"),
            "400 InvalidBlockList");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=block&blockid=" + first, ""), "400 InvalidHeaderValue");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=block&blockid=x", "x"), "400 InvalidQueryParameterValue");
}

TEST_F(BlobService, BA01_BA03_BA05_AppendsGoToTheEnd) {
  EXPECT_EQ(service_.told("PUT", "photos/log", "", {{"x-ms-blob-type", "AppendBlob"}}), "201");
  const HttpResponse appended = service_.send("PUT", "photos/log?comp=appendblock", "one");
  EXPECT_EQ(outcome(appended), "201");
  EXPECT_EQ(header_of(appended, "x-ms-blob-append-offset"), "0");
  EXPECT_EQ(header_of(appended, "x-ms-blob-committed-block-count"), "1");
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "two", {{"x-ms-blob-condition-appendpos", "3"}}),
            "201");
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "two", {{"x-ms-blob-condition-appendpos", "3"}}),
            "412 AppendPositionConditionNotMet");
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "two", {{"x-ms-blob-condition-maxsize", "8"}}),
            "412 MaxBlobSizeConditionNotMet");
  EXPECT_EQ(service_.send("GET", "photos/log").body, "onetwo");
  EXPECT_EQ(service_.told("PUT", "photos/absent?comp=appendblock", "x"), "404 BlobNotFound");
  service_.put("block", "x");
  EXPECT_EQ(service_.told("PUT", "photos/block?comp=appendblock", "x"), "409 InvalidBlobType");
  EXPECT_EQ(service_.told("PUT", "photos/x", "body", {{"x-ms-blob-type", "AppendBlob"}}), "400 InvalidHeaderValue");
}

TEST(BlobServiceOfALimitedStore, BA04_AppendsBeyondTheLimitAreRefused) {
  BlobServiceBench service({}, accounts(), StoreLimits{.blob_appends_max = 2});
  EXPECT_EQ(service.told("PUT", "photos/log", "", {{"x-ms-blob-type", "AppendBlob"}}), "201");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(service.told("PUT", "photos/log?comp=appendblock", "x"), "201") << i;
  EXPECT_EQ(service.told("PUT", "photos/log?comp=appendblock", "x"), "409 BlockCountExceedsLimit");
  const HttpResponse got = service.send("GET", "photos/log");
  EXPECT_EQ(got.body, "xx");
  EXPECT_EQ(header_of(got, "x-ms-blob-committed-block-count"), "2");
}

TEST_F(BlobService, BP01_BP03_BT01_BT10_PartsOfAStateAreSet) {
  const std::string etag = header_of(service_.put("a", "1", {{"x-ms-tags", "year=2026"}}), "ETag");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=metadata", "", {{"x-ms-meta-b", "2"}}), "200");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a?comp=metadata"), "x-ms-meta-b"), "2");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=properties", "", {{"x-ms-blob-content-language", "de"}}), "200");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=properties", ""), "200");
  const HttpResponse head = service_.send("HEAD", "photos/a");
  EXPECT_EQ(header_of(head, "Content-Language"), "de") << "a request without properties clears none";
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=properties", "", {{"If-Match", etag}}), "412 ConditionNotMet");
  EXPECT_EQ(
      service_.told("PUT", "photos/a?comp=properties", "", {{"If-Unmodified-Since", "Tue, 03 Mar 2020 10:20:30 GMT"}}),
      "412 ConditionNotMet");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=properties", "", {{"x-ms-lease-id", std::string(kLease)}}),
            "412 LeaseNotPresentWithBlobOperation");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a"), "ETag"), header_of(head, "ETag"));
  EXPECT_NE(header_of(head, "ETag"), etag);
  EXPECT_EQ(header_of(head, "x-ms-tag-count"), "1");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tags",
                          "<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>"),
            "204");
  EXPECT_THAT(service_.send("GET", "photos/a?comp=tags").body, HasSubstr("<Key>a</Key><Value>b</Value>"));
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tier", "", {{"x-ms-access-tier", "Archive"}}), "200");
  EXPECT_EQ(service_.told("GET", "photos/a"), "409 BlobArchived");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tier", "", {{"x-ms-access-tier", "Cool"}}), "200");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a"), "x-ms-access-tier"), "Cool");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a"), "ETag"), header_of(head, "ETag"));
}

TEST_F(BlobService, BE01_BE03_ALeaseGuardsWrites) {
  service_.put("a", "1");
  const HttpResponse leased = service_.send("PUT", "photos/a?comp=lease", "",
                                            {{"x-ms-lease-action", "acquire"},
                                             {"x-ms-lease-duration", "-1"},
                                             {"x-ms-proposed-lease-id", std::string(kLease)}});
  EXPECT_EQ(outcome(leased), "201");
  EXPECT_EQ(header_of(leased, "x-ms-lease-id"), kLease);
  EXPECT_EQ(outcome(service_.put("a", "2")), "412 LeaseIdMissing");
  EXPECT_EQ(outcome(service_.put("a", "2", {{"x-ms-lease-id", Guid::random().to_string()}})),
            "412 LeaseIdMismatchWithBlobOperation");
  EXPECT_EQ(outcome(service_.put("a", "2", {{"x-ms-lease-id", std::string(kLease)}})), "201");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=lease", "",
                          {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "15"}}),
            "409 LeaseAlreadyPresent");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a"), "x-ms-lease-duration"), "infinite");
  const HttpResponse broken = service_.send("PUT", "photos/a?comp=lease", "",
                                            {{"x-ms-lease-action", "break"}, {"x-ms-lease-break-period", "0"}});
  EXPECT_EQ(outcome(broken), "202");
  EXPECT_EQ(header_of(broken, "x-ms-lease-time"), "0");
  EXPECT_EQ(service_.told("DELETE", "photos/a"), "202");
}

TEST_F(BlobService, BN03_TheHostMayNameTheAccountAndNoOtherService) {
  service_.put("a", "1");
  HttpRequest request;
  request.head.verb = "GET";
  ASSERT_TRUE(set_target(request, "/photos/a"));
  request.head.headers = {{"Host", std::string(kAccount) + ".blob.localhost:10000"},
                          {"x-ms-date", std::string(kDateText)},
                          {"x-ms-version", "2021-12-02"}};
  request.head.headers.emplace_back(
      "Authorization",
      *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, request.head, credentials(),
                                          security::KeyChoice::kPrimary, StorageService::kBlobs));
  const HttpResponse got = service_.send(request);
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(got.body, "1");
  request.head.headers.front().second = std::string(kAccount) + ".queue.localhost:10000";  // the signature has no host
  EXPECT_EQ(outcome(service_.send(std::move(request))), "400 InvalidUri");
}

TEST_F(BlobService, BD01_BD02_ADeleteTakesTheBlob) {
  service_.put("a", "1");
  EXPECT_EQ(service_.told("DELETE", "photos/a", "", {{"x-ms-delete-snapshots", "only"}}), "202");
  EXPECT_EQ(service_.told("GET", "photos/a"), "200");
  EXPECT_EQ(service_.told("GET", "photos/a?snapshot=2026-03-03T10:20:30.0000000Z"), "404 BlobNotFound");
  EXPECT_EQ(service_.told("DELETE", "photos/a?snapshot=2026-03-03T10:20:30.0000000Z"),
            "400 InvalidQueryParameterValue");
  const std::string snapshot = "snapshot=2026-03-03T10:20:30.0000000Z";
  for (const std::string part : {"comp=block&blockid=AAAA&", "comp=blocklist&", "comp=appendblock&", "comp=properties&",
                                 "comp=metadata&", "comp=tags&", "comp=tier&", "comp=lease&", ""}) {
    EXPECT_EQ(service_.told("PUT", "photos/a?" + part + snapshot, "2", {{"x-ms-blob-type", "BlockBlob"}}),
              "400 InvalidQueryParameterValue")
        << part;
  }
  EXPECT_EQ(service_.told("PUT", "photos/b?" + snapshot, "", {{"x-ms-copy-source", "http://127.0.0.1/x/photos/a"}}),
            "400 InvalidQueryParameterValue");
  for (const std::string part : {"comp=blocklist&", "comp=metadata&", "comp=tags&", ""}) {
    EXPECT_EQ(service_.told("GET", "photos/a?" + part + snapshot), "404 BlobNotFound") << part;
  }
  EXPECT_EQ(service_.send("GET", "photos/a").body, "1");
  EXPECT_EQ(service_.told("DELETE", "photos/a", "", {{"x-ms-delete-snapshots", "include"}}), "202");
  EXPECT_EQ(service_.told("DELETE", "photos/a"), "404 BlobNotFound");
}

TEST_F(BlobService, BY01_BY02_BY03_BY05_ACopyIsCompleteAtOnce) {
  service_.put("a", "content", {{"Content-Type", "text/plain"}, {"x-ms-meta-a", "1"}});
  const std::string root = "http://127.0.0.1:10002/" + std::string(kAccount);
  HttpRequest probe = service_.signed_request("GET", "photos/a");
  const std::string host = host_of(probe);
  const std::string source = "http://" + host + "/" + std::string(kAccount) + "/photos/a";
  const HttpResponse copied = service_.send("PUT", "photos/b", "", {{"x-ms-copy-source", source}});
  EXPECT_EQ(outcome(copied), "202") << copied.body;
  EXPECT_EQ(header_of(copied, "x-ms-copy-status"), "success");
  const HttpResponse got = service_.send("GET", "photos/b");
  EXPECT_EQ(got.body, "content");
  EXPECT_EQ(header_of(got, "Content-Type"), "text/plain");
  EXPECT_EQ(header_of(got, "x-ms-meta-a"), "1");
  EXPECT_EQ(header_of(got, "x-ms-copy-id"), header_of(copied, "x-ms-copy-id"));
  EXPECT_EQ(header_of(got, "x-ms-copy-source"), source);
  const HttpResponse put = service_.send(
      "PUT", "photos/c", "",
      {{"x-ms-copy-source", source}, {"x-ms-blob-type", "BlockBlob"}, {"x-ms-blob-content-type", "image/png"}});
  EXPECT_EQ(outcome(put), "201");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/c"), "Content-Type"), "image/png");
  EXPECT_EQ(service_.told("PUT", "photos/d", "", {{"x-ms-copy-source", "http://elsewhere.example/a/photos/a"}}),
            "403 CannotVerifyCopySource");
  EXPECT_EQ(service_.told("PUT", "photos/d", "", {{"x-ms-copy-source", source + "x"}}), "404 BlobNotFound");
  EXPECT_EQ(service_.told("PUT", "photos/b?comp=copy&copyid=1", "", {{"x-ms-copy-action", "abort"}}),
            "409 NoPendingCopyOperation");
}

TEST_F(BlobService, BB10_BB11_BB12_BB13_BB17_ContainersAreMadeChangedListedAndDeleted) {
  EXPECT_EQ(service_.told("PUT", "made?restype=container", "", {{"x-ms-meta-a", "1"}}), "201");
  EXPECT_EQ(service_.told("PUT", "made?restype=container", ""), "409 ContainerAlreadyExists");
  EXPECT_EQ(service_.told("PUT", "other?restype=container", "", {{"x-ms-blob-public-access", "blob"}}),
            "409 PublicAccessNotPermitted");
  const HttpResponse head = service_.send("HEAD", "made?restype=container");
  EXPECT_EQ(header_of(head, "x-ms-meta-a"), "1");
  EXPECT_EQ(header_of(head, "x-ms-lease-state"), "available");
  EXPECT_EQ(header_of(head, "x-ms-has-legal-hold"), "false");
  EXPECT_EQ(service_.told("PUT", "made?restype=container&comp=metadata", "", {{"x-ms-meta-b", "2"}}), "200");
  const std::string listed = service_.send("GET", "?comp=list&include=metadata&prefix=m").body;
  EXPECT_EQ(service_.told("GET", "?comp=list&marker=junk"), "400 InvalidMarker");
  EXPECT_EQ(service_.told("GET", "photos?restype=container&comp=list&marker=junk"), "400 InvalidMarker");
  EXPECT_THAT(listed, HasSubstr("<Name>made</Name>"));
  EXPECT_THAT(listed, HasSubstr("<Metadata><b>2</b></Metadata>"));
  EXPECT_THAT(listed, Not(HasSubstr("<Name>photos</Name>")));
  EXPECT_EQ(service_.told("DELETE", "made?restype=container"), "202");
  EXPECT_EQ(service_.told("GET", "made?restype=container"), "404 ContainerNotFound");
  EXPECT_EQ(service_.told("PUT", "made/a", "x", {{"x-ms-blob-type", "BlockBlob"}}), "404 ContainerNotFound");
}

TEST_F(BlobService, BB14_BS11_APolicyOfAContainerPermitsReads) {
  const std::string policies =
      "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Expiry>2026-03-04T00:00:00Z</Expiry>"
      "<Permission>rl</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
  EXPECT_EQ(service_.told("PUT", "photos?restype=container&comp=acl", policies), "200");
  EXPECT_THAT(service_.send("GET", "photos?restype=container&comp=acl").body, HasSubstr("<Permission>rl</Permission>"));
  service_.put("a", "content");
  security::BlobSasTerms terms;
  terms.container = "photos";
  terms.policy = "readers";
  const std::string token = security::to_query(*security::sign_blob_sas(terms, credentials()));
  EXPECT_EQ(service_.send_by(token, "GET", "photos/a").body, "content");
  EXPECT_EQ(outcome(service_.send_by(token, "GET", "photos?restype=container&comp=list")), "200");
  EXPECT_EQ(outcome(service_.send_by(token, "DELETE", "photos/a")), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(outcome(service_.send_by(token, "GET", "photos?restype=container&comp=acl")), "403 AuthorizationFailure");
  EXPECT_EQ(service_.told("PUT", "photos?restype=container&comp=acl", ""), "200");
  EXPECT_EQ(outcome(service_.send_by(token, "GET", "photos/a")), "403 AuthenticationFailed");
}

TEST_F(BlobService, BS12_BS13_BG07_ASignatureThatMayOnlyCreateMeetsNoBlob) {
  security::BlobSasTerms terms;
  terms.container = "photos";
  terms.permissions = *Permissions::parse_for_blob("c");
  terms.expiry = at("2026-03-04T00:00:00Z");
  const std::string token = security::to_query(*security::sign_blob_sas(terms, credentials()));
  const Headers headers = {{"x-ms-blob-type", "BlockBlob"}};
  EXPECT_EQ(outcome(service_.send_by(token, "PUT", "photos/new", "1", headers)), "201");
  EXPECT_EQ(outcome(service_.send_by(token, "PUT", "photos/new", "2", headers)), "409 BlobAlreadyExists");
  const std::string source =
      "http://" + host_of(service_.signed_request("GET", "photos/new")) + "/" + std::string(kAccount) + "/photos/new";
  security::AccountSasTerms account;
  account.services = "b";
  account.resource_types = "o";
  account.permissions = "c";
  account.expiry = terms.expiry;
  const std::string wide = security::to_query(*security::sign_account_sas(account, credentials()));
  for (const std::string& by : {token, wide}) {
    for (const Headers& own : {Headers(), Headers{{"If-None-Match", "\"0x1\""}}, Headers{{"If-None-Match", "*"}}}) {
      Headers block = own;
      block.emplace_back("x-ms-blob-type", "BlockBlob");
      Headers append = own;
      append.emplace_back("x-ms-blob-type", "AppendBlob");
      EXPECT_EQ(outcome(service_.send_by(by, "PUT", "photos/new", "2", block)), "409 BlobAlreadyExists");
      EXPECT_EQ(outcome(service_.send_by(by, "PUT", "photos/new", "", append)), "409 BlobAlreadyExists");
      EXPECT_EQ(outcome(service_.send_by(by, "PUT", "photos/new?comp=blocklist", "<BlockList></BlockList>", own)),
                "409 BlobAlreadyExists");
      EXPECT_EQ(outcome(service_.send_pieces_by(by, "photos/new", varied(300'000), block)), "409 BlobAlreadyExists");
    }
  }
  terms.permissions = *Permissions::parse_for_blob("rc");
  const std::string copying = security::to_query(*security::sign_blob_sas(terms, credentials()));
  EXPECT_EQ(outcome(service_.send_by(copying, "PUT", "photos/new", "",
                                     {{"x-ms-copy-source", source}, {"If-None-Match", "\"0x1\""}})),
            "409 BlobAlreadyExists");
  EXPECT_EQ(service_.send("GET", "photos/new").body, "1");
  terms.permissions = *Permissions::parse_for_blob("r");
  terms.blob = "new";
  terms.overrides.content_type = "image/gif";
  const std::string reading = security::to_query(*security::sign_blob_sas(terms, credentials()));
  EXPECT_EQ(header_of(service_.send_by(reading, "GET", "photos/new"), "Content-Type"), "image/gif");
  EXPECT_EQ(outcome(service_.send_by(reading, "GET", "photos/other")), "403 AuthenticationFailed");
}

TEST_F(BlobService, BL01_BL02_BL06_AListingFoldsAndGoesOn) {
  for (const std::string name : {"a", "eu/1", "eu/2", "us/1", "z"}) service_.put(name, "x");
  const std::string all = service_.send("GET", "photos?restype=container&comp=list").body;
  for (const std::string name : {"a", "eu/1", "eu/2", "us/1", "z"}) {
    EXPECT_THAT(all, HasSubstr("<Name>" + name + "</Name>"));
  }
  const std::string folded = service_.send("GET", "photos?restype=container&comp=list&delimiter=%2F").body;
  EXPECT_THAT(folded, HasSubstr("<BlobPrefix><Name>eu/</Name></BlobPrefix><BlobPrefix><Name>us/</Name></BlobPrefix>"));
  EXPECT_THAT(folded, Not(HasSubstr("eu/1")));
  std::vector<std::string> names;
  std::string marker;
  do {
    const std::string page =
        service_.send("GET", "photos?restype=container&comp=list&maxresults=2&marker=" + percent_encode(marker)).body;
    for (std::size_t at = 0; (at = page.find("<Blob><Name>", at)) != std::string::npos; ++at) {
      names.push_back(page.substr(at + 12, page.find('<', at + 12) - at - 12));
    }
    const std::size_t begin = page.find("<NextMarker>");
    marker = begin == std::string::npos ? "" : page.substr(begin + 12, page.find('<', begin + 12) - begin - 12);
  } while (!marker.empty());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "eu/1", "eu/2", "us/1", "z"}));
  EXPECT_EQ(service_.told("GET", "photos?restype=container&comp=list&include=other"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "photos?restype=container&comp=list&maxresults=0"),
            "400 OutOfRangeQueryParameterValue");
}

TEST_F(BlobService, BN05_BZ01_ErrorsComeAfterTheCallerIsKnown) {
  HttpRequest open = ServiceBench::request("GET", ServiceBench::path_of("absent/a"));
  EXPECT_EQ(outcome(service_.send(open)), "401 NoAuthenticationInformation");
  EXPECT_EQ(service_.told("GET", "absent/a"), "404 ContainerNotFound");
  EXPECT_EQ(service_.told("GET", "photos/absent"), "404 BlobNotFound");
  EXPECT_EQ(service_.told("POST", "photos/a"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=page", ""), "501 NotImplemented");
  EXPECT_EQ(service_.told("GET", "photos/a?versionid=1"), "501 NotImplemented");
  EXPECT_EQ(header_of(service_.send("GET", "photos/absent"), "Cache-Control"), "no-cache");
  const HttpResponse head = service_.send("HEAD", "photos/absent");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(header_of(head, "Cache-Control"), "no-cache");
  EXPECT_EQ(header_of(head, "x-ms-error-code"), "BlobNotFound");
  EXPECT_TRUE(service_.failures.empty());
}

}  // namespace
}  // namespace varve::serve::blob_service_test
