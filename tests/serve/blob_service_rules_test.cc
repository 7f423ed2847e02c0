// Goal: the blob service judges a request before it reads its body, compares every checksum, asks for each right, and writes
// only XML that a reader can read.
// Method: requests that break one rule each, beside the same ones that keep it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/blobs/blob_headers.h"
#include "engine/engine.h"
#include "engine/read/cursor.h"
#include "format/bytes/crc64.h"
#include "tests/api/async/async_support.h"
#include "tests/serve/blob_service_bench.h"

namespace varve::serve::blob_service_rules_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

class BlobServiceRules : public ::testing::Test {
 protected:
  BlobServiceBench service_;
};

TEST_F(BlobServiceRules, BH06_ARefusedBlockOrListOrAppendIsNotRead) {
  const std::string content(500'000, 'x');
  const std::string list = "<BlockList>" + content + "</BlockList>";
  const auto expect_unread = [&](const std::string& resource, const std::string& body, const std::string& refusal,
                                 const Headers& headers = {}) {
    EXPECT_EQ(outcome(service_.send_pieces("PUT", resource, body, 1000, headers)), refusal) << resource;
    EXPECT_EQ(service_.bytes_read, 0U) << resource;
  };
  expect_unread("absent/a?comp=block&blockid=AAAA", content, "404 ContainerNotFound");
  expect_unread("absent/a?comp=blocklist", list, "404 ContainerNotFound");
  EXPECT_EQ(service_.told("PUT", "photos/log", "", {{"x-ms-blob-type", "AppendBlob"}}), "201");
  expect_unread("photos/log?comp=block&blockid=AAAA", content, "409 InvalidBlobType");
  expect_unread("absent/log?comp=appendblock", content, "404 ContainerNotFound");
  expect_unread("photos/absent?comp=appendblock", content, "404 BlobNotFound");
  expect_unread("photos/log?comp=appendblock", content, "412 AppendPositionConditionNotMet",
                {{"x-ms-blob-condition-appendpos", "1"}});
  service_.put("a", "x");
  expect_unread("photos/a?comp=appendblock", content, "409 InvalidBlobType");
  expect_unread("photos/a?comp=blocklist", list, "409 BlobAlreadyExists", {{"If-None-Match", "*"}});
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=lease", "",
                          {{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-1"}}),
            "201");
  expect_unread("photos/a?comp=block&blockid=AAAA", content, "412 LeaseIdMissing");
  expect_unread("photos/a?comp=blocklist", list, "412 LeaseIdMissing");
}

TEST_F(BlobServiceRules, BX03_WhatIsMadeOfAListOrAnAppendIsCountedBeforeItIsRead) {
  std::string list = "<BlockList>";
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=block&blockid=AAAA", "x"), "201");
  while (list.size() < 200'000) list += "<Latest>AAAA</Latest>";
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/a?comp=blocklist", list + "</BlockList>", 50'000)), "201");
  EXPECT_GE(service_.bytes_kept_max, 3 * list.size());
  EXPECT_EQ(service_.told("PUT", "photos/log", "", {{"x-ms-blob-type", "AppendBlob"}}), "201");
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/log?comp=appendblock", std::string(200'000, 'x'), 50'000)),
            "201");
  EXPECT_GE(service_.bytes_kept_max, 400'000U);
}

TEST_F(BlobServiceRules, BZ01_TheBodyOfWhatIsLeftOutIsNotRead) {
  const std::string body(200'000, 'x');
  const std::vector<std::pair<std::string, std::string>> left_out = {
      {"PUT", "photos/a?comp=page"},   {"PUT", "photos/a?comp=incrementalcopy"},
      {"PUT", "photos/a?comp=seal"},   {"PUT", "photos?restype=container&comp=rename"},
      {"POST", "photos/a?comp=query"}, {"POST", "?restype=service&comp=userdelegationkey"}};
  for (const auto& [verb, resource] : left_out) {
    EXPECT_TRUE(service_.dispatcher.reads_pieces(service_.signed_request(verb, resource, body))) << resource;
    EXPECT_EQ(outcome(service_.send_pieces(verb, resource, body, 50'000)), "501 NotImplemented") << resource;
    EXPECT_EQ(service_.bytes_read, 0U) << resource;
  }
  EXPECT_FALSE(service_.dispatcher.reads_pieces(service_.signed_request("PUT", "photos/a?comp=tags", body)));
}

TEST_F(BlobServiceRules, QS03_AHeaderOfTheProtocolHasOneValue) {
  const std::string block = "BlockBlob";
  const auto put = [this](const std::string& name, const std::string& first, const std::string& second) {
    return service_.told("PUT", "photos/a", "", {{"x-ms-blob-type", "BlockBlob"}, {name, first}, {name, second}});
  };
  EXPECT_EQ(put("X-MS-Blob-Type", block, block), "201") << "all values are equal";
  EXPECT_EQ(put("X-MS-Blob-Type", block, "AppendBlob"), "400 InvalidHeaderValue");
  EXPECT_EQ(put("x-ms-access-tier", "Hot", "Cool"), "400 InvalidHeaderValue");
  EXPECT_EQ(put("If-Modified-Since", "Mon, 02 Mar 2026 10:20:30 GMT", "Tue, 03 Mar 2026 10:20:30 GMT"),
            "400 InvalidHeaderValue");
  EXPECT_EQ(put("x-ms-meta-a", "1", "2"), "400 InvalidMetadata");
  EXPECT_EQ(service_.told("GET", "photos/a", "", {{"Range", "bytes=0-1"}, {"Range", "bytes=2-3"}}),
            "400 InvalidHeaderValue");
}

TEST_F(BlobServiceRules, BB04_EveryBodyIsComparedWithItsChecksum) {
  service_.put("a", "hello");
  const Headers wrong_crc = {{"x-ms-content-crc64", "AAAAAAAAAAA="}};
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tags", "<Tags><TagSet/></Tags>", wrong_crc), "400 Crc64Mismatch");
  EXPECT_EQ(service_.told("PUT", "photos?restype=container&comp=acl", "<SignedIdentifiers/>", wrong_crc),
            "400 Crc64Mismatch");
  EXPECT_EQ(service_.told("PUT", "?restype=service&comp=properties", "<StorageServiceProperties/>", wrong_crc),
            "400 Crc64Mismatch");
  const std::string tags = "<Tags><TagSet/></Tags>";
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tags", tags, {{"x-ms-content-crc64", crc64_text(format::crc64(tags))}}),
            "204");
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=tags", tags, {{"x-ms-content-crc64", "x"}}), "400 InvalidCrc64");
  EXPECT_EQ(service_.told("PUT", "photos/log", "",
                          {{"x-ms-blob-type", "AppendBlob"}, {"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}),
            "400 Md5Mismatch");
  EXPECT_EQ(service_.told("PUT", "photos/log", "",
                          {{"x-ms-blob-type", "AppendBlob"}, {"x-ms-content-crc64", "AQAAAAAAAAA="}}),
            "400 Crc64Mismatch");
  EXPECT_EQ(service_.told("GET", "photos/log"), "404 BlobNotFound");
}

TEST_F(BlobServiceRules, BY02_ACopyComparesTheChecksumOfItsSource) {
  service_.put("a", "hello");
  EXPECT_EQ(service_.told("PUT", "photos/blocks?comp=block&blockid=AAAA", "x"), "201");
  EXPECT_EQ(service_.told("PUT", "photos/blocks?comp=blocklist", "<BlockList><Latest>AAAA</Latest></BlockList>"),
            "201");
  const std::string root =
      "http://" + host_of(service_.signed_request("GET", "photos/a")) + "/" + std::string(kAccount) + "/photos/";
  const std::string md5 = "XUFAKrxLKna5cZ2REBfFkg==";
  const std::string other = "AAAAAAAAAAAAAAAAAAAAAA==";
  const auto copied = [&](const std::string& source, Headers headers) {
    headers.emplace_back("x-ms-copy-source", root + source);
    return service_.told("PUT", "photos/b", "", std::move(headers));
  };
  EXPECT_EQ(copied("a", {{"x-ms-source-content-md5", other}}), "400 Md5Mismatch");
  EXPECT_EQ(copied("a", {{"x-ms-source-content-crc64", "AAAAAAAAAAA="}}), "400 Crc64Mismatch");
  EXPECT_EQ(copied("a", {{"x-ms-source-content-md5", "x"}}), "400 InvalidMd5");
  EXPECT_EQ(copied("a", {{"x-ms-blob-content-md5", other}, {"x-ms-blob-type", "BlockBlob"}}), "400 Md5Mismatch");
  EXPECT_EQ(copied("blocks", {{"x-ms-source-content-md5", md5}}), "400 Md5Mismatch");
  EXPECT_EQ(service_.told("GET", "photos/b"), "404 BlobNotFound");
  EXPECT_EQ(copied("a", {{"x-ms-source-content-md5", md5}}), "202");
  EXPECT_EQ(copied("a", {{"x-ms-source-content-crc64", crc64_text(format::crc64("hello"))}}), "202");
  EXPECT_EQ(copied("a", {{"x-ms-blob-content-md5", md5}, {"x-ms-blob-type", "BlockBlob"}}), "201");
}

TEST_F(BlobServiceRules, BY05_BS12_ASignatureInTheAddressOfTheSourceIsUsed) {
  service_.put("a", "content", {{"x-ms-tags", "a=b"}});
  service_.put("other", "content");
  const auto token = [](std::string_view blob, std::string_view letters) {
    security::BlobSasTerms terms;
    terms.container = "photos";
    terms.blob = blob;
    terms.permissions = *Permissions::parse_for_blob(letters);
    terms.expiry = at("2026-03-04T00:00:00Z");
    return security::to_query(*security::sign_blob_sas(terms, credentials()));
  };
  const std::string root =
      "http://" + host_of(service_.signed_request("GET", "photos/a")) + "/" + std::string(kAccount) + "/photos/";
  const auto copied = [&](const std::string& by, const std::string& source, Headers headers = {}) {
    headers.emplace_back("x-ms-copy-source", root + source);
    return outcome(service_.send_by(by, "PUT", "photos/copy", "", std::move(headers)));
  };
  const std::string writing = token("copy", "w");
  EXPECT_EQ(copied(writing, "a"), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied(writing, "a?" + token("a", "l")), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied(writing, "other?" + token("a", "r")), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied(writing, "a?" + token("a", "r")), "202");
  EXPECT_EQ(service_.send("GET", "photos/copy").body, "content");
  EXPECT_EQ(header_of(service_.send("GET", "photos/copy"), "x-ms-copy-source"), root + "a") << "without the signature";
  const Headers with_tags = {{"x-ms-copy-source-tag-option", "COPY"}};
  EXPECT_EQ(copied(writing, "a?" + token("a", "r"), with_tags), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied(writing, "a?" + token("a", "rt"), with_tags), "202");
}

/// Returns the bytes of all rows of a service that got blobs and blocks of this content.
std::uint64_t stored_bytes(bool compresses, const std::string& content) {
  BlobServiceOptions options;
  options.compresses = compresses;
  BlobServiceBench service(options);
  const Headers block_blob = {{"x-ms-blob-type", "BlockBlob"}};
  EXPECT_EQ(outcome(service.send_pieces("PUT", "photos/a", content, 100'000, block_blob)), "201");
  EXPECT_EQ(outcome(service.send_pieces("PUT", "photos/b?comp=block&blockid=AAAA", content, 100'000)), "201");
  EXPECT_EQ(service.told("PUT", "photos/b?comp=blocklist", "<BlockList><Latest>AAAA</Latest></BlockList>"), "201");
  for (const std::string blob : {"photos/a", "photos/b"}) {
    EXPECT_TRUE(service.send("GET", blob).body == content);
    const HttpResponse part = service.send("GET", blob, {}, {{"x-ms-range", "bytes=1048000-1049999"}});
    EXPECT_TRUE(part.body == content.substr(1'048'000, 2'000));
  }
  Machine machine(1, service.bench.machine.files->snapshot());
  const auto engine = machine.open();
  EXPECT_TRUE(engine.ok()) << engine.status().to_string();
  if (!engine.ok()) return 0;
  const engine::ReadView view = (*engine)->view();
  engine::Cursor rows = view.cursor({}, {});
  std::uint64_t bytes = 0;
  for (rows.seek_to_first(); rows.valid(); rows.next()) bytes += rows.value().size();
  return bytes;
}

TEST_F(BlobServiceRules, BX06_TheServerCompressesContentsIfItIsToldTo) {
  std::string content;
  while (content.size() < 2'000'000) content += std::to_string(content.size()) + " GET /photos/eu/ann.jpg 200 OK\n";
  EXPECT_LT(2 * stored_bytes(true, content), stored_bytes(false, content));
}

/// Notes the memory that a request asks of its connection. Refuses more than `bytes_max` bytes.
class NotedRoom final : public AnswerRoom {
 public:
  explicit NotedRoom(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  bool grow_to(std::uint64_t bytes) override {
    most = std::max(most, bytes);
    return bytes <= bytes_max_;
  }
  std::uint64_t most = 0;

 private:
  const std::uint64_t bytes_max_;
};

TEST_F(BlobServiceRules, BB20_BX03_ListsOfBlocksAreReadInMemoryThatIsCounted) {
  constexpr std::uint64_t kBlocks = 300;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    Result<BlobWriter> block = service_.photos.stage_block("a", std::to_string(100 + i));
    ASSERT_TRUE(block.ok()) << block.status().to_string();
    ASSERT_TRUE(block->append("x").ok());
    ASSERT_TRUE(block->publish().ok());
  }
  const auto listed = [&](const std::string& type, NotedRoom& room) {
    HttpRequest made = service_.signed_request("GET", "photos/a?comp=blocklist&blocklisttype=" + type);
    made.room = &room;
    return outcome(service_.send(std::move(made)));
  };
  NotedRoom little(kBlocks * 200);
  EXPECT_EQ(listed("uncommitted", little), "503 ServerBusy") << "an entry and its text take more";
  NotedRoom enough(std::uint64_t{1} << 30);
  EXPECT_EQ(listed("all", enough), "200");
  EXPECT_GE(enough.most, kBlocks * 300);
  NotedRoom of_others(std::uint64_t{1} << 30);
  EXPECT_EQ(listed("committed", of_others), "200");
  EXPECT_LE(of_others.most, 1'000U) << "staged blocks are not read for it";
}

TEST_F(BlobServiceRules, ALongListOfBlocksIsReadAwayFromTheThreadOfItsConnection) {
  EXPECT_EQ(service_.told("PUT", "photos/a?comp=block&blockid=AAAA", "x"), "201");
  const auto hops_of = [&](std::size_t bytes) {
    std::string list = "<BlockList>";
    while (list.size() < bytes) list += "<Latest>AAAA</Latest>";
    varve::test::HeldHome home(service_.bench.machine.scheduler());
    const Result<HttpResponse> answer = home.run(service_.dispatcher.handle(
        service_.signed_request("PUT", "photos/a?comp=blocklist", list + "</BlockList>"), &home));
    EXPECT_TRUE(answer.ok() && answer->status == 201);
    return home.posts();
  };
  EXPECT_GT(hops_of(200'000), hops_of(1'000));
}

TEST_F(BlobServiceRules, BS12_BT10_TagsBesideAContentNeedTheirLetterToo) {
  const auto token = [](std::string_view letters) {
    security::BlobSasTerms terms;
    terms.container = "photos";
    terms.permissions = *Permissions::parse_for_blob(letters);
    terms.expiry = at("2026-03-04T00:00:00Z");
    return security::to_query(*security::sign_blob_sas(terms, credentials()));
  };
  const auto put = [&](std::string_view letters, const std::string& resource, const std::string& body,
                       Headers headers) {
    headers.emplace_back("x-ms-tags", "a=b");
    return outcome(service_.send_by(token(letters), "PUT", resource, body, std::move(headers)));
  };
  const std::string source =
      "http://" + host_of(service_.signed_request("GET", "photos/a")) + "/" + std::string(kAccount) + "/photos/source";
  service_.put("source", "content");
  const std::string refused = "403 AuthorizationPermissionMismatch";
  EXPECT_EQ(put("rcw", "photos/a", "1", {{"x-ms-blob-type", "BlockBlob"}}), refused);
  EXPECT_EQ(put("rcw", "photos/a", "", {{"x-ms-blob-type", "AppendBlob"}}), refused);
  EXPECT_EQ(put("rcw", "photos/a?comp=blocklist", "<BlockList></BlockList>", {}), refused);
  EXPECT_EQ(put("rcw", "photos/a", "", {{"x-ms-copy-source", source}}), refused);
  EXPECT_EQ(service_.told("GET", "photos/a"), "404 BlobNotFound");
  EXPECT_EQ(put("rcwt", "photos/a", "", {{"x-ms-copy-source", source}}), "202");
  EXPECT_EQ(put("rcwt", "photos/a", "1", {{"x-ms-blob-type", "BlockBlob"}}), "201");
  EXPECT_EQ(header_of(service_.send_by(token("r"), "GET", "photos/a"), "x-ms-tag-count"), "(none)");
  EXPECT_EQ(header_of(service_.send_by(token("rt"), "GET", "photos/a"), "x-ms-tag-count"), "1");
  EXPECT_EQ(header_of(service_.send("GET", "photos/a"), "x-ms-tag-count"), "1");
}

TEST_F(BlobServiceRules, BS12_BL01_TagsAreShownWithTheirLetterAlone) {
  service_.put("a", "content", {{"x-ms-tags", "a=b"}});
  const auto listed = [&](std::string_view letters) {
    security::BlobSasTerms terms;
    terms.container = "photos";
    terms.permissions = *Permissions::parse_for_blob(letters);
    terms.expiry = at("2026-03-04T00:00:00Z");
    const std::string token = security::to_query(*security::sign_blob_sas(terms, credentials()));
    return service_.send_by(token, "GET", "photos?restype=container&comp=list&include=tags");
  };
  EXPECT_EQ(outcome(listed("l")), "403 AuthorizationPermissionMismatch");
  EXPECT_THAT(listed("lt").body, HasSubstr("<Key>a</Key>"));
  EXPECT_THAT(service_.send("GET", "photos?restype=container&comp=list&include=tags").body, HasSubstr("<Key>a</Key>"));
}

TEST_F(BlobServiceRules, BS12_BA01_TheRightToAppendCreatesAnAppendBlobThatIsNew) {
  security::BlobSasTerms terms;
  terms.container = "photos";
  terms.permissions = *Permissions::parse_for_blob("a");
  terms.expiry = at("2026-03-04T00:00:00Z");
  const std::string token = security::to_query(*security::sign_blob_sas(terms, credentials()));
  const Headers append = {{"x-ms-blob-type", "AppendBlob"}};
  EXPECT_EQ(outcome(service_.send_by(token, "PUT", "photos/log", "", append)), "201");
  EXPECT_EQ(outcome(service_.send_by(token, "PUT", "photos/log", "", append)), "409 BlobAlreadyExists");
  EXPECT_EQ(outcome(service_.send_by(token, "PUT", "photos/a", "x", {{"x-ms-blob-type", "BlockBlob"}})),
            "403 AuthorizationPermissionMismatch");
  security::AccountSasTerms account;
  account.services = "b";
  account.resource_types = "o";
  account.permissions = "a";
  account.expiry = terms.expiry;
  const std::string wide = security::to_query(*security::sign_account_sas(account, credentials()));
  EXPECT_EQ(outcome(service_.send_by(wide, "PUT", "photos/more", "", append)), "403 AuthorizationPermissionMismatch");
}

TEST_F(BlobServiceRules, BA01_AnAppendBlobIsCreatedWithAnEmptyBodyOfAnyFraming) {
  const auto send_chunked = [&](const std::string& body) {
    HttpRequest request = service_.signed_chunked_request("photos/log", {{"x-ms-blob-type", "AppendBlob"}});
    TextPieces source(body, 100);
    request.source = &source;
    return outcome(service_.send(std::move(request)));
  };
  EXPECT_EQ(send_chunked("x"), "400 InvalidHeaderValue");
  EXPECT_EQ(send_chunked(""), "201");
}

TEST_F(BlobServiceRules, BL03_BB03_QB05_ATextThatXmlCannotCarryBreaksNoListing) {
  EXPECT_EQ(outcome(service_.put("a", "1", {{"x-ms-blob-content-type", "\xFF"}, {"x-ms-meta-a", "b\xFF"}})), "201");
  EXPECT_EQ(outcome(service_.put("b", "1", {{"Cache-Control", "\xEF\xBF\xBE"}, {"x-ms-meta-a", "\xC3\xA4"}})), "201");
  EXPECT_EQ(service_.told("PUT", "made?restype=container", "", {{"x-ms-meta-a", "\xEF\xBF\xBF"}}), "201");
  EXPECT_EQ(header_of(service_.send("GET", "photos/a"), "Content-Type"), "\xFF") << "as it was given";
  const std::string listed = service_.send("GET", "photos?restype=container&comp=list&include=metadata").body;
  EXPECT_THAT(listed, HasSubstr("<Content-Type>%FF</Content-Type>"));
  EXPECT_THAT(listed, HasSubstr("<Metadata><a>b%FF</a></Metadata>"));
  EXPECT_THAT(listed, HasSubstr("<Cache-Control>%EF%BF%BE</Cache-Control>"));
  EXPECT_THAT(listed, HasSubstr("<Metadata><a>\xC3\xA4</a></Metadata>"));
  EXPECT_THAT(service_.send("GET", "?comp=list&include=metadata").body, HasSubstr("<a>%EF%BF%BF</a>"));
}

TEST_F(BlobServiceRules, QE02_ADetailThatXmlCannotCarryIsEncoded) {
  const HttpResponse refused = service_.send("GET", "photos?restype=container&comp=list&maxresults=%01%FF");
  EXPECT_EQ(outcome(refused), "400 InvalidQueryParameterValue");
  EXPECT_THAT(refused.body, HasSubstr("<QueryParameterValue>%01%FF</QueryParameterValue>"));
}

}  // namespace
}  // namespace varve::serve::blob_service_rules_test
