// Owns: the pinned bytes of table files. Bytes that were written once must be readable forever.
// Must never: regenerate its bytes because a test failed. A change of format adds new bytes beside these.
#include "tests/format/table/golden_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/block/block_statistics.h"
#include "format/table/table_verify.h"
#include "tests/format/hex_text.h"

namespace varve::format::golden_table_test {
namespace {

/// The bytes up to the top index.
constexpr std::string_view kTableFile = R"(
56 41 52 56 45 0d 0a 1a 05 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 3c 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 aa 54 d0 0f 20 93 9f e0
30 01 00 00 01 00 00 00 00 0c 08 00 00 00 01 00
00 00 07 70 00 61 00 05 01 73 65 63 6f 6e 64 0c
00 07 00 01 66 69 72 73 74 0a 02 02 62 00 01 02
0a 02 03 63 00 02 01 63 0a 02 03 64 00 02 01 64
0a 02 03 65 00 02 01 65 0a 02 03 66 00 02 01 66
0a 02 03 67 00 02 01 67 00 0c 03 00 00 00 01 00
00 00 07 70 00 68 00 02 01 68 0a 02 03 69 00 02
01 69 0a 02 03 6a 00 02 01 6a 0a 02 03 6b 00 02
01 6b 0a 02 03 6c 00 02 01 6c 0a 02 03 6d 00 02
01 6d 0a 02 03 6e 00 02 01 6e 0a 02 03 6f 00 02
01 6f 00 0c 03 00 00 00 01 00 00 00 07 70 00 70
00 02 01 70 0a 02 03 71 00 02 01 71 07 05 3f 08
70 00 61 00 ac 02 01 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 00 00 00 00 50 00 00 00 9a 00 00 00 00
ff ff 01 fe ff 01 ff fe ff ff ff ff ff 01 fe ff
02 ff 01 ff ff fe ff ff 00 00 b3 a6 9e a1 da 08
03 00 00 00 19 00 00 00 78 e0 65 f9 14 68 98 48
46 00 00 00 03 00 00 00 01 06 01 00 00 00 23 80
a0 44 21 a2 42 c8 90 03 20 00 8a 80 81 42 48 c0
02 a0 42 05 02 04 12 6c 20 41 00 10 04 01 20 10
82 00 40 20 38 03 4e c4 00 03 26 81 10 08 0a 40
03 00 10 c0 00 82 24 49 48 01 29 20 50 00 86 9f
4c e5 7f d4 9e 07 2a 00 00 00 02 00 00 00 00 0c
07 00 00 00 01 00 00 00 08 70 00 61 00 00 c0 02
13 00 ac 02 00 00 00 00 00 00 b3 a6 9e a1 da 08
01 00 00 00 00 00 00 00 70 44 aa 01 86 77 d8 21
2c 00 00 00 05 00 00 00 00 08 05 00 00 00 01 00
00 00 07 40 12 01 c0 02 07 01 04 08 40 01 00 00
00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00
00 00 00 00 95 92 9f 25 e8 58 74 38 50 00 00 00
06 00 00 00 01 01 13 03 01 01 05 09 80 80 cc b5
ea b3 a8 ed 08 07 09 ac 82 cc b5 ea b3 a8 ed 08
09 0c 00 00 00 01 00 00 00 07 70 00 61 00 0b 0c
00 00 00 01 00 00 00 08 70 00 61 00 0d 01 01 0f
01 01 11 02 c0 02 13 02 b0 02 15 02 e4 01 17 01
56 1b 01 02 57 24 0e 44 6e f6 15 4e)";

/// The file and its footer, which ends its last page. Zeros are between them.
struct Golden {
  std::string_view file;
  std::string_view top_index;
  std::string_view footer;
  std::uint64_t content_hash;
};

/// Without the count of entries that are not the first of their key.
constexpr Golden kFirst = {kTableFile, R"(
40 00 00 00
04 00 00 00 00 0c 1d 00 00 00 01 00 00 00 08 70
00 61 00 40 c0 02 56 3a 01 13 01 b0 02 e4 01 56
00 ac 02 0c 00 00 00 01 00 00 00 07 70 00 61 00
00 00 00 00 00 00 b3 a6 9e a1 da 08 01 00 00 00
00 00 00 00 61 9f 5a 6b 0c 7e 77 48)",
                           R"(
ac 02 00 00 00 00 00 00 50 00 00 00 4c 02 00 00
00 00 00 00 60 00 00 00 10 02 00 00 00 00 00 00
3c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 7c b3 cf 8a b8 19 af a7)",
                           12753087846653383429u};

constexpr Golden kCounted = {kTableFile, R"(
43 00 00 00
04 00 00 00 00 0c 20 00 00 00 01 00 00 00 08 70
00 61 00 40 c0 02 56 3a 01 13 01 b0 02 e4 01 56
00 ac 02 0c 00 00 00 01 00 00 00 07 70 00 61 00
02 01 01 00 00 00 00 00 00 b3 a6 9e a1 da 08 01
00 00 00 00 00 00 00 3d 26 97 0f 46 1c 9e 38)",
                             R"(
ac 02 00 00 00 00 00 00 53 00 00 00 4c 02 00 00
00 00 00 00 60 00 00 00 10 02 00 00 00 00 00 00
3c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 19 db 4c d7 24 02 d2 49)",
                             8995535490933267149u};

/// Like kCounted, but its block has empty statistics, because its values are no entities.
constexpr std::string_view kFileOfNothingTold = R"(
56 41 52 56 45 0d 0a 1a 05 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 3c 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 aa 54 d0 0f 20 93 9f e0
30 01 00 00 01 00 00 00 00 0c 08 00 00 00 01 00
00 00 07 70 00 61 00 05 01 73 65 63 6f 6e 64 0c
00 07 00 01 66 69 72 73 74 0a 02 02 62 00 01 02
0a 02 03 63 00 02 01 63 0a 02 03 64 00 02 01 64
0a 02 03 65 00 02 01 65 0a 02 03 66 00 02 01 66
0a 02 03 67 00 02 01 67 00 0c 03 00 00 00 01 00
00 00 07 70 00 68 00 02 01 68 0a 02 03 69 00 02
01 69 0a 02 03 6a 00 02 01 6a 0a 02 03 6b 00 02
01 6b 0a 02 03 6c 00 02 01 6c 0a 02 03 6d 00 02
01 6d 0a 02 03 6e 00 02 01 6e 0a 02 03 6f 00 02
01 6f 00 0c 03 00 00 00 01 00 00 00 07 70 00 70
00 02 01 70 0a 02 03 71 00 02 01 71 07 05 3f 08
70 00 61 00 ac 02 01 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78
78 78 78 00 00 00 00 50 00 00 00 9a 00 00 00 00
ff ff 01 fe ff 01 ff fe ff ff ff ff ff 01 fe ff
02 ff 01 ff ff fe ff ff 00 00 b3 a6 9e a1 da 08
03 00 00 00 19 00 00 00 78 e0 65 f9 14 68 98 48
46 00 00 00 03 00 00 00 01 06 01 00 00 00 23 80
a0 44 21 a2 42 c8 90 03 20 00 8a 80 81 42 48 c0
02 a0 42 05 02 04 12 6c 20 41 00 10 04 01 20 10
82 00 40 20 38 03 4e c4 00 03 26 81 10 08 0a 40
03 00 10 c0 00 82 24 49 48 01 29 20 50 00 86 9f
4c e5 7f d4 9e 07 2c 00 00 00 02 00 00 00 00 0c
09 00 00 00 01 00 00 00 08 70 00 61 00 00 c0 02
13 00 ac 02 04 00 00 00 00 00 00 00 b3 a6 9e a1
da 08 01 00 00 00 00 00 00 00 d6 31 c2 b5 cc 61
c3 8a 2c 00 00 00 05 00 00 00 00 08 05 00 00 00
01 00 00 00 07 40 12 01 c0 02 07 01 04 08 40 01
00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00
00 00 00 00 00 00 b0 c4 17 54 f8 05 34 ea 50 00
00 00 06 00 00 00 01 01 13 03 01 01 05 09 80 80
cc b5 ea b3 a8 ed 08 07 09 ac 82 cc b5 ea b3 a8
ed 08 09 0c 00 00 00 01 00 00 00 07 70 00 61 00
0b 0c 00 00 00 01 00 00 00 08 70 00 61 00 0d 01
01 0f 01 01 11 02 c0 02 13 02 b0 02 15 02 e4 01
17 01 56 1b 01 02 eb d0 74 da bc 9b aa 4e)";

constexpr Golden kNothingTold = {kFileOfNothingTold, R"(
43 00 00 00 04 00 00 00 00 0c 20 00 00 00 01 00
00 00 08 70 00 61 00 40 c0 02 56 3c 01 13 01 b0
02 e4 01 56 00 ac 02 0c 00 00 00 01 00 00 00 07
70 00 61 00 02 01 01 00 00 00 00 00 00 b3 a6 9e
a1 da 08 01 00 00 00 00 00 00 00 5b 80 13 24 29
8e fd 35)",
                                 R"(
ae 02 00 00 00 00 00 00 53 00 00 00 4e 02 00 00
00 00 00 00 60 00 00 00 12 02 00 00 00 00 00 00
3c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 c5 a5 50 a0 45 ad 83 ab)",
                                 17183995809377561515u};

/// A file of entities, with statistics of the run.
constexpr std::string_view kFileOfEntities = R"(
56 41 52 56 45 0d 0a 1a 05 00 01 00 00 00 00 00
08 07 06 05 04 03 02 01 3c 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 aa 54 d0 0f 20 93 9f e0
5c 01 00 00 01 00 00 00 00 0c 58 00 00 00 01 00
00 00 07 70 00 30 00 00 01 01 00 05 00 1f 4e 12
00 2c 00 00 00 3f 84 13 00 2e 00 00 00 1b f8 14
00 37 00 00 00 ca a7 16 00 40 00 00 00 9a ba 18
00 45 00 00 00 61 00 62 00 00 b3 a6 9e a1 da 08
63 00 00 00 00 00 00 e0 3f 64 00 00 00 00 66 78
78 78 78 78 78 78 78 78 78 78 78 78 78 78 30 0a
02 69 31 00 00 01 01 00 06 00 1f 4e 12 00 34 00
00 00 3f 84 13 00 36 00 00 00 1b f8 14 00 3f 00
00 00 ca a7 16 00 48 00 00 00 78 4a 17 00 4d 00
00 00 9a ba 18 00 56 00 00 00 61 00 62 01 00 b3
a6 9e a1 da 08 63 00 00 00 00 00 00 e0 bf 64 ff
ff ff ff 65 00 00 00 00 00 01 00 00 66 78 78 78
78 78 78 78 78 78 78 78 78 78 78 78 31 0a 02 6e
32 00 00 01 01 00 06 00 1f 4e 12 00 34 00 00 00
3f 84 13 00 36 00 00 00 1b f8 14 00 3f 00 00 00
ca a7 16 00 48 00 00 00 78 4a 17 00 4d 00 00 00
9a ba 18 00 56 00 00 00 61 01 62 02 00 b3 a6 9e
a1 da 08 63 00 00 00 00 00 00 f8 bf 64 fe ff ff
ff 65 00 00 00 00 00 02 00 00 66 78 78 78 78 78
78 78 78 78 78 78 78 78 78 78 32 79 79 79 79 79
00 00 00 00 00 00 b3 a6 9e a1 da 08 01 00 00 00
00 00 00 00 74 aa 23 c9 0c 25 77 a6 46 00 00 00
03 00 00 00 01 06 01 00 00 00 00 80 00 04 00 00
00 00 c0 00 00 00 00 40 00 00 08 00 00 00 02 00
00 00 00 00 00 00 20 00 02 00 00 00 02 00 08 00
00 00 24 40 00 00 12 00 00 00 00 00 00 40 00 80
00 00 00 80 30 10 00 00 20 08 5b 84 27 60 08 b0
94 0e 2b 00 00 00 02 00 00 00 00 0c 08 00 00 00
01 00 00 00 07 70 00 32 00 00 ec 02 03 00 00 04
00 00 00 00 00 00 00 b3 a6 9e a1 da 08 01 00 00
00 00 00 00 00 b6 87 55 b1 73 a4 5e dd 24 00 00
00 05 00 00 00 00 08 05 00 00 00 01 00 00 00 07
40 03 00 ec 02 00 00 00 00 00 00 00 00 00 00 00
00 01 00 00 00 00 00 00 00 5e 6d 24 42 78 01 d2
97 50 00 00 00 06 00 00 00 01 01 03 03 01 00 05
09 80 80 cc b5 ea b3 a8 ed 08 07 09 80 80 cc b5
ea b3 a8 ed 08 09 0c 00 00 00 01 00 00 00 07 70
00 30 00 0b 0c 00 00 00 01 00 00 00 07 70 00 32
00 0d 01 01 0f 01 01 11 02 ec 02 13 02 dc 02 15
01 24 17 02 a9 02 1b 01 01 17 6a a0 df a8 ec 84
d1)";

constexpr Golden kTold = {kFileOfEntities, R"(
b6 00 00 00 04 00 00 00 00 0c 92 01 00 00 00 01
00 00 00 07 70 00 32 00 40 ec 02 56 3b 01 03 00
dc 02 24 a9 02 00 00 0c 00 00 00 01 00 00 00 07
70 00 30 00 04 74 00 01 61 02 00 01 00 01 62 03
00 00 b3 a6 9e a1 da 08 02 00 b3 a6 9e a1 da 08
00 01 63 04 00 00 00 00 00 00 f8 bf 00 00 00 00
00 00 e0 3f 00 01 64 06 fe ff ff ff 00 00 00 00
00 01 66 18 10 78 78 78 78 78 78 78 78 78 78 78
78 78 78 78 30 10 78 78 78 78 78 78 78 78 78 78
78 78 78 78 78 32 00 01 65 07 00 00 00 00 00 01
00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00
b3 a6 9e a1 da 08 01 00 00 00 00 00 00 00 de dd
4d 6c 2b fb d3 ec)",
                          R"(
d1 02 00 00 00 00 00 00 c6 00 00 00 71 02 00 00
00 00 00 00 60 00 00 00 3d 02 00 00 00 00 00 00
34 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 8c 18 d2 54 95 50 8b 1b)",
                          8104092572559079157u};

std::string bytes_of(const Golden& golden) {
  std::string bytes = from_hex(golden.file) + from_hex(golden.top_index);
  bytes.resize(kSectorBytes - kTableFooterBytes);
  return bytes + from_hex(golden.footer);
}

void expect_written(const TableFile& file, const Golden& golden) {
  EXPECT_EQ(to_hex(file.bytes), to_hex(bytes_of(golden)));
  EXPECT_EQ(file.entry.content_hash, golden.content_hash);
}

TEST(GoldenTable, IsWrittenAsPinned) {
  expect_written(golden::plain_table(golden::table_entries()), kNothingTold);
  expect_written(golden::plain_table(golden::told_entries()), kTold);
}

TableFileEntry expect_verifies(const Golden& golden, const std::string& bytes) {
  const TableFileName name{60, golden::kSeed, bytes.size()};
  const Result<TableFileEntry> verified = verify_table(name, TableFile::reader_of(bytes), nullptr);
  EXPECT_TRUE(verified.ok()) << verified.status().to_string();
  if (!verified.ok()) return {};
  EXPECT_EQ(verified->content_hash, golden.content_hash);
  EXPECT_EQ(verified->smallest_version, golden::kVersion);
  return *verified;
}

void expect_holds(const TableFile& file, const std::vector<OwnedEntry>& expected) {
  TableReading reading(file);
  const Result<std::vector<OwnedEntry>> entries = reading.scan("", kCommitVersionMax);
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  EXPECT_EQ(*entries, expected);
  for (const OwnedEntry& entry : expected) {
    const Result<std::optional<OwnedEntry>> found = reading.find(entry.key, entry.version);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(*found, entry);
  }
}

void expect_reads(const Golden& golden) {
  const std::string bytes = bytes_of(golden);
  const TableFileEntry verified = expect_verifies(golden, bytes);
  EXPECT_EQ(verified.entry_count, 19u);
  EXPECT_EQ(verified.tombstone_count, 1u);
  EXPECT_EQ(verified.largest_version, golden::kVersion + 300);
  EXPECT_EQ(verified.first_table, make_table_id(1, 7));
  EXPECT_EQ(verified.last_table, make_table_id(1, 8));
  ASSERT_NE(verified.content_hash, 0u);
  expect_holds({bytes, verified}, golden::table_entries());
}

/// Two of the files were made before statistics existed.
TEST(GoldenTable, ReadsAsWhatWasPinned) {
  expect_reads(kFirst);
  expect_reads(kCounted);
  expect_reads(kNothingTold);
}

TEST(GoldenTable, TellsWhatWasPinned) {
  const std::string bytes = bytes_of(kTold);
  const TableFileEntry verified = expect_verifies(kTold, bytes);
  ASSERT_EQ(verified.entry_count, 3u);
  const TableFile file{bytes, verified};
  expect_holds(file, golden::told_entries());
  const std::string statistics = TableReading(file).index().runs()[0].statistics;
  std::string names;
  for (RunStatistics told(statistics); !told.at_end();) {
    const Result<NamedRange> named = told.next();
    ASSERT_TRUE(named.ok()) << named.status().to_string();
    EXPECT_FALSE(named->is_in_blocks) << "there is one block";
    EXPECT_EQ(named->range.largest_is_cut, named->name == "f");
    names += named->name;
  }
  EXPECT_EQ(names, "abcdfe") << "the first row has no e";
}

}  // namespace
}  // namespace varve::format::golden_table_test
