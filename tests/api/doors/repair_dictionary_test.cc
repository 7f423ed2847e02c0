// Goal: a repair saves data that was compressed with a dictionary. Without the dictionary it names the data that it
// cannot read.
// Method: a table whose files have learned a dictionary, and damage in the dictionary's block.
#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/table/table_index.h"
#include "tests/api/store_bench.h"

namespace varve::repair_dictionary_test {
namespace {

using namespace test;

constexpr std::string_view kTargetPath = "/target";

std::string path_of(std::string_view name) {
  return std::string(kStorePath) + "/" + std::string(name);
}

/// A table of similar entities, so that its files learn a dictionary.
class RepairWithDictionary : public ::testing::Test {
 protected:
  void SetUp() override {
    fill(0);
    fill(1);  // Causes a merge: compactions to the last level learn a dictionary.
    ASSERT_TRUE(bench_.store->close().ok());
    bench_.store.reset();
    io::MemoryFileSystem& files = *bench_.machine.files;
    for (const std::string& name : files.snapshot().file_names(kStorePath)) {
      if (!name.ends_with(".sst")) continue;
      const auto bytes = *files.snapshot().read_file(path_of(name));
      const std::string text(format::as_text(bytes));
      const auto header = format::decode_file_header(text, format::FileType::kTable);
      ASSERT_TRUE(header.ok()) << header.status().to_string();
      const auto read = [&](std::uint64_t offset, std::uint64_t size) -> Result<std::string_view> {
        return std::string_view(text).substr(offset, size);
      };
      format::Decompressor decompressor;
      const auto index = format::open_table({header->number, header->seed, text.size()}, read, decompressor);
      ASSERT_TRUE(index.ok()) << index.status().to_string();
      for (const format::DictionaryEntry& entry : index->properties().dictionaries) {
        dictionary_file_ = name;
        dictionary_ = entry.block;
      }
    }
    ASSERT_FALSE(dictionary_file_.empty()) << "no file has learned a dictionary";
  }
  /// Writes every other row, starting with this one.
  void fill(int begin) {
    Table table = begin == 0 ? bench_.table() : *bench_.store->open_table(kAccount, "Orders");
    WriteOptions buffered;
    buffered.durability = Durability::kBuffered;
    for (int first = begin; first < kRows; first += kRowsOfCommit) {
      EntityGroupTransaction transaction;
      for (int row = first; row < first + kRowsOfCommit; row += 2) {
        transaction.insert(with_value("p", std::to_string(1'000'000 + row), value_of(row)));
      }
      ASSERT_TRUE(table.execute(transaction, buffered).ok());
    }
    ASSERT_TRUE(bench_.store->compact().ok());
  }
  /// Returns a value of words that all values share. Each word is so rare that one block helps little with the next.
  static std::string value_of(int row) {
    io::SeededRandom random(static_cast<std::uint64_t>(row));
    std::string value;
    for (int i = 0; i < 12; ++i) {
      io::SeededRandom letters(io::random_below(random, 1'500));
      for (int letter = 0; letter < 14; ++letter) {
        value.push_back(static_cast<char>('a' + io::random_below(letters, 26)));
      }
    }
    return value;
  }
  RepairReport repair() {
    const Result<RepairReport> report = Store::repair(kStorePath, kTargetPath, bench_.options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? *report : RepairReport();
  }

  static constexpr int kRows = 40'000;
  static constexpr int kRowsOfCommit = 100;
  StoreBench bench_{1, OneThreadAtATime{}};
  std::string dictionary_file_;
  format::BlockHandle dictionary_;
};

TEST_F(RepairWithDictionary, SavesWhatNeedsOne) {
  const RepairReport report = repair();
  EXPECT_TRUE(report.was_sound());
  EXPECT_EQ(report.entities, kRows);
  const auto store = Store::open(kTargetPath, bench_.options());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  const Table table = *(*store)->open_table(kAccount, "Orders");
  for (int row = 0; row < kRows; row += 997) {
    EXPECT_EQ(value_in(table, "p", std::to_string(1'000'000 + row)), value_of(row)) << row;
  }
}

TEST_F(RepairWithDictionary, NamesWhatIsLostWithOne) {
  bench_.machine.files->change_disk([&](io::MemoryDisk& disk) {
    ASSERT_TRUE(
        disk.flip_bit(path_of(dictionary_file_), dictionary_.offset + dictionary_.bytes / 2, std::byte{4}).ok());
  });
  const RepairReport report = repair();
  EXPECT_FALSE(report.lost_nothing());
  EXPECT_LT(report.entities, kRows);
  EXPECT_GE(report.finding_count, 1u);
  for (const RepairLoss& loss : report.losses) EXPECT_EQ(loss.file, dictionary_file_);
}

TEST_F(RepairWithDictionary, NamesAsLostWhatNeedsOneThatTheDeviceDoesNotGive) {
  io::FaultRule rule;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.predicate = [this](const io::Operation& step) {
    return step.kind == io::OperationKind::kRead && step.name == dictionary_file_ &&
           step.offset < dictionary_.offset + dictionary_.bytes && step.offset + step.size_bytes > dictionary_.offset;
  };
  bench_.machine.files->faults().add(rule);
  const RepairReport report = repair();
  EXPECT_FALSE(report.lost_nothing());
  EXPECT_LT(report.entities, kRows);
  EXPECT_GE(report.finding_count, 1u);
  for (const RepairLoss& loss : report.losses) EXPECT_EQ(loss.file, dictionary_file_);
}

}  // namespace
}  // namespace varve::repair_dictionary_test
