// Owns: the tests of separately built runs: the file to which they are appended verifies. Their entries are found and
// scanned like those of a file that was built entry by entry.
// Must never: compare the file with itself. Every expected answer comes from the entries.
#include "format/table/run_maker.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::run_maker_test {
namespace {

std::vector<OwnedEntry> ascending_puts(std::size_t count, std::size_t value_bytes) {
  std::vector<OwnedEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string row = std::to_string(1'000'000 + i);
    std::string value;
    while (value.size() < value_bytes) value += std::to_string(i * 7919 + value.size() * 104'729) + " of " + row + ";";
    entries.push_back({*encode_sort_key(make_table_id(1, 2), "p", row), 9, Kind::kPut, std::move(value)});
  }
  return entries;
}

void take_pending(TableFile& file, TableBuilder& builder) {
  file.bytes += builder.pending();
  builder.discard_pending();
}

/// Builds every third piece entry by entry, and the others with two makers in turn.
TableFile build_by_pieces(const std::vector<OwnedEntry>& entries, std::size_t piece, const TableOptions& options) {
  const auto builder = *TableBuilder::make(kSampleNumber, kSampleSeed, options);
  const std::vector<std::unique_ptr<RunMaker>> makers = [&] {
    std::vector<std::unique_ptr<RunMaker>> made;
    for (int i = 0; i < 2; ++i) made.push_back(*RunMaker::make(options));
    return made;
  }();
  TableFile file;
  for (std::size_t first = 0, n = 0; first < entries.size(); first += piece, ++n) {
    const std::size_t end = std::min(entries.size(), first + piece);
    if (n % 3 == 0) {
      for (std::size_t i = first; i < end; ++i) EXPECT_TRUE(builder->add(entries[i].view()).ok());
      continue;
    }
    RunMaker& maker = *makers[n % 3 - 1];
    for (std::size_t i = first; i < end; ++i) EXPECT_TRUE(maker.add(entries[i].view()).ok());
    maker.finish();
    for (const MadeRun& run : maker.runs()) {
      const std::string_view bytes = builder->append_made(maker, run);
      take_pending(file, *builder);
      file.bytes += bytes;
    }
    maker.clear();
  }
  file.entry = *builder->finish();
  take_pending(file, *builder);
  return file;
}

void expect_holds(const TableFile& file, const std::vector<OwnedEntry>& entries) {
  EXPECT_EQ(file.entry.entry_count, entries.size());
  EXPECT_EQ(file.entry.smallest_key, entries.front().key);
  EXPECT_EQ(file.entry.largest_key, entries.back().key);
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(*verified, file.entry);
  TableReading reading(file);
  const Result<std::vector<OwnedEntry>> all = reading.scan("", kCommitVersionMax);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  ASSERT_EQ(*all, entries);
  for (std::size_t i = 0; i < entries.size(); i += 37) {
    const Result<std::optional<OwnedEntry>> found = reading.find(entries[i].key, entries[i].version);
    ASSERT_TRUE(found.ok() && found->has_value()) << i;
    ASSERT_EQ(**found, entries[i]);
  }
}

TEST(RunMaker, RunsMadeApartAreThoseOfTheFileTheyComeTo) {
  for (const bool compressed : {false, true}) {
    for (const std::size_t piece : {1U, 40U, 900U, 9'000U}) {
      SCOPED_TRACE(std::to_string(piece) + (compressed ? " compressed" : ""));
      const std::vector<OwnedEntry> entries = ascending_puts(piece == 1 ? 40 : 10'000, 220);
      TableOptions options;
      options.compression_level = compressed ? 1 : 0;
      options.filter.kind = compressed ? FilterKind::kBinaryFuse : FilterKind::kBlockedBloom;
      expect_holds(build_by_pieces(entries, piece, options), entries);
    }
  }
}

/// Tables of one entry and of many, deletes, and keys with so many versions that a piece or a run ends among them.
TEST(RunMaker, RunsHaveEntriesOfAnyKindAndOfSeveralTables) {
  for (const std::size_t piece : {1U, 7U, 300U, 5'000U}) {
    SCOPED_TRACE("pieces of " + std::to_string(piece));
    RandomValues random(piece);
    std::vector<OwnedEntry> entries;
    for (std::uint32_t table = 1; table <= 6; ++table) {
      const std::uint64_t keys = table % 2 == 0 ? 1 : 1 + random.below(piece == 1 ? 20 : 400);
      for (std::uint64_t key = 0; key < keys; ++key) {
        for (CommitVersion version = random.below(9) == 0 ? 60 : 1; version > 0; --version) {
          const bool is_delete = random.below(3) == 0;
          entries.push_back({sample_key(table, 1, key), version, is_delete ? Kind::kDelete : Kind::kPut,
                             is_delete ? std::string() : random.bytes(100)});
        }
      }
    }
    expect_holds(build_by_pieces(entries, piece, TableOptions()), entries);
  }
}

TEST(RunMaker, EqualEntriesGiveEqualRunsWhateverTheMakerMadeBefore) {
  const std::vector<OwnedEntry> entries = ascending_puts(3'000, 220);
  std::vector<std::string> made;
  for (const std::uint64_t before : {0U, 500U, 20'000U}) {
    const auto maker = *RunMaker::make({});
    for (std::uint64_t i = 0; i < before; ++i) ASSERT_TRUE(maker->add({sample_key(1, 1, i), 9, Kind::kPut, "v"}).ok());
    if (before > 0) maker->finish();
    maker->clear();
    maker->expect(300);
    for (const OwnedEntry& entry : entries) ASSERT_TRUE(maker->add(entry.view()).ok());
    maker->finish();
    std::string bytes;
    for (const MadeRun& run : maker->runs()) bytes += maker->stamp(run, {kSampleSeed, kFileHeaderBytes});
    made.push_back(std::move(bytes));
  }
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0], made[2]);
}

TEST(RunMaker, APieceThatFillsMoreThanARunBecomesSeveral) {
  TableOptions options;
  options.compression_level = 0;
  const std::vector<OwnedEntry> entries = ascending_puts(10'000, 220);
  const auto maker = *RunMaker::make(options);
  for (const OwnedEntry& entry : entries) ASSERT_TRUE(maker->add(entry.view()).ok());
  maker->finish();
  ASSERT_GE(maker->runs().size(), 3U);
  for (const MadeRun& run : maker->runs()) {
    EXPECT_LE(run.entry.block_count, kRunBlocksMax);
    EXPECT_EQ(run.blocks.size(), run.entry.block_count + 2) << "the filter and the index are blocks too";
  }
}

/// Otherwise each of their blocks would extend over two sectors in the new file.
TEST(RunMaker, LongRunsBeginInTheSectorWhereThoseOfAFileDo) {
  RandomValues random(43);
  const auto maker = *RunMaker::make({});
  for (int piece = 0; piece < 2; ++piece) {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const std::string value = random.bytes(120) + std::string(120, 'x');
      ASSERT_TRUE(maker->add({sample_key(1, 1, i), 9, Kind::kPut, value}).ok());
    }
    maker->finish();
    ASSERT_GE(maker->runs().size(), 2U);
    for (const MadeRun& run : maker->runs()) EXPECT_EQ(run.entry.offset % kSectorBytes, kFileHeaderBytes);
    maker->clear();
  }
}

TEST(RunMaker, BlocksAreMadeWithTheDictionaryThatTheFileHas) {
  const std::vector<OwnedEntry> entries = ascending_puts(6'000, 220);
  std::vector<std::string> samples;
  for (std::size_t i = 0; i + 10 < 3'000; i += 10) {
    std::string sample;
    for (std::size_t k = 0; k < 10; ++k) sample += entries[i + k].value;
    samples.push_back(std::move(sample));
  }
  TableOptions options;
  const Result<std::string> dictionary = train_dictionary(samples, 8 << 10);
  ASSERT_TRUE(dictionary.ok()) << dictionary.status().to_string();
  options.dictionary = *dictionary;
  const TableFile file = build_by_pieces(entries, 900, options);
  expect_holds(file, entries);
  const TableReading reading(file);
  ASSERT_EQ(reading.index().properties().dictionaries.size(), 1U);
  for (const RunEntry& run : reading.index().runs()) EXPECT_TRUE(run.dictionary_hash.has_value());
}

TEST(RunMaker, RefusesWhatNoTableHoldsAndOptionsThatCannotBe) {
  const auto maker = *RunMaker::make({});
  const std::string key = *encode_sort_key(make_table_id(1, 2), "p", "r");
  const std::string value(kTableEntryBytesMax, 'v');
  EXPECT_EQ(maker->add({key, 1, Kind::kPut, value}).code(), Code::kTooLarge);
  EXPECT_TRUE(maker->add({key, 1, Kind::kPut, "v"}).ok());
  TableOptions options;
  options.compression_level = kCompressionLevelMax + 1;
  EXPECT_EQ(RunMaker::make(options).code(), Code::kInvalidArgument);
  options.compression_level = 1;
  options.dictionary = "none";
  EXPECT_EQ(RunMaker::make(options).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace varve::format::run_maker_test
