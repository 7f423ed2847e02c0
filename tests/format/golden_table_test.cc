// Owns: the bytes of the first table file, pinned: what was written once must read forever.
// Must never: have its bytes made anew because a test failed. A change of format adds bytes beside these.
#include "tests/format/golden_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/table_verify.h"
#include "tests/format/hex_text.h"

namespace varve::format {
namespace {

/// Up to its top index.
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

/// The page that the file fills ends with the footer; zeros lie between.
struct Golden {
  std::string_view top_index;
  std::string_view footer;
  std::uint64_t content_hash;
};

/// Without the count of entries that are not the first of their key.
constexpr Golden kFirst = {R"(
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

constexpr Golden kCounted = {R"(
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

std::string bytes_of(const Golden& golden) {
  std::string bytes = from_hex(kTableFile) + from_hex(golden.top_index);
  bytes.resize(kTableFileUnitBytes - kTableFooterBytes);
  return bytes + from_hex(golden.footer);
}

TEST(GoldenTable, IsWrittenAsPinned) {
  EXPECT_EQ(to_hex(golden::table_file().bytes), to_hex(bytes_of(kCounted)));
  EXPECT_EQ(golden::table_file().entry.content_hash, kCounted.content_hash);
}

void expect_reads(const Golden& golden) {
  const std::string bytes = bytes_of(golden);
  const TableFileName name{60, golden::kSeed, bytes.size()};
  const Result<TableFileEntry> verified = verify_table(name, TableFile::reader_of(bytes), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(verified->content_hash, golden.content_hash);
  EXPECT_EQ(verified->entry_count, 19u);
  EXPECT_EQ(verified->tombstone_count, 1u);
  EXPECT_EQ(verified->smallest_version, golden::kVersion);
  EXPECT_EQ(verified->largest_version, golden::kVersion + 300);
  EXPECT_EQ(verified->first_table, make_table_id(1, 7));
  EXPECT_EQ(verified->last_table, make_table_id(1, 8));

  const TableFile file{bytes, *verified};
  TableReading reading(file);
  const Result<std::vector<OwnedEntry>> entries = reading.scan("", kCommitVersionMax);
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  EXPECT_EQ(*entries, golden::table_entries());
  for (const OwnedEntry& entry : golden::table_entries()) {
    const Result<std::optional<OwnedEntry>> found = reading.find(entry.key, entry.version);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(*found, entry);
  }
}

TEST(GoldenTable, ReadsAsWhatWasPinned) {
  expect_reads(kFirst);
  expect_reads(kCounted);
}

}  // namespace
}  // namespace varve::format
