// Owns: the proof that deep verification finds statistics that exclude a put, and that copied runs keep their
// statistics.
// Must never: change a byte without correcting the checksum. Other tests cover wrong checksums.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/block/block.h"
#include "format/block/sorted_block_builder.h"
#include "format/bytes/bytes.h"
#include "format/table/index_cursor.h"
#include "format/table/run_copy.h"
#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "tests/format/keys/property_sample.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::statistics_verify_test {
namespace {

constexpr std::uint64_t kPlaceOfCopy = 0x4242;

/// Returns options without compression, so that changed content keeps its size.
TableOptions plainly() {
  TableOptions options;
  options.compression_level = 0;
  return options;
}

/// Returns an entity with two properties that ascend with the row, and one that does not.
std::string put_of_row(std::size_t row, RandomValues& random) {
  const auto number = static_cast<std::int32_t>(row);
  return entity_of({{"a", sample_int32(number)},
                    {"b", sample_int32(2 * number)},
                    {"c", sample_string("cut behind sixteen bytes")},
                    {"d", {PropertyType::kBinary, random.bytes(100)}}});
}

TableFile told_table(const TableOptions& options = plainly()) {
  RandomValues random(12);
  std::vector<OwnedEntry> entries;
  for (std::size_t row = 0; row < 2000; ++row) {
    entries.push_back({sample_key(5, 3, row), 1000, Kind::kPut, put_of_row(row, random)});
  }
  return build_table(entries, options);
}

/// Returns a table with one key whose versions fill many blocks, and further keys. No property ascends with the row.
TableFile table_of_one_keys_versions() {
  std::vector<OwnedEntry> entries;
  RandomValues random(13);
  const auto put = [&random] {
    return entity_of({{"n", sample_int64(static_cast<std::int64_t>(random.below(1'000'000)))},
                      {"d", {PropertyType::kBinary, random.bytes(900)}}});
  };
  for (CommitVersion version = 300; version > 100; --version) {
    entries.push_back({sample_key(5, 3, 0), version, Kind::kPut, put()});
  }
  for (std::uint64_t row = 1; row < 200; ++row) entries.push_back({sample_key(5, 3, row), 50, Kind::kPut, put()});
  return build_table(entries, plainly());
}

std::string content_of(const TableFile& file, const BlockHandle& handle, BlockType type) {
  Decompressor decompressor;
  return *decode_block(std::string_view(file.bytes).substr(handle.offset, handle.bytes),
                       {file.entry.seed, handle.offset}, type, decompressor, nullptr);
}

/// Returns the file with other content in a block. Ends the test if the size differs.
TableFile with_content(TableFile file, const BlockHandle& handle, BlockType type, const std::string& content) {
  std::string block;
  append_block(block, type, content, nullptr, DictionaryUse::kNever, {file.entry.seed, handle.offset});
  EXPECT_EQ(block.size(), handle.bytes);
  file.bytes.replace(handle.offset, handle.bytes, block);
  return file;
}

struct IndexRow {
  std::string separator;
  BlockEntry entry;
  std::string statistics;
};

std::vector<IndexRow> index_rows(const std::string& content, const RunEntry& run) {
  std::vector<IndexRow> rows;
  IndexCursor index;
  EXPECT_TRUE(index.open(content, run).ok());
  for (index.seek_to_first(); index.valid(); index.next()) {
    rows.push_back({std::string(index.separator()), index.entry(), std::string(index.entry().statistics)});
  }
  EXPECT_EQ(rows.size(), run.block_count);
  return rows;
}

RunEntry first_run(const TableFile& file) {
  return TableReading(file).index().runs()[0];
}

std::vector<IndexRow> index_rows(const TableFile& file) {
  const RunEntry run = first_run(file);
  return index_rows(content_of(file, run.index(), BlockType::kIndexPartition), run);
}

/// Returns the file with other rows in the index of its first run. Their total size is unchanged.
TableFile with_index(const TableFile& file, const std::function<void(std::vector<IndexRow>&)>& change) {
  const RunEntry run = first_run(file);
  std::vector<IndexRow> rows = index_rows(file);
  change(rows);
  SortedBlockBuilder block(4, Buckets::kNone);
  std::string value;
  for (IndexRow& row : rows) {
    row.entry.statistics = row.statistics;
    row.entry.unknown_fields = {};
    value.clear();
    append_block_entry(value, row.entry, run.smallest_version);
    block.add({row.separator, value, {}});
  }
  return with_content(file, run.index(), BlockType::kIndexPartition, std::string(block.finish(run.smallest_version)));
}

/// Returns the file with other statistics of its first run. Their size is unchanged.
TableFile with_run_statistics(const TableFile& file, const std::function<void(std::string&)>& change) {
  const BlockHandle handle = TableReading(file).index().footer().top_index;
  std::string content = content_of(file, handle, BlockType::kTopIndex);
  std::string statistics = first_run(file).statistics;
  const std::size_t at = content.find(statistics);
  EXPECT_NE(at, std::string::npos);
  const std::size_t bytes = statistics.size();
  change(statistics);
  content.replace(at, bytes, statistics);
  return with_content(file, handle, BlockType::kTopIndex, content);
}

Status verified(const TableFile& file) {
  return verify_table(file.name(), file.reader(), nullptr).status();
}

void expect_found(const TableFile& file, std::string_view what) {
  const Status status = verified(file);
  EXPECT_EQ(status.code(), Code::kCorruption) << status.to_string();
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_string();
}

TEST(StatisticsVerify, TrueOnesAreFoundTrue) {
  const TableFile file = told_table();
  EXPECT_TRUE(verified(file).ok()) << verified(file).to_string();
  const TableFile same = with_index(file, [](std::vector<IndexRow>&) {});
  EXPECT_EQ(same.bytes, file.bytes) << "what the other tests change is what stands there";
  std::vector<std::string> in_blocks;
  const std::string of_run = first_run(file).statistics;
  for (RunStatistics told(of_run); !told.at_end();) {
    const Result<NamedRange> named = told.next();
    ASSERT_TRUE(named.ok());
    if (named->is_in_blocks) in_blocks.emplace_back(named->name);
  }
  EXPECT_EQ(in_blocks, (std::vector<std::string>{"a", "b"}));
}

/// Moves each end of each number inward by one, in turn.
TEST(StatisticsVerify, ARangeOfABlockThatDeniesAPutIsFound) {
  const TableFile file = told_table();
  const std::size_t blocks = index_rows(file).size();
  ASSERT_GE(blocks, 10u);
  for (const std::size_t block : {std::size_t{0}, blocks / 2, blocks - 1}) {
    for (const std::size_t property : {std::size_t{0}, std::size_t{1}}) {
      for (const bool of_largest : {false, true}) {
        const TableFile lie = with_index(file, [&](std::vector<IndexRow>& rows) {
          char* const end = rows[block].statistics.data() + property * 9 + (of_largest ? 5 : 1);
          const std::uint32_t number = load_u32(end);
          store_u32(end, of_largest ? number - 1 : number + 1);
        });
        expect_found(lie, "an entity has a value that they exclude");
      }
    }
  }
}

TEST(StatisticsVerify, AWiderRangeIsNoLie) {
  const TableFile wider = with_index(told_table(), [](std::vector<IndexRow>& rows) {
    for (IndexRow& row : rows) store_u32(row.statistics.data() + 5, 1'000'000);
  });
  EXPECT_TRUE(verified(wider).ok()) << verified(wider).to_string();
}

TEST(StatisticsVerify, AnotherTypeOfABlocksRangeIsFound) {
  const TableFile lie = with_index(told_table(), [](std::vector<IndexRow>& rows) {
    std::string& statistics = rows[3].statistics;
    statistics = std::string("\x20\x20", 2) + statistics.substr(9) + std::string(7, '\0');
  });
  EXPECT_EQ(verified(lie).code(), Code::kCorruption);
}

TEST(StatisticsVerify, ARangeOfTheRunThatDeniesAPutIsFound) {
  const TableFile file = told_table();
  const std::string statistics = first_run(file).statistics;
  // The fields: 1, the size of the name, the name, the type, the smallest, the largest; then the next range.
  for (const std::size_t at : {std::size_t{0}, std::size_t{12}}) {
    ASSERT_EQ(statistics[at + 3], '\6');
    expect_found(with_run_statistics(file, [at](std::string& told) { store_u32(told.data() + at + 4, 1); }),
                 "an entity has a value that they exclude");
    expect_found(with_run_statistics(file, [at](std::string& told) { store_u32(told.data() + at + 8, 1998); }),
                 "an entity has a value that they exclude");
  }
  const TableFile uncut = with_run_statistics(file, [](std::string& told) {
    const std::size_t at = told.find('\x18');
    ASSERT_NE(at, std::string::npos);
    told[at] = '\x08';
  });
  expect_found(uncut, "an entity has a value that they exclude");
}

TEST(StatisticsVerify, ARangeOfTheRunThatIsNoneIsFound) {
  const TableFile lie = with_run_statistics(told_table(), [](std::string& told) { told[3] = '\5'; });
  expect_found(lie, "a range has an impossible type");
}

TEST(StatisticsVerify, MoreRangesThanNamesAreFound) {
  const TableFile lie = with_index(told_table(), [](std::vector<IndexRow>& rows) {
    rows[2].statistics.replace(9, 9, std::string(9, '\0'));  // nine ranges without values
  });
  expect_found(lie, "more ranges than the run names properties");
}

TEST(StatisticsVerify, FewerRangesThanNamesAreFound) {
  const TableFile lie = with_index(told_table(), [](std::vector<IndexRow>& rows) {
    std::string one(1, '\x08');
    append_sized(one, std::string(8, '\0'));
    append_sized(one, std::string(7, 'z'));
    ASSERT_EQ(one.size(), rows[2].statistics.size());
    rows[2].statistics = one;
  });
  expect_found(lie, "a range is cut short");
}

TEST(StatisticsVerify, WhatIsToldOfABlockWhoseLastKeyGoesOnIsFound) {
  const TableFile file = table_of_one_keys_versions();
  ASSERT_TRUE(verified(file).ok()) << verified(file).to_string();
  const std::vector<IndexRow> rows = index_rows(file);
  ASSERT_FALSE(rows.front().entry.has_statistics);
  ASSERT_TRUE(rows.back().entry.has_statistics);
  ASSERT_TRUE(rows.back().statistics.empty()) << "nothing in it, so that it moves without another size";
  const TableFile lie = with_index(file, [](std::vector<IndexRow>& changed) {
    std::swap(changed.front().entry.has_statistics, changed.back().entry.has_statistics);
  });
  expect_found(lie, "continues a key of the previous block, which the index partition excludes");
}

// -- Copies -----------------------------------------------------------------------------------------------------------

TEST(StatisticsCopy, ARunCopiedWholeKeepsThem) {
  for (const TableOptions& options : {plainly(), TableOptions()}) {
    const TableFile original = told_table(options);
    const RunEntry run = first_run(original);
    ASSERT_FALSE(run.statistics.empty());
    const auto builder = *TableBuilder::make(61, kPlaceOfCopy, plainly());
    ASSERT_TRUE(builder->add({sample_key(5, 1, 0), 1000, Kind::kPut, entity_of({})}).ok());
    Decompressor decompressor;
    RunSource source;
    source.run = &run;
    source.file_seed = original.entry.seed;
    source.bytes = std::string_view(original.bytes).substr(run.offset, run.bytes());
    ASSERT_FALSE(run.dictionary_hash.has_value());
    ASSERT_TRUE(builder->append_run(source, decompressor).ok());
    const TableFile copy = finish_table(*builder);
    EXPECT_TRUE(verified(copy).ok()) << verified(copy).to_string();

    const std::vector<RunEntry> runs = TableReading(copy).index().runs();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[1].statistics, run.statistics);
    const std::vector<IndexRow> before = index_rows(original);
    const std::vector<IndexRow> after =
        index_rows(content_of(copy, runs[1].index(), BlockType::kIndexPartition), runs[1]);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(after[i].entry.has_statistics);
      EXPECT_EQ(after[i].statistics, before[i].statistics);
      EXPECT_EQ(after[i].statistics.size(), 18u);
    }
  }
}

}  // namespace
}  // namespace varve::format::statistics_verify_test
