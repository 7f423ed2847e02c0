// Owns: the pinned bytes of the first format. Bytes that were written once must be readable forever.
// Must never: regenerate its bytes because a test failed. A change of format adds new bytes beside these.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/format/hex_text.h"
#include "tests/format/log/golden_samples.h"

namespace varve::format::golden_files_test {
namespace {

constexpr std::string_view kFileHeader = R"(
56 41 52 56 45 0d 0a 1a 03 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 2a 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 3d b4 d1 8c 14 83 54 00)";

constexpr std::string_view kGroup = R"(
39 33 ad fd 62 16 12 86 3f 00 01 00 2e 00 00 00
01 01 2a 03 09 80 80 cc b5 ea b3 a8 ed 08 05 09
85 80 cc b5 ea b3 a8 ed 08 07 09 c5 84 89 b6 ea
b3 a8 ed 08 09 02 80 20 0b 01 29 0d 02 ac 02 00
16 00 01 01 0c 00 00 00 01 00 00 00 07 70 00 72
00 05 76 61 6c 75 65 05 14 01 03 74 61 67 01 02
0c 00 00 00 01 00 00 00 07 70 00 72 00 e0 b3 b8
2d f8 93 62 76 00 00 00)";

constexpr std::string_view kWatermark = R"(
65 ef dd 4c f0 c8 62 cf 38 00 02 00 00 00 00 00
01 01 2a 05 09 85 80 cc b5 ea b3 a8 ed 08 07 09
c5 84 89 b6 ea b3 a8 ed 08 09 02 80 40 0b 01 29
0d 02 ac 02 0f 02 80 20 e7 19 81 c6 70 8b 8a 47)";

constexpr std::string_view kFooter = R"(
e7 23 c4 bb bc 9c 99 ee 38 00 03 00 00 00 00 00
01 01 2a 05 09 85 80 cc b5 ea b3 a8 ed 08 07 09
c5 84 89 b6 ea b3 a8 ed 08 09 02 80 60 0b 01 29
0d 02 ac 02 0f 02 80 40 07 1e 87 36 2a 79 49 c4)";

constexpr std::string_view kManifestEdit = R"(
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 18 01 00 00 00 00 00 00 00 02 00 00 00
00 00 00 00 04 00 00 00 00 00 00 00 05 02 e8 07
07 09 c0 84 89 b6 ea b3 a8 ed 08 09 09 f7 ff cb
b5 ea b3 a8 ed 08 0b 0b 01 01 01 03 06 80 80 a7
d3 92 19 0d 10 01 09 80 80 cc b5 ea b3 a8 ed 08
03 03 74 61 67 0f 06 01 01 2b 03 01 2c 11 06 01
01 2d 03 01 2e 11 06 01 01 2f 03 01 30 13 13 01
01 2a 03 03 80 80 01 05 09 85 80 cc b5 ea b3 a8
ed 08 15 01 27 15 01 28 17 58 01 01 02 03 01 3c
05 01 3d 07 03 80 80 04 09 01 3e 0b 0c 00 00 00
01 00 00 00 07 61 00 31 00 0d 0c 00 00 00 01 00
00 00 08 7a 00 39 00 0f 02 e8 07 11 01 3f 13 09
f7 ff cb b5 ea b3 a8 ed 08 15 09 ff ff cb b5 ea
b3 a8 ed 08 17 05 87 80 80 80 10 19 05 88 80 80
80 10 17 79 01 01 02 02 04 6b 65 70 74 03 01 40
05 01 3d 07 03 80 80 04 09 01 3e 0b 0c 00 00 00
01 00 00 00 07 61 00 31 00 0d 0c 00 00 00 01 00
00 00 08 7a 00 39 00 0f 02 e8 07 11 01 3f 13 09
f7 ff cb b5 ea b3 a8 ed 08 15 09 ff ff cb b5 ea
b3 a8 ed 08 17 05 87 80 80 80 10 19 05 88 80 80
80 10 1b 09 80 80 cc b5 ea b3 a8 ed 08 1c 09 65
6c 73 65 77 68 65 72 65 1d 03 46 e8 07 19 01 1e
19 01 1f 1b 11 01 04 00 00 00 02 03 09 fd ff cb
b5 ea b3 a8 ed 08 1b 15 01 08 00 00 00 01 00 00
00 05 03 09 fe ff cb b5 ea b3 a8 ed 08 1d 08 00
00 00 01 00 00 00 04 1f 05 89 80 80 80 10 21 05
86 80 80 80 10 23 0a 01 01 46 03 01 47 05 02 80
20 25 01 45 26 04 6b 65 70 74)";

constexpr std::string_view kRootOpen = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 03 05 08 00 00 00 00 00 00 00 00 07
08 00 00 00 00 00 00 00 00 09 08 00 00 00 00 00
00 00 00 0b 0a 29 88 8e 98 a8 c0 e0 80 81 01 0d
01 01 ed 23 70 0c 8b fc 15 43)";

constexpr std::string_view kRootClean = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 04 05 08 00 00 00 00 00 00 00 00 07
08 00 00 00 00 00 00 00 00 09 08 00 00 00 00 00
00 00 00 0b 0a 29 88 8e 98 a8 c0 e0 80 81 01 0d
01 02 0f 02 e7 24 11 09 91 a2 c4 88 91 a2 c4 88
11 13 0d 2a 80 80 01 a2 c4 88 91 a2 c4 88 91 22
13 0c 2d 80 40 b3 e6 cc 99 b3 e6 cc 99 33 15 09
85 80 cc b5 ea b3 a8 ed 08 80 5b 64 77 51 b3 c7
cf)";

constexpr std::string_view kRootCreating = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 01 05 08 00 00 00 00 00 00 00 00 07
08 00 00 00 00 00 00 00 00 09 08 00 00 00 00 00
00 00 00 0b 02 00 00 0d 01 03 64 b1 da e6 15 07
46 ed)";

constexpr std::string_view kRootCompatible = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 03 05 08 20 00 00 00 00 00 00 00 07
08 00 00 00 00 00 00 00 00 09 08 00 00 00 00 00
00 00 00 0b 0a 29 88 8e 98 a8 c0 e0 80 81 01 0d
01 01 2b 3f 74 87 6f e8 2d 53)";

constexpr std::string_view kRootReadCompatible = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 03 05 08 00 00 00 00 00 00 00 00 07
08 40 00 00 00 00 00 00 00 09 08 00 00 00 00 00
00 00 00 0b 0a 29 88 8e 98 a8 c0 e0 80 81 01 0d
01 01 d6 1d 30 26 02 b6 45 89)";

constexpr std::string_view kRootIncompatible = R"(
56 41 52 56 45 0d 0a 1a 01 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 0c d5 04 17 4c 98 00 27
01 10 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d
1e 1f 03 01 03 05 08 00 00 00 00 00 00 00 00 07
08 00 00 00 00 00 00 00 00 09 08 80 00 00 00 00
00 00 00 0b 0a 29 88 8e 98 a8 c0 e0 80 81 01 0d
01 01 70 45 40 0e 57 ac 8b 15)";

constexpr std::string_view kSlotHeader = R"(
49 51 18 bc 58 53 fd df 2a 00 00 00 00 00 00 00
08 07 06 05 04 03 02 01 00 20 00 00 00 00 00 00
05 00 00 00 00 00 00 00)";

/// Checks both directions of one record: it is written as the golden bytes, and the golden bytes are read as it.
void expect_record(std::string_view golden, std::uint64_t offset, const std::string& written,
                   const RecordHeader& header, std::string_view payload) {
  EXPECT_EQ(to_hex(written), to_hex(from_hex(golden)));
  Record record;
  Status why;
  const std::string bytes = from_hex(golden);
  ASSERT_EQ(read_record_at(bytes, {golden::kSeed, offset}, &record, &why), RecordOutcome::kRecord) << why.to_string();
  EXPECT_EQ(record.header, header);
  EXPECT_EQ(record.payload, payload);
  EXPECT_EQ(record.size_bytes, bytes.size());
}

void expect_root(std::string_view golden, const Root& root) {
  EXPECT_EQ(to_hex(encode_root(root, golden::kSeed)), to_hex(from_hex(golden)));
  const Result<Root> read = decode_root(from_hex(golden));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, root);
}

TEST(GoldenFiles, FileHeader) {
  EXPECT_EQ(to_hex(encode_file_header(golden::file_header())), to_hex(from_hex(kFileHeader)));
  const Result<FileHeader> read = decode_file_header(from_hex(kFileHeader), FileType::kLogSegment);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->number, 42u);
  EXPECT_EQ(read->seed, golden::kSeed);
}

TEST(GoldenFiles, GroupOfTwoMembers) {
  RecordHeader header = golden::record_header(RecordType::kGroup);
  header.first_version = golden::kVersion;
  expect_record(kGroup, 4096, golden::group_record(), header, golden::group_payload());

  const std::string payload = golden::group_payload();
  GroupReader group(header, payload);
  GroupMember member;
  ASSERT_TRUE(*group.next(&member));
  EXPECT_EQ(member.version, golden::kVersion);
  Result<BatchReader> put = BatchReader::open(member.batch);
  ASSERT_TRUE(put.ok());
  EXPECT_FALSE(put->has_tag());
  Operation operation;
  ASSERT_TRUE(*put->next(&operation));
  EXPECT_EQ(operation.kind, Kind::kPut);
  EXPECT_EQ(operation.key, *encode_sort_key(make_table_id(1, 7), "p", "r"));
  EXPECT_EQ(operation.value, "value");
  ASSERT_TRUE(*group.next(&member));
  EXPECT_EQ(member.version, golden::kVersion + 5);
  Result<BatchReader> remove = BatchReader::open(member.batch);
  ASSERT_TRUE(remove.ok());
  EXPECT_EQ(remove->tag(), "tag");
  ASSERT_TRUE(*remove->next(&operation));
  EXPECT_EQ(operation.kind, Kind::kDelete);
  EXPECT_FALSE(*group.next(&member));
}

TEST(GoldenFiles, Watermark) {
  RecordHeader header = golden::record_header(RecordType::kWatermark);
  header.durable_upto = 8192;
  header.previous_offset = 4096;
  expect_record(kWatermark, 8192, golden::watermark_record(), header, "");
}

TEST(GoldenFiles, Footer) {
  RecordHeader header = golden::record_header(RecordType::kFooter);
  header.durable_upto = 12288;
  header.previous_offset = 8192;
  expect_record(kFooter, 12288, golden::footer_record(), header, "");
}

TEST(GoldenFiles, ManifestEditWithEveryField) {
  EXPECT_EQ(to_hex(encode_manifest_edit(golden::manifest_edit())), to_hex(from_hex(kManifestEdit)));
  const Result<ManifestEdit> read = decode_manifest_edit(from_hex(kManifestEdit));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, golden::manifest_edit());
}

TEST(GoldenFiles, CurrentInEveryState) {
  expect_root(kRootOpen, golden::root_open());
  expect_root(kRootClean, golden::root_clean());
  expect_root(kRootCreating, golden::root_creating());
}

TEST(GoldenFiles, CurrentWithAnUnknownFeatureBitOfEachSet) {
  const Root compatible = golden::root_with({1u << 5, 0, 0});
  expect_root(kRootCompatible, compatible);
  EXPECT_TRUE(check_features(compatible.features, true).ok());

  const Root read_compatible = golden::root_with({0, 1u << 6, 0});
  expect_root(kRootReadCompatible, read_compatible);
  EXPECT_TRUE(check_features(read_compatible.features, false).ok());
  EXPECT_EQ(check_features(read_compatible.features, true).code(), Code::kUnsupported);

  const Root incompatible = golden::root_with({0, 0, 1u << 7});
  expect_root(kRootIncompatible, incompatible);
  EXPECT_EQ(check_features(incompatible.features, false).code(), Code::kUnsupported);
}

TEST(GoldenFiles, SlotHeader) {
  EXPECT_EQ(to_hex(golden::slot_header()), to_hex(from_hex(kSlotHeader)));
  const Result<SlotHeader> read = load_slot_header(from_hex(kSlotHeader), {0x1817161514131211, 4096});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->segment_number, 42u);
  EXPECT_EQ(read->segment_seed, golden::kSeed);
  EXPECT_EQ(read->log_offset, 8192u);
  EXPECT_EQ(read->serial, 5u);
}

}  // namespace
}  // namespace varve::format::golden_files_test
