// Owns: the tests of building table files: added entries are found, scanned and counted, however they are spread.
// Must never: compare the file with itself. Every expected answer comes from the entries.
#include "format/table/table_builder.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/table/table_verify.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::table_builder_test {
namespace {

/// Returns the newest version of the key that is not above `newest`.
std::optional<OwnedEntry> newest_of(const std::vector<OwnedEntry>& entries, const std::string& key,
                                    CommitVersion newest) {
  const auto at = std::lower_bound(entries.begin(), entries.end(), OwnedEntry{key, newest, Kind::kPut, ""}, before);
  if (at == entries.end() || at->key != key) return std::nullopt;
  return *at;
}

void expect_manifest_entry(const TableFile& file, const std::vector<OwnedEntry>& entries) {
  const TableFileEntry& entry = file.entry;
  EXPECT_EQ(entry.number, kSampleNumber);
  EXPECT_EQ(entry.seed, kSampleSeed);
  EXPECT_EQ(entry.size_bytes, file.bytes.size());
  EXPECT_EQ(entry.content_hash, content_hash(file.bytes));
  EXPECT_EQ(entry.smallest_key, entries.front().key);
  EXPECT_EQ(entry.largest_key, entries.back().key);
  EXPECT_EQ(entry.entry_count, entries.size());
  const auto deletes =
      std::count_if(entries.begin(), entries.end(), [](const OwnedEntry& one) { return one.kind == Kind::kDelete; });
  EXPECT_EQ(entry.tombstone_count, static_cast<std::uint64_t>(deletes));
  const auto older = [](const OwnedEntry& a, const OwnedEntry& b) { return a.version < b.version; };
  EXPECT_EQ(entry.smallest_version, std::min_element(entries.begin(), entries.end(), older)->version);
  EXPECT_EQ(entry.largest_version, std::max_element(entries.begin(), entries.end(), older)->version);
  EXPECT_EQ(entry.first_table, table_id_of(entries.front().key));
  EXPECT_EQ(entry.last_table, table_id_of(entries.back().key));
}

void expect_verifies(const TableFile& file) {
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(*verified, file.entry);
}

void expect_answers(const TableFile& file, const std::vector<OwnedEntry>& entries, RandomValues& random) {
  TableReading reading(file);
  const Result<std::vector<OwnedEntry>> all = reading.scan("", kCommitVersionMax);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  ASSERT_EQ(*all, entries);
  Result<std::vector<OwnedEntry>> back = reading.scan_back();
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  std::reverse(back->begin(), back->end());
  ASSERT_EQ(*back, entries);
  for (int i = 0; i < 200; ++i) {
    const OwnedEntry& entry = entries[random.below(entries.size())];
    const std::string key = random.one_in(4) ? sample_key(entry.version, 1, 1) : entry.key;
    const CommitVersion newest = random.one_in(3) ? kCommitVersionMax : entry.version - 1 + random.below(3);
    const Result<std::optional<OwnedEntry>> found = reading.find(key, newest);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    ASSERT_EQ(*found, newest_of(entries, key, newest));
    if (i % 20 != 0) continue;
    const auto from = std::lower_bound(entries.begin(), entries.end(), OwnedEntry{key, newest, Kind::kPut, ""}, before);
    const Result<std::vector<OwnedEntry>> rest = reading.scan(key, newest);
    ASSERT_TRUE(rest.ok()) << rest.status().to_string();
    ASSERT_EQ(*rest, std::vector<OwnedEntry>(from, entries.end()));
  }
}

void expect_table_of(const EntryShape& shape, const TableOptions& options, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomValues random(seed);
  const std::vector<OwnedEntry> entries = random_entries(seed, shape);
  const TableFile file = build_table(entries, options);
  EXPECT_EQ(file.bytes.size() % kSectorBytes, 0u);
  expect_manifest_entry(file, entries);
  expect_verifies(file);
  expect_answers(file, entries, random);
}

TEST(TableBuilder, SmallTablesOfEveryKind) {
  RandomValues random(40);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    EntryShape shape;
    shape.count = 1 + random.below(400);
    shape.tables = 1 + random.below(5);
    shape.long_keys = random.below(20);
    shape.version_chains = random.below(40);
    TableOptions options;
    options.compression_level = random.one_in(2) ? 0 : 3;
    if (random.one_in(2)) options.filter.kind = FilterKind::kBinaryFuse;
    if (random.one_in(3)) options.dictionary = sample_dictionary(seed);
    expect_table_of(shape, options, seed);
  }
}

TEST(TableBuilder, ManyRuns) {
  EntryShape shape;
  shape.count = 30'000;
  shape.version_chains = 500;
  TableOptions options;
  options.compression_level = 0;
  expect_table_of(shape, options, 77);
  const TableFile file = build_table(random_entries(77, shape), options);
  const TableReading reading(file);
  EXPECT_GE(reading.index().runs().size(), 3u);
  for (const RunEntry& run : reading.index().runs()) EXPECT_LE(run.block_count, kRunBlocksMax);
}

TEST(TableBuilder, LargeValuesAndLongKeys) {
  EntryShape shape;
  shape.count = 60;
  shape.long_keys = 3;
  shape.large_values = 8;
  expect_table_of(shape, {}, 5);
}

TEST(TableBuilder, VersionsOfOneKeyGoOnThroughBlocksAndRuns) {
  std::vector<OwnedEntry> entries;
  RandomValues random(6);
  const std::string value = random.bytes(900);
  entries.push_back({sample_key(1, 1, 1), 5, Kind::kPut, "before"});
  for (CommitVersion version = 2000; version > 0; --version) {
    entries.push_back({sample_key(1, 1, 2), 10 * version, Kind::kPut, value});
  }
  entries.push_back({sample_key(1, 1, 3), 5, Kind::kPut, "behind"});
  TableOptions options;
  options.compression_level = 0;
  const TableFile file = build_table(entries, options);
  TableReading reading(file);
  ASSERT_GE(reading.index().runs().size(), 2u);
  EXPECT_EQ(reading.index().runs()[1].smallest_key, entries[1].key);
  expect_verifies(file);
  expect_answers(file, entries, random);
  for (CommitVersion newest = 1; newest < 20'020; newest += 13) {
    const Result<std::optional<OwnedEntry>> found = reading.find(entries[1].key, newest);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(*found, newest_of(entries, entries[1].key, newest)) << newest;
  }
}

TEST(TableBuilder, BlocksAreOfAboutAPageAsStored) {
  EntryShape shape;
  shape.count = 20'000;
  const std::vector<OwnedEntry> entries = random_entries(8, shape);
  for (const int level : {0, 1, 3}) {
    TableOptions options;
    options.compression_level = level;
    const TableFile file = build_table(entries, options);
    const TableReading reading(file);
    const TableProperties& properties = reading.index().properties();
    const std::uint64_t average = properties.data_bytes / properties.block_count;
    EXPECT_GT(average, 3600u) << level;
    EXPECT_LT(average, 4300u) << level;
  }
}

class BlockPlaces final : public TableVisitor {
 public:
  void on_block(const BlockHandle& handle, const BlockFrame& frame) override {
    if (frame.type != BlockType::kData) return;
    ++blocks;
    bytes += handle.bytes;
    if (handle.offset / kSectorBytes == (handle.end() - 1) / kSectorBytes) ++in_one_sector;
    Result<std::string> content(std::string(frame.raw_bytes, '\0'));
    ASSERT_TRUE(read_block(frame, decompressor_, nullptr, *content).ok());
    unfilled_bytes += kBlockFrameBytes + (frame.compression == BlockCompression::kNone
                                              ? frame.raw_bytes
                                              : compressor_.compress(*content, false, content->size()).size());
  }

  std::uint64_t blocks = 0;
  std::uint64_t in_one_sector = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unfilled_bytes = 0;

 private:
  Decompressor decompressor_;
  Compressor compressor_ = *Compressor::make(1, "");
};

/// Returns entries of 300 bytes that compress to a half, like those of typical tables.
std::vector<OwnedEntry> ordinary_entries(std::size_t count) {
  RandomValues random(41);
  std::vector<OwnedEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    entries.push_back({sample_key(1, 1, i), 9, Kind::kPut, random.bytes(120) + std::string(140, 'x')});
  }
  return entries;
}

TEST(TableBuilder, BlocksThatAreCompressedLieInOneSectorAndTakeLittleMore) {
  const TableFile file = build_table(ordinary_entries(30'000));
  BlockPlaces places;
  ASSERT_TRUE(verify_table(file.name(), file.reader(), &places).ok());
  ASSERT_GT(places.blocks, 500u);
  EXPECT_GT(places.in_one_sector * 10, places.blocks * 8) << places.in_one_sector << " of " << places.blocks;
  EXPECT_LT(places.bytes * 100, places.unfilled_bytes * 104) << places.bytes << " of " << places.unfilled_bytes;
}

TEST(TableBuilder, BlocksThatAreNotCompressedTakeNoByteMore) {
  TableOptions options;
  options.compression_level = 0;
  const TableFile file = build_table(ordinary_entries(3000), options);
  BlockPlaces places;
  ASSERT_TRUE(verify_table(file.name(), file.reader(), &places).ok());
  ASSERT_GT(places.blocks, 100u);
  EXPECT_EQ(places.bytes, places.unfilled_bytes);
}

/// So that the blocks of a copy are aligned as in the original.
TEST(TableBuilder, LongRunsBeginAtOnePlaceInASector) {
  const TableFile file = build_table(ordinary_entries(60'000));
  const TableReading reading(file);
  ASSERT_GE(reading.index().runs().size(), 4u);
  for (const RunEntry& run : reading.index().runs()) EXPECT_EQ(run.offset % kSectorBytes, kFileHeaderBytes);
}

TEST(TableBuilder, AWellCompressedBlockStaysSmallDecompressed) {
  std::vector<OwnedEntry> entries;
  for (std::uint64_t i = 0; i < 3000; ++i)
    entries.push_back({sample_key(1, 1, i), 9, Kind::kPut, std::string(500, 'x')});
  const TableFile file = build_table(entries);
  const TableProperties properties = TableReading(file).index().properties();
  EXPECT_LT(properties.raw_bytes / properties.block_count, kDataBlockRawBytesTarget);
  EXPECT_GT(properties.raw_bytes / properties.block_count, kDataBlockRawBytesTarget / 2);
}

TEST(TableBuilder, DictionaryStandsInTheFileOnlyIfABlockNeedsIt) {
  EntryShape shape;
  shape.count = 300;
  TableOptions options;
  options.dictionary = sample_dictionary(1);
  const TableFile with = build_table(random_entries(9, shape), options);
  const TableReading reading(with);
  ASSERT_EQ(reading.index().properties().dictionaries.size(), 1u);
  EXPECT_EQ(reading.index().properties().dictionaries[0].content_hash, content_hash(options.dictionary));
  EXPECT_EQ(reading.index().runs()[0].dictionary_hash, content_hash(options.dictionary));

  const TableFile without = build_table({{sample_key(1, 1, 1), 9, Kind::kPut, "v"}}, options);
  EXPECT_TRUE(TableReading(without).index().properties().dictionaries.empty());
  expect_verifies(without);
}

TEST(TableBuilder, TheSameEntriesGiveTheSameBytesHoweverTheyAreTaken) {
  EntryShape shape;
  shape.count = 5000;
  const std::vector<OwnedEntry> entries = random_entries(10, shape);
  const TableFile whole = build_table(entries);
  const auto builder = *TableBuilder::make(kSampleNumber, kSampleSeed, {});
  std::string taken;
  for (const OwnedEntry& entry : entries) {
    ASSERT_TRUE(builder->add(entry.view()).ok());
    taken += builder->pending();
    builder->discard_pending();
  }
  const Result<TableFileEntry> finished = builder->finish();
  ASSERT_TRUE(finished.ok());
  taken += builder->pending();
  EXPECT_EQ(taken, whole.bytes);
  EXPECT_EQ(*finished, whole.entry);
}

TEST(TableBuilder, EstimateFollowsTheSize) {
  EntryShape shape;
  shape.count = 20'000;
  const std::vector<OwnedEntry> entries = random_entries(11, shape);
  const auto builder = *TableBuilder::make(kSampleNumber, kSampleSeed, {});
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSERT_TRUE(builder->add(entries[i].view()).ok());
    if (i % 2000 != 1999) continue;
    const std::uint64_t estimated = builder->estimated_bytes();
    EXPECT_GT(estimated, last);
    last = estimated;
    const std::uint64_t real =
        build_table({entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i) + 1}).bytes.size();
    EXPECT_LT(estimated, real + real / 20 + 8192);
    EXPECT_GT(estimated + 8192 + real / 20, real);
  }
}

TEST(TableBuilder, DirectoryTellsWhatAFileHoldsOfEachTable) {
  std::vector<OwnedEntry> entries;
  for (TableId table = 1; table <= 3; ++table) {
    for (std::uint64_t row = 0; row < 200 * (table - 1) + 2; ++row) {
      const Kind kind = row == 0 ? Kind::kDelete : Kind::kPut;
      entries.push_back({sample_key(table, 1, row), 7, kind, kind == Kind::kPut ? sample_value(row) : ""});
    }
  }
  const TableFile file = build_table(entries);
  const TableReading reading(file);
  const BlockHandle& handle = reading.index().footer().directory;
  Decompressor decompressor;
  const Result<std::string> content =
      decode_block(std::string_view(file.bytes).substr(handle.offset, handle.bytes), {kSampleSeed, handle.offset},
                   BlockType::kTableDirectory, decompressor, nullptr);
  ASSERT_TRUE(content.ok());
  const Result<std::vector<DirectoryEntry>> tables = decode_directory(*content);
  ASSERT_TRUE(tables.ok());
  ASSERT_EQ(tables->size(), 3u);
  std::uint64_t bytes = 0;
  for (const DirectoryEntry& table : *tables) {
    EXPECT_EQ(table.entry_count, 200 * (table.table - 1) + 2);
    EXPECT_EQ(table.tombstone_count, 1u);
    bytes += table.bytes;
  }
  EXPECT_EQ((*tables)[0].offset, 64u);
  EXPECT_EQ((*tables)[1].offset, 64u) << "it begins in the first block";
  EXPECT_GT((*tables)[2].offset, 64u);
  EXPECT_GE((*tables)[0].bytes + (*tables)[1].bytes, (*tables)[2].offset - 64);
  EXPECT_EQ(bytes, reading.index().properties().data_bytes);
}

TEST(TableBuilder, RefusesOptionsThatAreNone) {
  TableOptions options;
  for (const int level : {kCompressionLevelMin - 1, kCompressionLevelMax + 1}) {
    options.compression_level = level;
    EXPECT_EQ(TableBuilder::make(1, 1, options).code(), Code::kInvalidArgument);
  }
  options.compression_level = 1;
  for (const double bits : {0.0, 0.9, 32.1}) {
    options.filter.bits_per_key = bits;
    EXPECT_EQ(TableBuilder::make(1, 1, options).code(), Code::kInvalidArgument) << bits;
  }
  options.filter.kind = FilterKind::kBinaryFuse;
  EXPECT_TRUE(TableBuilder::make(1, 1, options).ok());
  options.dictionary = "not a dictionary";
  EXPECT_EQ(TableBuilder::make(1, 1, options).code(), Code::kInvalidArgument);
}

TEST(TableBuilder, RefusesAnEntryOverTheLimit) {
  const std::string key = sample_key(1, 1, 1);
  const std::string value(kTableEntryBytesMax - key.size(), 'x');
  const auto builder = *TableBuilder::make(1, 1, {});
  EXPECT_TRUE(builder->add({key, 7, Kind::kPut, value}).ok());
  const std::string other = sample_key(1, 1, 2);
  EXPECT_EQ(builder->add({other, 7, Kind::kPut, value + "x"}).code(), Code::kTooLarge);
}

TEST(TableBuilder, SeparatorsDivide) {
  const std::vector<std::string> keys = {"a",
                                         "aa",
                                         "ab",
                                         "abc",
                                         "abd",
                                         "abz",
                                         "b",
                                         "c",
                                         std::string("c\0", 2),
                                         "cc",
                                         std::string("\xff"),
                                         std::string("\xff\xff"),
                                         "d"};
  for (const std::string& last : keys) {
    EXPECT_EQ(separator_between(last, last), last);
    for (const std::string& next : keys) {
      if (!(last < next)) continue;
      const std::string separator = separator_between(last, next);
      EXPECT_GE(separator, last);
      EXPECT_LT(separator, next);
      EXPECT_LE(separator.size(), std::max(last.size(), next.size()));
    }
  }
  EXPECT_EQ(separator_between("abcdef", "abx"), "abd");
  EXPECT_EQ(separator_between("abcdef", "abdefg"), "abd");
  EXPECT_EQ(separator_between("abcdef", "abd"), "abcdef");
}

}  // namespace
}  // namespace varve::format::table_builder_test
