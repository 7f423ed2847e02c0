// Owns: bytes that must never change: keys, entities, batches, fields and checksums as hexadecimal text. Another
// program generated the bytes from the layouts in the headers and the system's xxHash library. A difference means that
// existing stores can no longer be read.
#include <array>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "format/bytes/checksum.h"
#include "format/bytes/tagged_fields.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "tests/format/hex_text.h"

namespace varve::format::golden_keys_test {
namespace {

using namespace std::string_view_literals;

struct GoldenSortKey {
  std::string_view what;
  TableId table;
  std::string_view partition_key;
  std::string_view row_key;
  std::string_view hex;
};

constexpr std::array kSortKeys = {
    GoldenSortKey{"ordinary", 0x0000000100000002, "customers", "0042",
                  "00 00 00 01 00 00 00 02 63 75 73 74 6f 6d 65 72\n"
                  "73 00 30 30 34 32 00"},
    GoldenSortKey{"empty", 1, "", "", "00 00 00 00 00 00 00 01 00 00"},
    GoldenSortKey{"U+0000", 1, "a\0b"sv, "\0"sv, "00 00 00 00 00 00 00 01 61 01 01 62 00 01 01 00"},
    GoldenSortKey{"U+0001", 1, "\x01", "\x01\x02", "00 00 00 00 00 00 00 01 01 02 00 01 02 02 00"},
    GoldenSortKey{"U+E000 and U+FFFF", 0x8000000000000000, "\xEE\x80\x80", "\xEF\xBF\xBF",
                  "80 00 00 00 00 00 00 00 f5 80 80 00 f6 bf bf 00"},
    GoldenSortKey{"U+D7FF and U+10000", 1, "\xED\x9F\xBF", "\xF0\x90\x80\x80",
                  "00 00 00 00 00 00 00 01 ed 9f bf 00 f0 90 80 80\n"
                  "00"},
    GoldenSortKey{"U+10FFFF and U+00E9", std::numeric_limits<TableId>::max(), "\xF4\x8F\xBF\xBF", "\xC3\xA9",
                  "ff ff ff ff ff ff ff ff f4 8f bf bf 00 c3 a9 00"},
};

TEST(GoldenKeys, SortKeys) {
  for (const GoldenSortKey& golden : kSortKeys) {
    SCOPED_TRACE(golden.what);
    const Result<std::string> key = encode_sort_key(golden.table, golden.partition_key, golden.row_key);
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(to_hex(*key), golden.hex);
    const Result<SortKey> decoded = decode_sort_key(from_hex(golden.hex));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->table, golden.table);
    EXPECT_EQ(decoded->partition_key, golden.partition_key);
    EXPECT_EQ(decoded->row_key, golden.row_key);
  }
}

TEST(GoldenKeys, SortKeysPrefixes) {
  EXPECT_EQ(to_hex(encode_table(0x0000000100000002)), "00 00 00 01 00 00 00 02");
  EXPECT_EQ(to_hex(*encode_partition(1, "p")), "00 00 00 00 00 00 00 01 70 00");
  std::string prefix = *encode_partition(1, "p");
  ASSERT_TRUE(append_text_prefix(prefix, "\0r\xEE\x80\x80"sv).ok());
  EXPECT_EQ(to_hex(prefix), "00 00 00 00 00 00 00 01 70 00 01 01 72 f5 80 80");
  EXPECT_EQ(to_hex(end_of_prefix(prefix)), "00 00 00 00 00 00 00 01 70 00 01 01 72 f5 80 81");
}

TEST(GoldenKeys, InternalKeys) {
  struct Golden {
    CommitVersion version;
    Kind kind;
    std::string_view hex;
  };
  for (const Golden& golden : {
           Golden{638'000'000'000'000'000, Kind::kPut,
                  "00 00 00 00 00 00 00 01 70 00 72 00 f7 25 5e 61\n"
                  "59 4c ff ff 01"},
           Golden{0, Kind::kDelete,
                  "00 00 00 00 00 00 00 01 70 00 72 00 ff ff ff ff\n"
                  "ff ff ff ff 02"},
           Golden{kCommitVersionMax, Kind::kPut,
                  "00 00 00 00 00 00 00 01 70 00 72 00 c0 00 00 00\n"
                  "00 00 00 00 01"},
       }) {
    SCOPED_TRACE(golden.version);
    std::string key = *encode_sort_key(1, "p", "r");
    key.resize(key.size() + kInternalSuffixBytes);
    store_internal_suffix(key.data() + key.size() - kInternalSuffixBytes, golden.version, golden.kind);
    EXPECT_EQ(to_hex(key), golden.hex);
    const std::string bytes = from_hex(golden.hex);
    EXPECT_EQ(split_internal_key(bytes).version, golden.version);
    EXPECT_EQ(split_internal_key(bytes).kind, golden.kind);
  }
}

TEST(GoldenKeys, KindNumbers) {
  EXPECT_EQ(static_cast<int>(Kind::kPut), 1);
  EXPECT_EQ(static_cast<int>(Kind::kDelete), 2);
  EXPECT_EQ(static_cast<int>(Kind::kMergeOperand), 3);
  EXPECT_EQ(static_cast<int>(Kind::kPutExternal), 4);
  EXPECT_EQ(static_cast<int>(Kind::kPutExpiring), 5);
  EXPECT_EQ(static_cast<int>(Kind::kPutExpiringExternal), 6);
  EXPECT_EQ(static_cast<int>(Kind::kRetire), 64);
  EXPECT_EQ(static_cast<int>(Kind::kAdopt), 65);
}

constexpr GuidBytes kGuid = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                             0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};

constexpr std::string_view kEntityOfAllTypes =
    "01 00 08 00 0c b4 61 00 44 00 00 00 bc eb 72 00\n"
    "4d 00 00 00 00 59 83 00 55 00 00 00 a8 2d 64 00\n"
    "65 00 00 00 f1 b8 75 00 73 00 00 00 fa e3 56 00\n"
    "8a 00 00 00 85 49 57 00 93 00 00 00 7b 3e 68 00\n"
    "a0 00 00 00 42 69 6e 61 72 79 00 ff 01 42 6f 6f\n"
    "6c 65 61 6e 01 44 61 74 65 54 69 6d 65 ff 3f 37\n"
    "f4 75 28 ca 2b 44 6f 75 62 6c 65 00 00 00 00 00\n"
    "00 d0 bf 47 72 c3 b6 c3 9f 65 00 11 22 33 44 55\n"
    "66 77 88 99 aa bb cc dd ee ff 49 6e 74 33 32 fe\n"
    "ff ff ff 49 6e 74 36 34 00 00 00 00 00 00 00 80\n"
    "53 74 72 69 6e 67 6e 61 c3 af 76 65 00 f0 9f 98\n"
    "80";

TEST(GoldenKeys, EntitiesAreBuilt) {
  EntityBuilder builder;
  EXPECT_EQ(to_hex(builder.finish()), "01 00 00 00");
  builder.add_binary("Binary", "\0\xFF\x01"sv);
  builder.add_boolean("Boolean", true);
  builder.add_date_time("DateTime", 3'155'378'975'999'999'999);
  builder.add_double("Double", -0.25);
  builder.add_guid(
      "Gr\xC3\xB6\xC3\x9F"
      "e",
      kGuid);
  builder.add_int32("Int32", -2);
  builder.add_int64("Int64", std::numeric_limits<std::int64_t>::min());
  builder.add_string("String", "na\xC3\xAFve\0\xF0\x9F\x98\x80"sv);
  EXPECT_EQ(to_hex(builder.finish()), kEntityOfAllTypes);
}

TEST(GoldenKeys, EntitiesAreRead) {
  const std::string bytes = from_hex(kEntityOfAllTypes);
  const Result<EncodedEntity> view = EncodedEntity::open(bytes);
  ASSERT_TRUE(view.ok()) << view.status().to_string();
  EXPECT_TRUE(view->verify().ok());
  ASSERT_EQ(view->property_count(), 8U);
  EXPECT_EQ(view->find("Binary")->value, "\0\xFF\x01"sv);
  EXPECT_TRUE(view->find("Boolean")->as_boolean());
  EXPECT_EQ(view->find("DateTime")->as_date_time_ticks(), 3'155'378'975'999'999'999U);
  EXPECT_EQ(view->find("Double")->as_double(), -0.25);
  EXPECT_EQ(view->find("Gr\xC3\xB6\xC3\x9F"
                       "e")
                ->as_guid(),
            kGuid);
  EXPECT_EQ(view->find("Int32")->as_int32(), -2);
  EXPECT_EQ(view->find("Int64")->as_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(view->find("String")->value, "na\xC3\xAFve\0\xF0\x9F\x98\x80"sv);
}

constexpr std::string_view kBatchOfAllKinds =
    "01 05 61 74 20 31 37 05 01 0c 00 00 00 01 00 00\n"
    "00 02 70 00 31 00 05 76 61 6c 75 65 02 0c 00 00\n"
    "00 01 00 00 00 02 70 00 32 00 40 04 00 00 00 07\n"
    "40 08 00 00 00 01 00 00 00 02 41 00 00 00 01 00\n"
    "00 00 03";

TEST(GoldenKeys, BatchesAreBuilt) {
  const TableId table = make_table_id(1, 2);
  const std::string first = *encode_sort_key(table, "p", "1");
  BatchBuilder builder;
  EXPECT_EQ(to_hex(builder.finish()), "00 00");
  builder.set_tag("T");
  EXPECT_EQ(to_hex(builder.finish()), "01 01 54 00");
  builder.put(first, "");
  EXPECT_EQ(to_hex(builder.finish()),
            "00 01 01 0c 00 00 00 01 00 00 00 02 70 00 31 00\n"
            "00");
  builder.put(first, "value");
  builder.remove(*encode_sort_key(table, "p", "2"));
  builder.retire_account(7);
  builder.retire_table(table);
  builder.adopt(make_table_id(1, 3));
  builder.set_tag("at 17");
  EXPECT_EQ(to_hex(builder.finish()), kBatchOfAllKinds);
}

TEST(GoldenKeys, BatchesAreRead) {
  const std::string bytes = from_hex(kBatchOfAllKinds);
  Result<BatchReader> reader = BatchReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->has_tag());
  EXPECT_EQ(reader->tag(), "at 17");
  struct Golden {
    Kind kind;
    std::string_view key_hex;
    std::string_view value;
  };
  for (const Golden& golden : {
           Golden{Kind::kPut, "00 00 00 01 00 00 00 02 70 00 31 00", "value"},
           Golden{Kind::kDelete, "00 00 00 01 00 00 00 02 70 00 32 00", ""},
           Golden{Kind::kRetire, "00 00 00 07", ""},
           Golden{Kind::kRetire, "00 00 00 01 00 00 00 02", ""},
           Golden{Kind::kAdopt, "00 00 00 01 00 00 00 03", ""},
       }) {
    Operation operation;
    const Result<bool> more = reader->next(&operation);
    ASSERT_TRUE(more.ok() && *more);
    EXPECT_EQ(operation.kind, golden.kind);
    EXPECT_EQ(to_hex(operation.key), golden.key_hex);
    EXPECT_EQ(operation.value, golden.value);
  }
  Operation none;
  const Result<bool> more = reader->next(&none);
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(*more);
}

TEST(GoldenKeys, TaggedFields) {
  constexpr std::string_view kHex =
      "01 01 00 03 0a ff ff ff ff ff ff ff ff ff 01 04\n"
      "04 6b 65 70 74 04 00 ac 02 02 ac 02 ff ff ff ff\n"
      "0f 01 78";
  std::string fields;
  append_number_field(fields, 1, 0);
  append_number_field(fields, 3, std::numeric_limits<std::uint64_t>::max());
  append_field(fields, 4, "kept");
  append_field(fields, 4, "");
  append_number_field(fields, 300, 300);
  append_field(fields, std::numeric_limits<Tag>::max(), "x");
  EXPECT_EQ(to_hex(fields), kHex);

  std::string again;
  FieldReader reader(fields);
  while (!reader.at_end()) {
    const Result<Field> field = reader.next();
    ASSERT_TRUE(field.ok());
    append_field(again, field->tag, field->value);
  }
  EXPECT_EQ(to_hex(again), kHex);
}

/// Returns bytes where byte i is i * 131 + 7, modulo 256.
std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + 7);
  return bytes;
}

TEST(GoldenKeys, ContentHashes) {
  struct Golden {
    std::size_t size;
    std::uint64_t hash;
  };
  for (const Golden& golden : {
           Golden{0, 0x2D06800538D394C2},
           Golden{1, 0x4C5CCA45D0F4811F},
           Golden{3, 0x6E3E2670E61106AC},
           Golden{4, 0x5C4C63133443D03F},
           Golden{8, 0xF9FD4DD0B04D78F5},
           Golden{9, 0x7C20DF9712C26EDF},
           Golden{16, 0x86ABF6BACCEA0858},
           Golden{17, 0xB58BF5DC5022D071},
           Golden{128, 0x10D17F72C0CCBA41},
           Golden{129, 0x1648BDC3DB49D1A2},
           Golden{240, 0xB6CFAF343FAB81E6},
           Golden{241, 0x956CAE592C67279E},
           Golden{256, 0xB15E550733C5DFAC},
           Golden{1024, 0x70BD377D9574F4BB},
           Golden{4096, 0x9DDD66C14AF0DAFF},
       }) {
    EXPECT_EQ(content_hash(pattern(golden.size)), golden.hash) << golden.size;
  }
}

TEST(GoldenKeys, ChecksumsOfSixtyFourBytes) {
  struct Golden {
    FilePlace place;
    std::uint64_t term;
    std::uint64_t checksum;
  };
  for (const Golden& golden : {
           Golden{{0, 0}, 0xC77B3ABB6F87ACD9, 0xDA0D0D8F73AADDB6},
           Golden{{1, 0}, 0x9E51AD6D2F3E695C, 0xB0E3804133619A39},
           Golden{{0, 4096}, 0xAFB29C4F084F56B0, 0xC2446F230C72878D},
           Golden{{0x0123456789ABCDEF, 64}, 0xD793499A9F436339, 0xEA251C6EA3669416},
           Golden{{0xFFFFFFFFFFFFFFFF, 0x8000000000000000}, 0xC91F577A3C1A4966, 0xDBB12A4E403D7A43},
       }) {
    SCOPED_TRACE(golden.place.offset);
    EXPECT_EQ(place_term(golden.place), golden.term);
    EXPECT_EQ(checksum_at(golden.place, pattern(64)), golden.checksum);
  }
}

}  // namespace
}  // namespace varve::format::golden_keys_test
