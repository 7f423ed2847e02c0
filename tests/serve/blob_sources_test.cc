// Goal: blobs, blocks and appends take the content of another blob of the server, if the caller may read it.
#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/blobs/blob_headers.h"
#include "format/bytes/crc64.h"
#include "tests/serve/blob_service_bench.h"

namespace varve::serve::blob_sources_test {
namespace {

using namespace test;

constexpr std::string_view kOtherAccount = "otheraccount";
constexpr std::string_view kBlock = "photos/made?comp=block&blockid=MDAx";
constexpr std::string_view kHelloMd5 = "XUFAKrxLKna5cZ2REBfFkg==";

Accounts two_accounts() {
  Accounts known = accounts();
  EXPECT_TRUE(known.add(std::string(kOtherAccount) + ":" + std::string(kOtherKeyText)).ok());
  return known;
}

std::string source_url(std::string_view account, std::string_view path) {
  return "http://127.0.0.1:10002/" + std::string(account) + "/" + std::string(path);
}

/// Returns the query of a signature that permits reads of a blob of the other account.
std::string read_token(std::string_view blob) {
  security::BlobSasTerms terms;
  terms.container = "theirs";
  terms.blob = blob;
  terms.permissions = *Permissions::parse_for_blob("r");
  terms.expiry = at("2026-03-04T00:00:00Z");
  const security::AccountCredentials other{std::string(kOtherAccount),
                                           *security::AccountKeys::create(kOtherKeyText, "")};
  return "?" + security::to_query(*security::sign_blob_sas(terms, other));
}

class BlobSources : public ::testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(outcome(service_.put("a", "hello world", {{"x-ms-meta-m", "1"}})), "201");
    EXPECT_TRUE(service_.bench.store->create_account(kOtherAccount).ok());
    Container theirs = *service_.bench.store->create_container(kOtherAccount, "theirs");
    BlobWriteOptions options;
    options.metadata = {{"owner", "them"}};
    EXPECT_TRUE(theirs.put("b", "their content", options).ok());
    EXPECT_TRUE(theirs.create_append_blob("log").ok());
  }
  std::string told_from(std::string_view resource, const std::string& source, Headers headers = {}) {
    headers.emplace_back("x-ms-copy-source", source);
    return service_.told("PUT", resource, {}, std::move(headers));
  }
  std::string commit() {
    return service_.told("PUT", "photos/made?comp=blocklist", "<BlockList><Latest>MDAx</Latest></BlockList>");
  }

  BlobServiceBench service_{{}, two_accounts()};
  const std::string own_ = source_url(kAccount, "photos/a");
};

TEST_F(BlobSources, BB21_ABlockIsAPartOfAnotherBlob) {
  EXPECT_EQ(told_from(kBlock, own_, {{"x-ms-source-range", "bytes=6-10"}}), "201");
  EXPECT_EQ(commit(), "201");
  EXPECT_EQ(service_.send("GET", "photos/made").body, "world");
  EXPECT_EQ(told_from(kBlock, own_,
                      {{"x-ms-source-range", "bytes=0-4"}, {"x-ms-source-content-md5", std::string(kHelloMd5)}}),
            "201");
  EXPECT_EQ(commit(), "201");
  EXPECT_EQ(service_.send("GET", "photos/made").body, "hello");
  EXPECT_EQ(told_from(kBlock, own_, {{"x-ms-source-content-md5", std::string(kHelloMd5)}}), "400 Md5Mismatch");
  EXPECT_EQ(told_from(kBlock, own_, {{"x-ms-source-range", "bytes=11-"}}), "416 InvalidRange");
  EXPECT_EQ(told_from(kBlock, own_, {{"x-ms-source-range", "lines=1-2"}}), "400 InvalidHeaderValue");
  EXPECT_EQ(told_from(kBlock, own_, {{"x-ms-source-if-match", "\"0x1\""}}), "412 SourceConditionNotMet");
  EXPECT_EQ(told_from(kBlock, source_url(kAccount, "photos/absent")), "404 BlobNotFound");
}

TEST_F(BlobSources, BB21_BA01_AnAppendIsAPartOfAnotherBlob) {
  EXPECT_EQ(service_.told("PUT", "photos/log", {}, {{"x-ms-blob-type", "AppendBlob"}}), "201");
  const HttpResponse appended = service_.send("PUT", "photos/log?comp=appendblock", {},
                                              {{"x-ms-copy-source", own_}, {"x-ms-source-range", "bytes=0-5"}});
  EXPECT_EQ(outcome(appended), "201");
  EXPECT_EQ(header_of(appended, "x-ms-blob-append-offset"), "0");
  EXPECT_EQ(header_of(appended, "x-ms-blob-committed-block-count"), "1");
  EXPECT_EQ(header_of(appended, "x-ms-content-crc64"), crc64_text(format::crc64("hello ")));
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "x"), "201");
  EXPECT_EQ(told_from("photos/log?comp=appendblock", own_, {{"x-ms-blob-condition-appendpos", "3"}}),
            "412 AppendPositionConditionNotMet");
  EXPECT_EQ(told_from("photos/log?comp=appendblock", own_, {{"x-ms-source-range", "bytes=6-"}}), "201");
  EXPECT_EQ(service_.send("GET", "photos/log").body, "hello xworld");
  EXPECT_EQ(told_from("photos/a?comp=appendblock", own_), "409 InvalidBlobType");
}

TEST_F(BlobSources, BA01_BA06_AnAppendAbove4MiBDependsOnTheVersion) {
  EXPECT_EQ(service_.told("PUT", "photos/log", {}, {{"x-ms-blob-type", "AppendBlob"}}), "201");
  std::string content(9'000'000, ' ');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + (i * 7 + i / 1013) % 26);
  const std::string resource = "photos/log?comp=appendblock";
  EXPECT_EQ(outcome(service_.send_pieces("PUT", resource, content, 131'072)), "413 RequestBodyTooLarge");
  EXPECT_EQ(service_.told("PUT", resource, "start"), "201");
  const HttpResponse appended =
      service_.send_pieces("PUT", resource, content, 131'072, {{"x-ms-version", "2022-11-02"}});
  EXPECT_EQ(outcome(appended), "201");
  EXPECT_EQ(header_of(appended, "x-ms-blob-append-offset"), "5");
  EXPECT_EQ(header_of(appended, "x-ms-blob-committed-block-count"), "2");
  EXPECT_EQ(header_of(appended, "x-ms-content-crc64"), crc64_text(format::crc64(content)));
  EXPECT_EQ(outcome(service_.send_pieces("PUT", resource, "end", 2)), "201");
  EXPECT_TRUE(service_.send("GET", "photos/log").body == "start" + content + "end");
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/absent?comp=appendblock", content, 131'072,
                                         {{"x-ms-version", "2022-11-02"}})),
            "404 BlobNotFound");
  EXPECT_EQ(service_.bytes_read, 0U);
  service_.bench.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, service_.bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->findings.empty());
}

TEST_F(BlobSources, BY02_ACopyMatchesTheStatedChecksumOfItsSource) {
  EXPECT_EQ(outcome(service_.put("h", "hello")), "201");
  const std::string source = source_url(kAccount, "photos/h");
  const Headers sync = {{"x-ms-requires-sync", "true"}};
  Headers right = sync;
  right.emplace_back("x-ms-source-content-md5", kHelloMd5);
  EXPECT_EQ(told_from("photos/copy", source, right), "202");
  EXPECT_EQ(service_.send("GET", "photos/copy").body, "hello");
  EXPECT_EQ(told_from("photos/other", own_, right), "400 Md5Mismatch");
  EXPECT_EQ(service_.told("GET", "photos/other"), "404 BlobNotFound");
}

TEST_F(BlobSources, BY01_ACopyHasContentAndTagsOfOneState) {
  const auto put = [&](const std::string& text) {
    BlobWriteOptions options;
    options.tags = {{"k", text}};
    EXPECT_TRUE(service_.photos.put("source", text, options).ok());
  };
  put("0");
  constexpr int kRounds = 300;
  std::atomic<int> round = 0;
  std::thread writer([&] {
    for (int seen = 0; seen <= kRounds;) {
      if (round == seen) {
        std::this_thread::yield();
        continue;
      }
      seen = round;
      put(std::to_string(seen));
    }
  });
  const Headers from = {{"x-ms-copy-source", source_url(kAccount, "photos/source")},
                        {"x-ms-copy-source-tag-option", "COPY"}};
  for (int i = 0; i < kRounds; ++i) {
    ++round;
    const std::string told = service_.told("PUT", "photos/copy", {}, from);
    EXPECT_EQ(told, "202");
    const Result<BlobState> state = service_.photos.state("copy");
    if (!state.ok() || state->tags.size() != 1) {
      ADD_FAILURE() << "the copy has no tag";
      break;
    }
    EXPECT_EQ(service_.send("GET", "photos/copy").body, state->tags[0].value);
  }
  round = kRounds + 1;
  writer.join();
  EXPECT_EQ(service_.told("PUT", "photos/copy", {}, {from[0], from[1], {"x-ms-source-if-match", "\"0x1\""}}),
            "412 SourceConditionNotMet");
}

/// The memory of a connection. Refuses more than `bytes_max` bytes.
class CountedRoom final : public AnswerRoom {
 public:
  explicit CountedRoom(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  bool grow_to(std::uint64_t bytes) override {
    most = std::max(most, bytes);
    return bytes <= bytes_max_;
  }
  bool is_awaited() noexcept override { return ++looks <= awaited_looks; }
  std::uint64_t most = 0;
  int looks = 0;
  int awaited_looks = std::numeric_limits<int>::max();

 private:
  const std::uint64_t bytes_max_;
};

TEST_F(BlobSources, BX03_ASourceIsReadInMemoryThatIsCounted) {
  const std::string content(3'000'000, 'x');
  service_.put("large", content);
  EXPECT_EQ(service_.told("PUT", "photos/log", {}, {{"x-ms-blob-type", "AppendBlob"}}), "201");
  const std::string large = source_url(kAccount, "photos/large");
  const Headers of_sums = {{"x-ms-copy-source", large}, {"x-ms-source-content-md5", std::string(kHelloMd5)}};
  const auto told = [&](std::string_view resource, const Headers& headers, CountedRoom& room) {
    HttpRequest made = service_.signed_request("PUT", resource, {}, headers);
    made.room = &room;
    return outcome(service_.send(std::move(made)));
  };
  for (const std::string_view resource :
       {kBlock, std::string_view("photos/log?comp=appendblock"), std::string_view("photos/copied")}) {
    CountedRoom little(100'000);
    EXPECT_EQ(told(resource, of_sums, little), "503 ServerBusy") << resource;
    CountedRoom enough(1 << 30);
    EXPECT_EQ(told(resource, of_sums, enough), "400 Md5Mismatch") << resource;
    EXPECT_GE(enough.most, 2'000'000U) << resource;
  }
}

TEST_F(BlobSources, BX03_LongSourcesAreReadByFewRequestsAtOnce) {
  service_.put("long", std::string(1'100'000, 'x'));
  service_.put("short", "hello");
  const auto block_of = [&](BlobServiceBench& service, const std::string& source, const std::string& range = {}) {
    Headers headers{{"x-ms-copy-source", source_url(kAccount, "photos/" + source)}};
    if (!range.empty()) headers.emplace_back("x-ms-source-range", range);
    return service.told("PUT", kBlock, {}, headers);
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(block_of(service_, "long"), "201") << "the places are given back";
  BlobServiceOptions none;
  none.long_sources_max = 0;
  BlobServiceBench full(none);
  full.put("long", std::string(1'100'000, 'x'));
  full.put("short", "hello");
  EXPECT_EQ(block_of(full, "long"), "503 ServerBusy");
  EXPECT_EQ(block_of(full, "long", "bytes=0-999"), "201") << "a short part";
  EXPECT_EQ(block_of(full, "short"), "201");
}

TEST_F(BlobSources, AClientThatHasGoneEndsTheReadingOfItsSource) {
  service_.put("large", std::string(9'000'000, 'x'));
  HttpRequest made =
      service_.signed_request("PUT", kBlock, {}, {{"x-ms-copy-source", source_url(kAccount, "photos/large")}});
  CountedRoom room(1 << 30);
  room.awaited_looks = 2;
  made.room = &room;
  EXPECT_EQ(service_.send(std::move(made)).status, 408);
  EXPECT_EQ(room.looks, 3);
  EXPECT_EQ(service_.told("GET", "photos/made?comp=blocklist&blocklisttype=all"), "404 BlobNotFound");
}

TEST_F(BlobSources, BY05_ABlobOfAnotherAccountNeedsASignature) {
  const std::string theirs = source_url(kOtherAccount, "theirs/b");
  EXPECT_EQ(told_from("photos/copy", theirs), "403 CannotVerifyCopySource");
  EXPECT_EQ(told_from("photos/copy", theirs + read_token("other")), "403 CannotVerifyCopySource");
  EXPECT_EQ(told_from("photos/copy", theirs + read_token("b")), "202");
  const HttpResponse got = service_.send("GET", "photos/copy");
  EXPECT_EQ(got.body, "their content");
  EXPECT_EQ(header_of(got, "x-ms-meta-owner"), "them");
  EXPECT_EQ(header_of(got, "x-ms-copy-status"), "success");
  EXPECT_EQ(header_of(got, "x-ms-copy-source"), theirs) << "without the signature";
  EXPECT_EQ(told_from("photos/put", theirs + read_token("b"), {{"x-ms-blob-type", "BlockBlob"}}), "201");
  EXPECT_EQ(told_from(kBlock, theirs + read_token("b"), {{"x-ms-source-range", "bytes=0-4"}}), "201");
  EXPECT_EQ(commit(), "201");
  EXPECT_EQ(service_.send("GET", "photos/made").body, "their");
  EXPECT_EQ(told_from("photos/log", source_url(kOtherAccount, "theirs/log") + read_token("log")),
            "403 CannotVerifyCopySource");
  EXPECT_EQ(told_from("photos/copy", source_url("nobody", "theirs/b") + read_token("b")), "403 CannotVerifyCopySource");
  EXPECT_EQ(told_from("photos/copy", "http://elsewhere.example/" + std::string(kOtherAccount) + "/theirs/b"),
            "403 CannotVerifyCopySource");
}

TEST_F(BlobSources, BY02_APutFromAUrlMakesABlockBlob) {
  EXPECT_EQ(service_.told("PUT", "photos/log", "", {{"x-ms-blob-type", "AppendBlob"}}), "201");
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "hello"), "201");
  const std::string log = source_url(kAccount, "photos/log");
  EXPECT_EQ(told_from("photos/put", log, {{"x-ms-blob-type", "BlockBlob"}}), "201");
  const HttpResponse put = service_.send("GET", "photos/put");
  EXPECT_EQ(put.body, "hello");
  EXPECT_EQ(header_of(put, "x-ms-blob-type"), "BlockBlob");
  EXPECT_EQ(told_from("photos/put", log, {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-source-content-md5", "AAAA"}}),
            "400 InvalidMd5");
  EXPECT_EQ(told_from("photos/put", own_, {{"x-ms-blob-type", "BlockBlob"}}), "201");
  EXPECT_EQ(service_.send("GET", "photos/put").body, "hello world");
  for (const std::string type : {"AppendBlob", "Other", ""}) {
    EXPECT_EQ(told_from("photos/put", log, {{"x-ms-blob-type", type}}), "400 InvalidHeaderValue") << type;
  }
  EXPECT_EQ(told_from("photos/put", log), "202");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/put"), "x-ms-blob-type"), "AppendBlob") << "a copy has the type";
}

TEST_F(BlobSources, BY04_NoCopyIsPending) {
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=copy&copyid=1", "", {{"x-ms-copy-action", "abort"}}),
            "409 NoPendingCopyOperation");
}

}  // namespace
}  // namespace varve::serve::blob_sources_test
