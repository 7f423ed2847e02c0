// Goal: lists of blocks, tags and listings are read and written as the specification says, and a hostile document is
// refused in bounded memory.
// Method: documents of each form, beside the value, the text or the error that each must give.
#include "api/rest/blobs/blob_xml.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace varve::serve::blob_xml_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename Value>
std::string literal_of(const Result<Value>& result) {
  return result.ok() ? std::string() : std::string(result.status().service_error());
}

DateTime time_of(std::string_view text) {
  return *DateTime::parse(text);
}

TEST(BlockListXml, BB08_KeepsTheOrderAndTheKindsOfBlocks) {
  const Result<std::vector<BlockChoice>> blocks = read_block_list(
      "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<BlockList>\n <Latest>MDAwMQ==</Latest>\n"
      "<Uncommitted>MDAwMg==</Uncommitted><Committed>MDAwMQ==</Committed>\n</BlockList>");
  ASSERT_TRUE(blocks.ok()) << blocks.status().to_string();
  const std::vector<std::pair<std::string, BlockChoice::From>> expected = {{"0001", BlockChoice::From::kLatest},
                                                                           {"0002", BlockChoice::From::kStaged},
                                                                           {"0001", BlockChoice::From::kCommitted}};
  ASSERT_EQ(blocks->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*blocks)[i].id, expected[i].first);
    EXPECT_EQ((*blocks)[i].from, expected[i].second);
  }
  EXPECT_TRUE((*read_block_list("<BlockList/>")).empty());
}

TEST(BlockListXml, BB08_OtherDocumentsAreRefused) {
  for (const std::string& body :
       {std::string(), std::string("<BlockList>"), std::string("<Blocks/>"), std::string("<BlockList>x</BlockList>"),
        std::string("<BlockList><Other>MDAwMQ==</Other></BlockList>"),
        std::string("<BlockList><Latest><Latest>MDAwMQ==</Latest></Latest></BlockList>"),
        std::string("<!DOCTYPE a [<!ENTITY b \"c\">]><BlockList/>"),
        std::string("<BlockList><Latest>&b;</Latest></BlockList>")}) {
    EXPECT_EQ(literal_of(read_block_list(body)), "InvalidXmlDocument") << body;
  }
  for (const std::string id : {"", "x", "====", "%"}) {
    EXPECT_EQ(literal_of(read_block_list("<BlockList><Latest>" + id + "</Latest></BlockList>")), "InvalidBlockList");
  }
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "<BlockList>";
  EXPECT_EQ(literal_of(read_block_list(nested)), "InvalidXmlDocument");
}

TEST(BlockListXml, BB08_HasAtMost50000Blocks) {
  const auto list_of = [](std::size_t count) {
    std::string body = "<BlockList>";
    for (std::size_t i = 0; i < count; ++i) body += "<Latest>MDAwMQ==</Latest>";
    return body + "</BlockList>";
  };
  const Result<std::vector<BlockChoice>> full = read_block_list(list_of(50'000));
  ASSERT_TRUE(full.ok()) << full.status().to_string();
  EXPECT_EQ(full->size(), 50'000U);
  EXPECT_EQ(literal_of(read_block_list(list_of(50'001))), "BlockListTooLong");
  EXPECT_EQ(literal_of(read_block_list(list_of(200'000))), "BlockListTooLong");
}

TEST(BlockListXml, BB06_ABlockIdHas1To64Bytes) {
  EXPECT_EQ(decode_block_id("MDAwMQ=="), "0001");
  EXPECT_EQ(decode_block_id(std::string(84, 'A') + "AA=="), std::string(64, '\0'));
  EXPECT_FALSE(decode_block_id(std::string(88, 'A')));  // 66 bytes
  EXPECT_FALSE(decode_block_id(""));
  EXPECT_FALSE(decode_block_id("0001="));
}

TEST(BlockListXml, BB20_IsWrittenByKinds) {
  BlockLists blocks;
  blocks.committed = {{"0001", 4'194'304}};
  blocks.staged = {{"0002", 512}};
  const std::string committed =
      "<CommittedBlocks><Block><Name>MDAwMQ==</Name><Size>4194304</Size></Block></CommittedBlocks>";
  const std::string staged =
      "<UncommittedBlocks><Block><Name>MDAwMg==</Name><Size>512</Size></Block></UncommittedBlocks>";
  const std::string begin = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  EXPECT_EQ(write_block_lists(blocks, ShownBlocks::kAll), begin + committed + staged + "</BlockList>");
  EXPECT_EQ(write_block_lists(blocks, ShownBlocks::kCommitted), begin + committed + "</BlockList>");
  EXPECT_EQ(write_block_lists(blocks, ShownBlocks::kStaged), begin + staged + "</BlockList>");
  for (const ShownBlocks shown : {ShownBlocks::kAll, ShownBlocks::kCommitted, ShownBlocks::kStaged}) {
    EXPECT_GE(block_lists_bytes(blocks, shown), write_block_lists(blocks, shown).size());
    EXPECT_GE(block_lists_bytes({}, shown), write_block_lists({}, shown).size());
  }
  EXPECT_EQ(write_block_lists({}, ShownBlocks::kCommitted), begin + "<CommittedBlocks /></BlockList>");
}

TEST(TagXml, BT10_IsReadAndWritten) {
  const std::vector<BlobTag> tags = {{"year", "2026"}, {"a b", ""}};
  const Result<std::vector<BlobTag>> again = read_tags(write_tags(tags));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, tags);
  EXPECT_TRUE((*read_tags("<Tags><TagSet/></Tags>")).empty());
  EXPECT_TRUE((*read_tags("<Tags/>")).empty());
  for (const std::string body :
       {"", "<TagSet/>", "<Tags><Tag/></Tags>", "<Tags><TagSet><Tag/></TagSet></Tags>",
        "<Tags><TagSet/><TagSet/></Tags>", "<Tags><TagSet><Tag><Key>a</Key></Tag></TagSet></Tags>"}) {
    EXPECT_EQ(literal_of(read_tags(body)), "InvalidXmlDocument") << body;
  }
}

BlobListed listed(std::string name) {
  BlobListed entry;
  entry.blob.name = std::move(name);
  entry.blob.etag = ETag::of_timestamp(time_of("2026-03-03T10:20:30Z"));
  entry.blob.created = time_of("2026-03-03T10:20:29Z");
  entry.blob.modified = time_of("2026-03-03T10:20:30.4767Z");
  entry.blob.length = 5;
  return entry;
}

TEST(BlobListingXml, BL02_PropertiesHaveTheirOrder) {
  BlobListed full = listed("a.txt");
  full.blob.properties = {"text/plain", "gzip", "de", "inline", "no-cache", std::array<std::uint8_t, 16>{}};
  full.blob.tier = BlobTier::kCool;
  full.blob.lease = {LeaseState::kLeased, true};
  full.blob.metadata = {{"owner", "Ann"}};
  full.blob.tags = {{"year", "2026"}};
  full.blob.copy_id = Guid();
  full.blob.copy_source = "http://here/a";
  full.blob.copied = full.blob.modified;
  ShownListing shown;
  shown.endpoint = "http://here/myaccount/";
  shown.prefix = "a";
  shown.items_max = "1";
  shown.has_metadata = shown.has_tags = shown.has_copies = true;
  shown.next_marker = "next";
  EXPECT_EQ(
      write_blob_listing(shown, "photos", std::vector{full}, "2021-12-02"),
      "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"http://here/myaccount/\" "
      "ContainerName=\"photos\"><Prefix>a</Prefix><MaxResults>1</MaxResults><Blobs><Blob><Name>a.txt</Name><Properties>"
      "<Creation-Time>Tue, 03 Mar 2026 10:20:29 GMT</Creation-Time>"
      "<Last-Modified>Tue, 03 Mar 2026 10:20:30 GMT</Last-Modified><Etag>0x8DE790E7EF9EB00</Etag>"
      "<Content-Length>5</Content-Length><Content-Type>text/plain</Content-Type>"
      "<Content-Encoding>gzip</Content-Encoding><Content-Language>de</Content-Language>"
      "<Content-MD5>AAAAAAAAAAAAAAAAAAAAAA==</Content-MD5><Cache-Control>no-cache</Cache-Control>"
      "<Content-Disposition>inline</Content-Disposition><BlobType>BlockBlob</BlobType><AccessTier>Cool</AccessTier>"
      "<LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState><LeaseDuration>infinite</LeaseDuration>"
      "<CopyId>00000000-0000-0000-0000-000000000000</CopyId><CopyStatus>success</CopyStatus>"
      "<CopySource>http://here/a</CopySource><CopyProgress>5/5</CopyProgress>"
      "<CopyCompletionTime>Tue, 03 Mar 2026 10:20:30 GMT</CopyCompletionTime><ServerEncrypted>true</ServerEncrypted>"
      "<TagCount>1</TagCount></Properties><Metadata><owner>Ann</owner></Metadata>"
      "<Tags><TagSet><Tag><Key>year</Key><Value>2026</Value></Tag></TagSet></Tags></Blob></Blobs>"
      "<NextMarker>next</NextMarker></EnumerationResults>");
}

TEST(BlobListingXml, BL02_PrefixesStandAmongTheBlobs) {
  BlobListed folder;
  folder.prefix = "eu/";
  BlobListed staged = listed("staged");
  staged.blob.is_uncommitted = true;
  staged.blob.length = 0;
  ShownListing shown;
  shown.delimiter = "/";
  const std::string xml = write_blob_listing(shown, "photos", std::vector{listed("a"), folder, staged}, "2021-12-02");
  EXPECT_THAT(xml, HasSubstr("</Blob><BlobPrefix><Name>eu/</Name></BlobPrefix><Blob><Name>staged</Name><Properties>"
                             "<Content-Length>0</Content-Length>"));
  EXPECT_THAT(xml, HasSubstr("<Delimiter>/</Delimiter>"));
  EXPECT_THAT(xml, HasSubstr("<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>"));
  EXPECT_THAT(xml, Not(HasSubstr("<Metadata")));
  EXPECT_THAT(write_blob_listing({}, "photos", {}, "2021-12-02"), HasSubstr("<Blobs /><NextMarker /></Enum"));
}

TEST(BlobListingXml, BL03_ANameThatXmlCannotCarryIsEncoded) {
  const std::string name = "a\x01 \xEF\xBF\xBF";
  EXPECT_THAT(write_blob_listing({}, "photos", std::vector{listed(name)}, "2021-02-12"),
              HasSubstr("<Name Encoded=\"true\">a%01%20%EF%BF%BF</Name>"));
  EXPECT_THAT(write_blob_listing({}, "photos", std::vector{listed(name)}, "2020-12-06"),
              HasSubstr("<Name>a%01%20%EF%BF%BF</Name>"));
  EXPECT_THAT(write_blob_listing({}, "photos", std::vector{listed("a<&> \r\n\xC3\xA9")}, "2021-02-12"),
              HasSubstr("<Name>a&lt;&amp;&gt; &#xD;\n\xC3\xA9</Name>"));
}

TEST(BlobListingXml, BB17_ContainersHaveTheirProperties) {
  ContainerState container;
  container.name = "photos";
  container.etag = ETag::of_timestamp(DateTime{0x1A});
  container.modified = time_of("2026-03-03T10:20:30Z");
  container.public_access = PublicAccess::kBlobs;
  container.metadata = {{"a", "1"}};
  ShownListing shown;
  shown.endpoint = "http://here/\"";
  shown.has_metadata = true;
  EXPECT_EQ(write_container_listing(shown, std::vector{container}),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"http://here/&quot;\">"
            "<Containers><Container><Name>photos</Name><Properties>"
            "<Last-Modified>Tue, 03 Mar 2026 10:20:30 GMT</Last-Modified><Etag>0x1A</Etag>"
            "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><PublicAccess>blob</PublicAccess>"
            "<HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold></Properties>"
            "<Metadata><a>1</a></Metadata></Container></Containers><NextMarker /></EnumerationResults>");
}

}  // namespace
}  // namespace varve::serve::blob_xml_test
