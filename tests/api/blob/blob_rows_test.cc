// Goal: rows of blobs, contents, containers and work are those of every earlier build, and decode to the written values.
// A row that was cut is damage. A part with any changed byte is damage.
// Method: golden bytes; every truncation and every flipped bit of each row.
#include "api/blob/blob_rows.h"

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/content_rows.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/work_rows.h"
#include "tests/api/blob/blob_bench.h"
#include "tests/format/hex_text.h"
#include "varve/limits.h"

namespace varve::test::blob_rows_test {
namespace {

using format::from_hex;
using format::to_hex;

constexpr format::TableId kContainer = format::make_table_id(1, 5);
constexpr format::TableId kContents = contents_of(kContainer);
constexpr Ticks kTime = 638'000'000'000'000'000;

BlobRow full_row() {
  BlobRow row;
  row.kind = BlobKind::kAppend;
  row.length = 300;
  row.pieces = {{7, 100}, {9, 200}};
  row.crc64 = 0xAE8B14860A799888U;
  row.created = 11;
  row.changed = 12;
  row.properties = {.content_type = "text/plain",
                    .content_encoding = "gzip",
                    .content_language = "en",
                    .content_disposition = "inline",
                    .cache_control = "no-cache",
                    .content_md5 = std::array<std::uint8_t, 16>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  row.metadata = {{"Name", "value"}};
  row.tags = {{"a", "x=y"}, {"b", ""}};
  row.tier = BlobTier::kCool;
  row.tier_changed = kTime;
  row.appends = 3;
  row.copy_source = "http://x/a";
  row.copy_id = guid_of(5);
  row.copied = kTime + 1;
  row.lease = Lease{guid_of(6), 15, kTime + 2, true};
  return row;
}
BlobRow inline_row() {
  BlobRow row;
  row.length = 5;
  row.inlined = "bytes";
  return row;
}
BlobRow row_of_lists() {
  BlobRow row;
  row.kind = BlobKind::kAppend;
  row.length = 12;
  row.pieces = {{7, 8}, {9, 4}};
  row.lists = 1;
  return row;
}
std::vector<ListEntry> two_entries() {
  return {{0, 51, 6, "ab"}, {6, 52, 6, "cd"}};
}

/// An encoded row, what it must be in every build, and whether bytes are such a row. A row does not have its own length,
/// so its last text may be cut.
struct Golden {
  std::string name;
  std::string bytes;
  std::string hex;
  std::function<Status(std::string_view bytes)> decode;
  std::size_t last_text = 0;
};

std::vector<Golden> rows() {
  const auto blob = [](std::string_view bytes) { return decode_blob_row(20, bytes).status(); };
  const auto head = [](std::string_view bytes) { return decode_content_head(bytes).status(); };
  const auto container = [](std::string_view bytes) {
    return decode_container_row("acc", "photos", 20, bytes).status();
  };
  const std::string new_container = encode_new_container_row(kContainer, {{{"Name", "value"}}, PublicAccess::kBlobs});
  return {
      {"inline", encode_blob_row(inline_row()),
       "01000300c8cf46001c0000001533670024000000f0ee6100320000004b696e64000000004c656e6774680500000000000000496e6c696e6"
       "5"
       "6279746573",
       blob},
      {"blob", encode_blob_row(full_row()),
       "01001900c8cf4600cc00000015336700d40000000c877100e200000022193700090100005f7d7700140100004d727700230100006208b80"
       "0"
       "3201000084eff80047010000f723f8005a010000107e28016b010000a0d4c80083010000b4eca10097010000911a4800b10100001781460"
       "0"
       "bf010000aa4eb300c7010000aa9a7600da0100007425a800e501000098ca6500f901000009bf63000f0200008c6355001d0200000b92c60"
       "0"
       "32020000df509300420200004845b200530200009f0b98005f02000093cfa8006c0200004b696e64010000004c656e6774682c010000000"
       "0"
       "0000436f6e74656e74070000000000000064000000000000000900000000000000c8000000000000004372638898790a86148bae4372656"
       "1"
       "7465640b000000000000004368616e6765640c00000000000000436f6e74656e7454797065746578742f706c61696e436f6e74656e74456"
       "e"
       "636f64696e67677a6970436f6e74656e744c616e6775616765656e436f6e74656e74446973706f736974696f6e696e6c696e65436163686"
       "5"
       "436f6e74726f6c6e6f2d6361636865436f6e74656e744d64350102030405060708090a0b0c0d0e0f1054616773613d782533447926623d5"
       "4"
       "69657202000000546965724368616e6765640000b3a69ea1da08417070656e647303000000436f7079536f75726365687474703a2f2f782"
       "f"
       "61436f7079496405050505050505050505050505050505436f706965640100b3a69ea1da084c65617365060606060606060606060606060"
       "6"
       "06064c656173655365636f6e64730f0000004c65617365456e64730200b3a69ea1da084c65617365427265616b73014d657461304e616d6"
       "5"
       "4e616d654d6574613056616c756576616c7565",
       blob, 5},
      {"blob with lists", encode_blob_row(row_of_lists()),
       "01000400c8cf460024000000153367002c0000000c8771003a0000002c625600610000004b696e64020000004c656e6774680c00000000"
       "000000436f6e74656e7407000000000000000800000000000000090000000000000004000000000000004c6973747301000000",
       blob},
      {"staged list", encode_staged_list({31, 2, 4, kTime + 3}),
       "01000400ce3aa7002400000039a45600360000007acb76003f00000024f443004a00000047656e65726174696f6e1f00000000000000436"
       "f"
       "756e740200000049644279746573040000004c6173740300b3a69ea1da08",
       [](std::string_view bytes) { return decode_staged_list(bytes).status(); }},
      {"staged block", encode_staged_block({{41, 6}}),
       "010002000c877700140000001533670023000000436f6e74656e7429000000000000004c656e6774680600000000000000",
       [](std::string_view bytes) { return decode_staged_block(bytes).status(); }},
      {"head", encode_content_head({ContentKind::kPlain, 2, 300, 0xAE8B14860A799888U}),
       "01000400c8cf460024000000f0ba66002c000000153367003600000022193700440000004b696e64000000004f776e657273020000004c6"
       "5"
       "6e6774682c010000000000004372638898790a86148bae",
       head},
      {"head of a value", encode_content_head({ContentKind::kValue, 2, 300, 0xAE8B14860A799888U}),
       "01000400c8cf460024000000f0ba66002c000000153367003600000022193700440000004b696e64030000004f776e657273020000004c6"
       "5"
       "6e6774682c010000000000004372638898790a86148bae",
       head},
      {"head of a list", encode_content_head({ContentKind::kList, 1, 2, {}}),
       "01000300c8cf46001c000000f0ba660024000000153367002e0000004b696e64010000004f776e657273010000004c656e6774680200000"
       "0"
       "00000000",
       head},
      {"growing head", encode_content_head({ContentKind::kGrowing, 1, 0, {}}),
       "01000200c8cf460014000000f0ba66001c0000004b696e64020000004f776e65727301000000", head},
      {"container", new_container,
       "010004006e81270024000000c70cc6002e0000009f0b98003e00000093cfa8004b000000496405000000010000005075626c69634163636"
       "5"
       "7373010000004d657461304e616d654e616d654d6574613056616c756576616c7565",
       container, 5},
      {"work", encode_work(64), "01000100678347000c000000446f6e654000000000000000",
       [](std::string_view bytes) { return decode_work(bytes).status(); }},
      {"expiry", encode_expiry({kContainer, "a/b"}),
       "01000200f2189700140000002f66480025000000436f6e7461696e657205000000010000004e616d65612f62",
       [](std::string_view bytes) { return decode_expiry(bytes).status(); }, 3},
  };
}

TEST(BlobRows, AreThoseOfEveryEarlierBuild) {
  for (const Golden& row : rows()) {
    EXPECT_EQ(row.bytes, from_hex(row.hex)) << row.name << "\n" << to_hex(row.bytes);
    EXPECT_TRUE(row.decode(row.bytes).ok()) << row.name;
  }
  EXPECT_EQ(encode_work(), from_hex("01000000"));
  EXPECT_EQ(
      encode_part(7, kPartBytes, "123456789"),
      from_hex(
          "010002003fda61001400000035ff51002a0000004861736865734589efae867324d4ff7da1678bb1dc72427974657331323334353637"
          "3839"));
  EXPECT_EQ(encode_list_entries(two_entries()), from_hex("0200000000000000003300000000000000060000000000000061620600000"
                                                         "000000000340000000000000006000000000000006364"));
}

TEST(BlobRows, KeysAreThoseOfEveryEarlierBuild) {
  const std::vector<std::pair<std::string, std::string>> keys = {
      {blob_row_key(kContainer, "a/\xF0\x90\x80\x80"), "000000010000000542612ff6bfbff09080800000"},
      {staged_list_key(kContainer, "a"), "000000010000000548610000"},
      {staged_block_key(kContainer, 31, "ab"), "0000000100000005552d2d2d2d2d2d2d2d2d3077005957493d00"},
      {content_head_key(kContents, 7), "00000001ffffffff4b2d2d2d2d2d2d2d2d2d2d520000"},
      {content_part_key(kContents, 7, kPartBytes),
       "00000001ffffffff4b2d2d2d2d2d2d2d2d2d2d52002d2d2d2d2d2d2d462d2d2d00"},
      {container_row_key("acc", "photos"), "00000000000000086163630070686f746f7300"},
      {work_key({WorkKind::kFilling, 7, 1}), "0000000000000009462d2d2d2d2d2d2d2d2d2d52002d2d2d2d2d2d2d2d2d2d3300"},
      {work_key({WorkKind::kTable, 7, 1}), "0000000000000009542d2d2d2d2d2d2d2d2d2d52002d2d2d2d2d2d2d2d2d2d3300"},
  };
  for (const auto& [key, hex] : keys) EXPECT_EQ(key, from_hex(hex)) << to_hex(key);
}

TEST(BlobRows, EveryTruncationBeforeTheLastTextIsDamage) {
  for (const Golden& row : rows()) {
    for (std::size_t size = 0; size < row.bytes.size() - row.last_text; ++size) {
      const Status decoded = row.decode(std::string_view(row.bytes).substr(0, size));
      EXPECT_FALSE(decoded.ok()) << row.name << " cut at " << size;
    }
  }
}

/// Rows have no checksum of their own: their blocks have. So a flipped bit may be another row, but one that could have
/// been written.
TEST(BlobRows, EveryFlippedBitIsDamageOrAnotherRow) {
  for (const Golden& row : rows()) {
    for (std::size_t bit = 0; bit < row.bytes.size() * 8; ++bit) {
      std::string flipped = row.bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      const Status decoded = row.decode(flipped);
      if (!decoded.ok()) {
        EXPECT_TRUE(decoded.code() == Code::kCorruption || decoded.code() == Code::kUnsupported) << decoded.to_string();
      }
    }
  }
  const std::string blob = encode_blob_row(full_row());
  for (std::size_t bit = 0; bit < blob.size() * 8; ++bit) {
    std::string flipped = blob;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Result<BlobRow> row = decode_blob_row(20, flipped);
    if (!row.ok()) continue;
    const Result<BlobRow> again = decode_blob_row(20, encode_blob_row(*row));
    ASSERT_TRUE(again.ok()) << bit;
    EXPECT_EQ(encode_blob_row(*again), encode_blob_row(*row)) << bit;
  }
}

TEST(BlobRows, LeadBackToWhatWasWritten) {
  const BlobRow full = full_row();
  const Result<BlobRow> row = decode_blob_row(20, encode_blob_row(full));
  ASSERT_TRUE(row.ok()) << row.status().to_string();
  EXPECT_EQ(row->pieces, full.pieces);
  EXPECT_EQ(row->crc64, full.crc64);
  EXPECT_EQ(row->properties, full.properties);
  EXPECT_EQ(row->metadata, full.metadata);
  EXPECT_EQ(row->lists, 0U);
  EXPECT_EQ((*decode_blob_row(20, encode_blob_row(row_of_lists()))).lists, 1U);
  EXPECT_EQ(row->tags, full.tags);
  EXPECT_EQ(row->lease.id, full.lease.id);
  EXPECT_EQ(row->changed, 12U);
  EXPECT_EQ((*decode_blob_row(20, encode_blob_row(inline_row()))).changed, 20U) << "that of the row";
  EXPECT_EQ(decode_blob_row(11, encode_blob_row(full)).code(), Code::kCorruption) << "changed after its own commit";
}

TEST(BlobRows, LengthsThatNoContentHasAreDamage) {
  const auto refused = [](const std::function<void(BlobRow&)>& change) {
    BlobRow row = full_row();
    change(row);
    return decode_blob_row(20, encode_blob_row(row)).code() == Code::kCorruption;
  };
  EXPECT_FALSE(refused([](BlobRow&) {}));
  EXPECT_TRUE(refused([](BlobRow& row) { row.length = 299; }));
  EXPECT_TRUE(refused([](BlobRow& row) { row.length = 301; }));
  EXPECT_TRUE(refused([](BlobRow& row) { row.inlined = "x"; }));
  EXPECT_TRUE(refused([](BlobRow& row) { row.is_list = true; })) << "a list is one content";
  EXPECT_TRUE(refused([](BlobRow& row) { row.pieces = {{7, 301}, {9, UINT64_MAX}}; })) << "the sum is 300";
  EXPECT_TRUE(refused([](BlobRow& row) { row.pieces.clear(); }));
  EXPECT_FALSE(refused([](BlobRow& row) { row.lists = 1; }));
  EXPECT_TRUE(refused([](BlobRow& row) { row.lists = 2; })) << "the last one grows, so it is no list";
  const ContentHead negative{ContentKind::kPlain, 1, UINT64_MAX, {}};
  EXPECT_EQ(decode_content_head(encode_content_head(negative)).code(), Code::kCorruption);
  const ContentHead too_long{ContentKind::kList, 1, limits::kBlocksMax + 1, {}};
  EXPECT_EQ(decode_content_head(encode_content_head(too_long)).code(), Code::kCorruption);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all.append(text);
  return all;
}

TEST(ContentParts, BX06_APackedPartOfAnEarlierBuildIsRead) {
  const std::string stored = from_hex(
      "010003003fda61001c0000001afb610032000000997746004e000000486173686573c32348ef55fbd878472c8d14948552905061"
      "636b656428b52ffd20786d00003076617276652001002f69290253697a6578000000");
  std::string room;
  const Result<std::string_view> bytes = decode_any_part(7, kPartBytes, stored, room);
  ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
  EXPECT_EQ(*bytes, repeated("varve ", 20));
  EXPECT_FALSE(decode_part(7, kPartBytes, stored).ok()) << "a reader of plain parts refuses it";
}

TEST(ContentParts, BX06_BX07_APackedPartLeadsBackAndEachChangeOfItIsDamage) {
  const std::string bytes = repeated("varve ", 400);
  const std::optional<std::string> packed = encode_packed_part(7, kPartBytes, bytes, bytes.size() / 2);
  ASSERT_TRUE(packed);
  EXPECT_TRUE(is_packed_part(*packed));
  EXPECT_FALSE(is_packed_part(encode_part(7, kPartBytes, bytes)));
  std::string room;
  const auto decoded = [&room](ContentId content, std::uint64_t offset, std::string_view value) {
    return decode_any_part(content, offset, value, room);
  };
  ASSERT_TRUE(decoded(7, kPartBytes, *packed).ok());
  EXPECT_EQ(*decoded(7, kPartBytes, *packed), bytes);
  EXPECT_FALSE(decoded(8, kPartBytes, *packed).ok());
  EXPECT_FALSE(decoded(7, 0, *packed).ok());
  EXPECT_FALSE(decoded(7, kPartBytes, *packed + "x").ok());
  for (std::size_t at = 0; at < packed->size(); ++at) {
    EXPECT_FALSE(decoded(7, kPartBytes, std::string_view(*packed).substr(0, at)).ok()) << "cut at " << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = *packed;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const Result<std::string_view> read = decoded(7, kPartBytes, flipped);
      EXPECT_TRUE(!read.ok() || *read == bytes) << "bit " << bit << " of byte " << at;
      const bool is_covered = at >= packed->size() - sizeof(std::int32_t);
      EXPECT_TRUE(!is_covered || !read.ok()) << "the size";
    }
  }
  const std::string plain = encode_part(7, kPartBytes, bytes);
  EXPECT_EQ(*decoded(7, kPartBytes, plain), bytes);
}

TEST(ContentParts, BX06_APartThatDoesNotShrinkIsNotPacked) {
  const std::string uneven = uneven_bytes(100'000);
  EXPECT_FALSE(encode_packed_part(7, 0, uneven, uneven.size() - uneven.size() / 8));
  EXPECT_FALSE(encode_packed_part(7, 0, "x", 1));
  const std::string even(kPartBytes, 'x');
  const std::optional<std::string> packed = encode_packed_part(7, 0, even, even.size() / 8);
  ASSERT_TRUE(packed);
  std::string room;
  EXPECT_TRUE(*decode_any_part(7, 0, *packed, room) == even);
}

TEST(ContentParts, BX07_EveryFlippedBitTruncationAndOtherPlaceIsDamage) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, kHashedBytes, kHashedBytes + 1}) {
    const std::string bytes = uneven_bytes(size);
    const std::string part = encode_part(7, kPartBytes, bytes);
    ASSERT_TRUE(decode_part(7, kPartBytes, part).ok());
    EXPECT_EQ(*decode_part(7, kPartBytes, part), bytes);
    EXPECT_EQ(part_bytes_of(part.size()), size);
    EXPECT_FALSE(decode_part(8, kPartBytes, part).ok());
    EXPECT_FALSE(decode_part(7, 0, part).ok());
    const std::size_t step = part.size() > 1'000 ? 997 : 1;
    for (std::size_t at = 0; at < part.size(); at += at < 120 ? 1 : step) {
      EXPECT_FALSE(decode_part(7, kPartBytes, std::string_view(part).substr(0, at)).ok()) << size << " cut at " << at;
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = part;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        const Result<std::string_view> read = decode_part(7, kPartBytes, flipped);
        EXPECT_TRUE(!read.ok() || *read == bytes) << size << ", " << at << ", " << bit;
        const bool is_covered = at >= part.size() - size;
        EXPECT_TRUE(!is_covered || !read.ok()) << size << ", " << at << ", " << bit;
      }
    }
  }
}

TEST(ContentParts, AListWithHalfAnEntryIsDamage) {
  const std::string bytes = encode_list_entries(two_entries());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<std::vector<ListEntry>> entries = decode_list_entries(std::string_view(bytes).substr(0, size));
    const bool is_whole = size <= 1 || size == 1 + (bytes.size() - 1) / 2;
    EXPECT_EQ(entries.ok(), is_whole) << size;
  }
  EXPECT_EQ((*decode_list_entries(bytes)).back().id, "cd");
  EXPECT_FALSE(decode_list_entries(std::string(25, '\0')).ok()) << "ids without a byte";
}

TEST(BlobKeys, BN02_AKeyThatNoNameHasIsDamage) {
  const auto key = [](std::string_view text) { return *format::encode_sort_key(kContainer, text, ""); };
  EXPECT_EQ(*decode_named_key(key("Ba")), "a");
  EXPECT_EQ(*decode_named_key(key("B\xEF\xBF\xBF!")), "\xEF\xBF\xBF");
  for (const std::string_view text : {"", "B\xEF\xBF\xBF",
                                      "B\xEF\xBF\xBF"
                                      "a",
                                      "B\xF0\x90\x80\x80"}) {
    EXPECT_EQ(decode_named_key(key(text)).code(), Code::kCorruption) << to_hex(std::string(text));
  }
  EXPECT_EQ(decode_named_key(*format::encode_sort_key(kContainer, "Ba", "b")).code(), Code::kCorruption);
  EXPECT_EQ(decode_work_key(*format::encode_sort_key(kWorkTable, "Q", "")).code(), Code::kCorruption);
  EXPECT_EQ(decode_content_key(*format::encode_sort_key(kContents, "K", "")).code(), Code::kCorruption);
}

// The work of a drop removes all rows of the table or container that its key names.
TEST(BlobKeys, BX32_AWorkRowNamesOnlyWhatAStoreDrops) {
  const auto decoded = [](WorkKind kind, format::TableId subject, format::TableId owner) {
    return decode_work_key(work_key({kind, subject, owner})).code();
  };
  constexpr format::TableId kPlain = format::make_table_id(1, 7);
  constexpr format::TableId kPeople = with_large_values(kPlain);
  EXPECT_EQ(decoded(WorkKind::kTable, kPeople, kPlain), Code::kOk);
  EXPECT_EQ(decoded(WorkKind::kTable, kPlain, kPlain), Code::kCorruption) << "a table without large values";
  EXPECT_EQ(decoded(WorkKind::kTable, kPeople, kPlain + 1), Code::kCorruption) << "the fence of another table";
  EXPECT_EQ(decoded(WorkKind::kTable, kContents, kPlain), Code::kCorruption);
  EXPECT_EQ(decoded(WorkKind::kContainer, kContainer, fence_of(kContainer)), Code::kOk);
  EXPECT_EQ(decoded(WorkKind::kContainer, kContainer, kContainer), Code::kCorruption);
}

}  // namespace
}  // namespace varve::test::blob_rows_test
