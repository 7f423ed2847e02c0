// Owns: the tests of learned dictionaries: when one is learned, what it saves, and that files made with it give the
// same answers.
// Must never: expect exact sizes, which depend on zstd.
#include "format/block/dictionary_learner.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::dictionary_learner_test {
namespace {

constexpr int kLevel = 1;

std::string block_of_sample_values(std::uint64_t block) {
  std::string content;
  for (std::uint64_t i = 0; i < 40; ++i) content += sample_value(block * 1000 + i);
  return content;
}

/// Returns a value of words that all values share. Each word is so rare that one block helps little with the next.
std::string value_of_words(std::uint64_t number) {
  constexpr std::uint64_t kWords = 1500;
  RandomValues random(number);
  std::string value;
  for (int i = 0; i < 12; ++i) value += RandomValues(random.below(kWords)).bytes(10);
  return value;
}

template <typename Block>
DictionaryLearner learner_of(std::uint64_t blocks, Block block) {
  DictionaryLearner learner(kLevel);
  for (std::uint64_t i = 0; i < blocks; ++i) learner.take(block(i));
  return learner;
}

TEST(DictionaryLearner, LearnsWhatBlocksHaveInCommon) {
  const auto learned = learner_of(128, block_of_sample_values).learn();
  ASSERT_TRUE(learned.has_value());
  Compressor plain = *Compressor::make(kLevel, {});
  Compressor with = *Compressor::make(kLevel, learned->dictionary);
  const std::string unseen = block_of_sample_values(100'000);
  const std::size_t bytes_plain = plain.compress(unseen, false, unseen.size()).size();
  const std::size_t bytes_with = with.compress(unseen, true, unseen.size()).size();
  ASSERT_GT(bytes_with, 0u);
  EXPECT_LT(bytes_with, bytes_plain);
}

TEST(DictionaryLearner, IsReadyWhenItHasSeenEnough) {
  EXPECT_FALSE(learner_of(127, block_of_sample_values).is_ready());
  EXPECT_TRUE(learner_of(128, block_of_sample_values).is_ready());
}

TEST(DictionaryLearner, LearnsNothingFromRandomBytes) {
  RandomValues random(7);
  EXPECT_FALSE(learner_of(200, [&](std::uint64_t) { return random.bytes(5000); }).learn().has_value());
}

TEST(DictionaryLearner, LearnsNothingWhereABlockSaysItAll) {
  RandomValues random(7);
  // Each block repeats its own content, and nothing of another block.
  const auto block = [&](std::uint64_t) {
    const std::string once = random.bytes(500);
    std::string content;
    for (int i = 0; i < 10; ++i) content += once;
    return content;
  };
  EXPECT_FALSE(learner_of(200, block).learn().has_value());
}

TEST(DictionaryLearner, EmptyBlocksTeachNothing) {
  EXPECT_FALSE(learner_of(200, [](std::uint64_t) { return std::string(); }).learn().has_value());
}

TEST(DictionaryLearner, TheSameBlocksGiveTheSame) {
  const auto one = learner_of(300, block_of_sample_values).learn();
  const auto other = learner_of(300, block_of_sample_values).learn();
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->dictionary, other->dictionary);
}

// Dictionaries in files.

std::vector<OwnedEntry> entries_of(std::uint64_t first_row, std::size_t count) {
  std::vector<OwnedEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back({sample_key(5, 3, first_row + i), 1'000'000 + i, Kind::kPut, value_of_words(first_row + i)});
  }
  return entries;
}

TableOptions learning() {
  TableOptions options;
  options.learns_dictionary = true;
  return options;
}

void expect_sound(const TableFile& file, const std::vector<OwnedEntry>& entries) {
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(*verified, file.entry);
  EXPECT_EQ(*TableReading(file).scan("", kCommitVersionMax), entries);
}

TEST(LearningTableBuilder, UsesFromTheSecondRunOnWhatTheFirstTaught) {
  const std::vector<OwnedEntry> entries = entries_of(0, 20'000);
  const TableFile plain = build_table(entries);
  const TableFile file = build_table(entries, learning());
  expect_sound(file, entries);
  const TableReading reading(file);
  const std::vector<RunEntry>& runs = reading.index().runs();
  ASSERT_GE(runs.size(), 2u);
  EXPECT_FALSE(runs[0].dictionary_hash.has_value());
  for (std::size_t i = 1; i < runs.size(); ++i) EXPECT_TRUE(runs[i].dictionary_hash.has_value()) << i;
  EXPECT_EQ(reading.index().properties().dictionaries.size(), 1u);
  EXPECT_LT(file.bytes.size(), plain.bytes.size());
}

TEST(LearningTableBuilder, AFileOfOneRunHasNone) {
  const std::vector<OwnedEntry> entries = entries_of(0, 1000);
  const TableFile file = build_table(entries, learning());
  EXPECT_EQ(file.bytes, build_table(entries).bytes);
}

TEST(LearningTableBuilder, GoesOnWithTheDictionaryOfACopiedRun) {
  TableOptions with;
  with.dictionary = sample_dictionary(1);
  const std::vector<OwnedEntry> first = entries_of(0, 5000);
  const TableFile original = build_table(first, with);
  const TableReading reading(original);
  const RunEntry& run = reading.index().runs()[0];
  ASSERT_EQ(reading.index().runs().size(), 1u);

  const auto builder = *TableBuilder::make(61, kSampleSeed, learning());
  RunSource source;
  source.run = &run;
  source.file_seed = original.entry.seed;
  source.bytes = std::string_view(original.bytes).substr(run.offset, run.bytes());
  source.dictionary = with.dictionary;
  Decompressor decompressor;
  ASSERT_TRUE(builder->append_run(source, decompressor).ok());
  EXPECT_EQ(builder->dictionary(), with.dictionary);
  std::vector<OwnedEntry> all = first;
  for (const OwnedEntry& entry : entries_of(10'000, 500)) {
    ASSERT_TRUE(builder->add(entry.view()).ok());
    all.push_back(entry);
  }
  const TableFile file = finish_table(*builder);
  expect_sound(file, all);
  const TableReading copied(file);
  ASSERT_EQ(copied.index().runs().size(), 2u);
  EXPECT_EQ(copied.index().runs()[1].dictionary_hash, run.dictionary_hash);
  EXPECT_EQ(copied.index().properties().dictionaries.size(), 1u);
}

TEST(LearningTableBuilder, WithoutCompressionNothingIsLearned) {
  TableOptions options = learning();
  options.compression_level = 0;
  const TableFile file = build_table(entries_of(0, 20'000), options);
  EXPECT_TRUE(TableReading(file).index().properties().dictionaries.empty());
}

}  // namespace
}  // namespace varve::format::dictionary_learner_test
