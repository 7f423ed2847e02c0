// Goal: a walk over rows continues after a block that cannot be read, and reports it (BX-31).
// Method: a byte of one row of a table file is flipped, for rows at several places.
#include "api/blob/row_walk.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/support/engine_bench.h"

namespace varve::test::row_walk_test {
namespace {

constexpr std::uint32_t kRows = 40;

std::string key_of_row(std::uint32_t row) {
  return key_of("p", "row " + std::to_string(100 + row));
}
/// So long that few rows share a block, and so uneven that no compression makes it shorter.
std::string value_of_row(std::uint32_t row) {
  return uneven_bytes(8'000, row);
}

class RowWalks : public testing::Test {
 protected:
  void SetUp() override {
    Machine machine;
    const std::unique_ptr<engine::Engine> engine = *machine.open();
    for (std::uint32_t row = 0; row < kRows; ++row) {
      ASSERT_TRUE(Change().put("p", "row " + std::to_string(100 + row), value_of_row(row)).commit(*engine).ok());
    }
    ASSERT_TRUE(engine->compact().ok());
    ASSERT_TRUE(engine->close().ok());
    disk_ = machine.files->snapshot();
  }

  io::MemoryDisk with_damage_in(std::uint32_t row) const {
    io::MemoryDisk damaged = disk_;
    const std::string bytes = value_of_row(row).substr(4'000, 64);
    int found = 0;
    for (const std::string& name : disk_.file_names(kStorePath)) {
      if (!name.ends_with(".sst")) continue;
      const std::string path = std::string(kStorePath) + "/" + name;
      const auto file = disk_.read_file(path);
      EXPECT_TRUE(file.ok());
      const std::string text(reinterpret_cast<const char*>(file->data()), file->size());
      const std::size_t at = text.find(bytes);
      if (at == std::string::npos) continue;
      ++found;
      EXPECT_TRUE(damaged.flip_bit(path, at, std::byte{0x10}).ok());
    }
    EXPECT_EQ(found, 1) << "row " << row;
    return damaged;
  }

  struct Walked {
    std::vector<std::string> keys;
    Status failure;
    bool has(std::uint32_t row) const { return std::count(keys.begin(), keys.end(), key_of_row(row)) == 1; }
  };
  static Walked walk(io::MemoryDisk disk) {
    Machine machine(9, std::move(disk));
    const std::unique_ptr<engine::Engine> engine = *machine.open();
    const engine::ReadView view = engine->view();
    const std::string prefix = format::encode_table(kTable);
    Walked walked;
    RowWalk rows(view, prefix, format::end_of_prefix(prefix), false);
    for (; rows.valid(); rows.next()) walked.keys.emplace_back(rows.row().key());
    walked.failure = rows.failure();
    EXPECT_TRUE(std::is_sorted(walked.keys.begin(), walked.keys.end()));
    return walked;
  }

  io::MemoryDisk disk_;
};

TEST_F(RowWalks, AllRowsOfAWholeFileAreWalked) {
  const Walked walked = walk(disk_);
  EXPECT_EQ(walked.keys.size(), kRows);
  EXPECT_TRUE(walked.failure.ok()) << walked.failure.to_string();
}

TEST_F(RowWalks, BX31_RowsBehindADamagedBlockAreWalked) {
  for (const std::uint32_t row : {0U, 7U, 20U}) {
    const Walked walked = walk(with_damage_in(row));
    EXPECT_EQ(walked.failure.code(), Code::kCorruption) << row;
    EXPECT_FALSE(walked.has(row));
    EXPECT_TRUE(walked.has(kRows - 1)) << row;
    EXPECT_GE(walked.keys.size(), kRows / 2) << "only the rows of one block are lost";
  }
}

TEST_F(RowWalks, BX31_ADamagedLastBlockEndsTheWalk) {
  const Walked walked = walk(with_damage_in(kRows - 1));
  EXPECT_EQ(walked.failure.code(), Code::kCorruption);
  EXPECT_FALSE(walked.has(kRows - 1));
  EXPECT_TRUE(walked.has(0));
}

}  // namespace
}  // namespace varve::test::row_walk_test
