// Owns: the tests of copying runs: the copy gives the answers of the original, and damage is not copied.
// Must never: decompress blocks that the copy need not decompress.
#include "format/table/run_copy.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/checksum.h"
#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::run_copy_test {
namespace {

constexpr std::uint64_t kOtherSeed = 0x99aabbccddeeff00;

/// Returns entries of one table, enough for several runs.
std::vector<OwnedEntry> entries_of(TableId table, std::uint64_t first_row, std::size_t count) {
  std::vector<OwnedEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const Kind kind = i % 50 == 7 ? Kind::kDelete : Kind::kPut;
    entries.push_back({sample_key(table, 3, first_row + i), 1'000'000 + i * 3 % 1000, kind,
                       kind == Kind::kPut ? sample_value(i) : ""});
  }
  return entries;
}

RunSource source_of(const TableFile& file, const RunEntry& run, const std::string& dictionary) {
  RunSource source;
  source.run = &run;
  source.file_seed = file.entry.seed;
  source.bytes = std::string_view(file.bytes).substr(run.offset, run.bytes());
  if (run.dictionary_hash.has_value()) source.dictionary = dictionary;
  return source;
}

TableOptions uncompressed() {
  TableOptions options;
  options.compression_level = 0;
  return options;
}

TEST(RunCopy, CopiedRunsAnswerAsTheOriginal) {
  const std::vector<OwnedEntry> entries = entries_of(5, 0, 50'000);
  for (const bool with_dictionary : {false, true}) {
    TableOptions options;
    if (with_dictionary) options.dictionary = sample_dictionary(1);
    const TableFile original = build_table(entries, options);
    const TableReading reading(original);
    ASSERT_GE(reading.index().runs().size(), 2u);

    const auto builder = *TableBuilder::make(61, kOtherSeed, uncompressed());
    Decompressor decompressor;
    for (const RunEntry& run : reading.index().runs()) {
      ASSERT_TRUE(builder->can_append(run));
      const Status appended = builder->append_run(source_of(original, run, options.dictionary), decompressor).status();
      ASSERT_TRUE(appended.ok()) << appended.to_string();
      EXPECT_FALSE(builder->can_append(run)) << "its keys are there";
    }
    const TableFile copy = finish_table(*builder);
    const Result<TableFileEntry> verified = verify_table(copy.name(), copy.reader(), nullptr);
    ASSERT_TRUE(verified.ok()) << verified.status().to_string();
    EXPECT_EQ(*verified, copy.entry);
    EXPECT_EQ(*TableReading(copy).scan("", kCommitVersionMax), entries);
    EXPECT_EQ(TableReading(copy).index().properties().dictionaries.size(), with_dictionary ? 1u : 0u);

    TableFileEntry expected = original.entry;
    expected.number = 61;
    expected.seed = kOtherSeed;
    expected.size_bytes = copy.bytes.size();
    expected.content_hash = content_hash(copy.bytes);
    EXPECT_EQ(copy.entry, expected);
  }
}

TEST(RunCopy, StandsBetweenEntriesThatWereAdded) {
  const std::vector<OwnedEntry> first = entries_of(5, 0, 100);
  const std::vector<OwnedEntry> middle = entries_of(5, 1000, 300);
  const std::vector<OwnedEntry> last = entries_of(5, 2000, 100);
  TableOptions options;
  options.dictionary = sample_dictionary(1);
  const TableFile original = build_table(middle, options);
  const TableReading reading(original);
  const RunEntry& run = reading.index().runs()[0];

  TableOptions other;
  other.dictionary = sample_dictionary(2);
  const auto builder = *TableBuilder::make(61, kOtherSeed, other);
  Decompressor decompressor;
  for (const OwnedEntry& entry : first) ASSERT_TRUE(builder->add(entry.view()).ok());
  ASSERT_TRUE(builder->append_run(source_of(original, run, options.dictionary), decompressor).ok());
  for (const OwnedEntry& entry : last) ASSERT_TRUE(builder->add(entry.view()).ok());
  const TableFile file = finish_table(*builder);
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(*verified, file.entry);
  std::vector<OwnedEntry> all = first;
  all.insert(all.end(), middle.begin(), middle.end());
  all.insert(all.end(), last.begin(), last.end());
  EXPECT_EQ(*TableReading(file).scan("", kCommitVersionMax), all);
  EXPECT_EQ(TableReading(file).index().runs().size(), 3u);
  EXPECT_EQ(TableReading(file).index().properties().dictionaries.size(), 2u);
}

TEST(RunCopy, ARunOfTwoTablesIsNotTaken) {
  std::vector<OwnedEntry> entries = entries_of(5, 0, 10);
  const std::vector<OwnedEntry> more = entries_of(6, 0, 10);
  entries.insert(entries.end(), more.begin(), more.end());
  const TableFile file = build_table(entries);
  const auto builder = *TableBuilder::make(61, kOtherSeed, {});
  EXPECT_FALSE(builder->can_append(TableReading(file).index().runs()[0]));
}

TEST(RunCopy, EveryFlippedByteIsFound) {
  TableOptions options;
  options.dictionary = sample_dictionary(1);
  const TableFile file = build_table(entries_of(5, 0, 100), options);
  const TableReading reading(file);
  const RunEntry& run = reading.index().runs()[0];
  std::string bytes = file.bytes.substr(run.offset, run.bytes());
  RunSource source = source_of(file, run, options.dictionary);
  source.bytes = bytes;
  Decompressor decompressor;
  ASSERT_TRUE(copy_run(source, {kOtherSeed, 64}, decompressor).ok());
  for (char& byte : bytes) {
    byte = static_cast<char>(byte ^ 0x10);
    ASSERT_EQ(copy_run(source, {kOtherSeed, 64}, decompressor).code(), Code::kCorruption);
    byte = static_cast<char>(byte ^ 0x10);
  }
}

TEST(RunCopy, WhatContradictsTheTopIndexIsRefused) {
  const TableFile file = build_table(entries_of(5, 0, 300));
  const RunEntry run = TableReading(file).index().runs()[0];
  Decompressor decompressor;
  const auto code_with = [&](auto change) {
    RunEntry changed = run;
    change(changed);
    RunSource source = source_of(file, run, "");
    source.run = &changed;
    return copy_run(source, {kOtherSeed, 64}, decompressor).code();
  };
  EXPECT_EQ(code_with([](RunEntry&) {}), Code::kOk);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.block_count; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.entry_count; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.raw_bytes; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.smallest_version; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { entry.largest_key.push_back('x'); }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.data_bytes; }), Code::kInvalidArgument);
  EXPECT_EQ(code_with([](RunEntry& entry) { ++entry.data_bytes, --entry.filter_bytes; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { --entry.data_bytes, ++entry.filter_bytes; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& entry) { entry.dictionary_hash = 5; }), Code::kInvalidArgument);
}

TEST(RunCopy, AnotherDictionaryIsRefused) {
  TableOptions options;
  options.dictionary = sample_dictionary(1);
  const TableFile file = build_table(entries_of(5, 0, 100), options);
  const RunEntry run = TableReading(file).index().runs()[0];
  RunSource source = source_of(file, run, options.dictionary);
  Decompressor decompressor;
  const std::string other = sample_dictionary(2);
  source.dictionary = other;
  EXPECT_EQ(copy_run(source, {kOtherSeed, 64}, decompressor).code(), Code::kInvalidArgument);
  source.dictionary = {};
  EXPECT_EQ(copy_run(source, {kOtherSeed, 64}, decompressor).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace varve::format::run_copy_test
