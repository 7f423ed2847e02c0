// Goal: dictionaries that compactions learn reach the last level, work with every kind of read, and survive the copying
// of runs.
// Method: a table of similar entities is compacted, changed in places, and compacted again.
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::learned_dictionary_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kRowCount = 60'000;

std::string row(int number) {
  return std::to_string(1'000'000 + number);
}

/// Returns a value of words that all values share. Each word is so rare that one block helps little with the next.
std::string value_of_row(int number, int generation) {
  constexpr std::uint64_t kWords = 1500;
  io::SeededRandom random(static_cast<std::uint64_t>(number) * 8 + static_cast<std::uint64_t>(generation));
  std::string value;
  for (int i = 0; i < 12; ++i) {
    io::SeededRandom letters(io::random_below(random, kWords));
    for (int letter = 0; letter < 14; ++letter) {
      value.push_back(static_cast<char>('a' + io::random_below(letters, 26)));
    }
  }
  return value;
}

class LearnedDictionary : public testing::Test {
 protected:
  /// Writes every other row.
  void write(int first, int count, int generation) {
    Change change;
    for (int i = first; i < first + 2 * count; i += 2) {
      rows_[row(i)] = value_of_row(i, generation);
      change.put("p", row(i), rows_[row(i)]);
    }
    const auto committed = change.buffered().commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  }

  void check_all() {
    const ReadView view = engine_->view();
    Cursor cursor = view.cursor("", "");
    auto at = rows_.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, rows_.end());
      ASSERT_EQ(cursor.key(), test::key_of("p", at->first));
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_EQ(cursor.status().to_string(), "Ok");
    ASSERT_EQ(at, rows_.end());
    for (int i = 0; i < kRowCount; i += 997) ASSERT_EQ(test::value_of(*engine_, "p", row(i)), rows_[row(i)]);
    engine_->check_tables([](std::uint64_t, const Status& found) { EXPECT_EQ(found.to_string(), "Ok"); });
  }

  /// Counts the files with a dictionary. A dictionary is stored uncompressed, and begins with zstd's magic number.
  std::size_t files_with_dictionary() {
    const io::MemoryDisk disk = machine_.files->snapshot();
    std::size_t files = 0;
    for (const std::string& name : disk.file_names(test::kStorePath)) {
      if (!name.ends_with(".sst")) continue;
      const auto bytes = disk.read_file(std::string(test::kStorePath) + "/" + name);
      EXPECT_TRUE(bytes.ok());
      files += format::as_text(*bytes).find("\x37\xA4\x30\xEC") != std::string::npos ? 1U : 0U;
    }
    return files;
  }

  std::uint64_t table_bytes() const {
    std::uint64_t bytes = 0;
    for (const LevelStatistics& level : engine_->statistics().levels) bytes += level.bytes;
    return bytes;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
  std::map<std::string, std::string> rows_;
};

TEST_F(LearnedDictionary, ServesReadsAndCopiesOfRuns) {
  for (const int half : {0, 1}) {
    for (int first = half; first < kRowCount; first += 1000) write(first, 500, 1);
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }
  EXPECT_EQ(files_with_dictionary(), 0U) << "level 0 is short-lived";
  const std::uint64_t bytes_flushed = table_bytes();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(files_with_dictionary(), 1U);
  EXPECT_LT(table_bytes(), bytes_flushed);
  check_all();

  write(100, 50, 2);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(files_with_dictionary(), 1U);
  EXPECT_GT(engine_->statistics().compaction_copied_bytes, 0U);
  check_all();

  ASSERT_EQ(engine_->close().to_string(), "Ok");
  engine_ = *machine_.open();
  check_all();
}

}  // namespace
}  // namespace varve::engine::learned_dictionary_test
