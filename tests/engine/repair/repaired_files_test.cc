// Goal: the result of a repair is cut into files like that of a compaction, and an error of any file is reported.
// Method: incompressible entries of a megabyte.
#include "engine/repair/repaired_files.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/levels/tree_shape.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::repaired_files_test {
namespace {

constexpr std::uint64_t kValueBytes = (std::uint64_t{1} << 20) + 64'000;
constexpr int kCutAt = 64;  // the first check at which a file's bytes are known

class RepairedFilesTest : public testing::Test {
 protected:
  RepairedFilesTest() {
    io::SeededRandom random(3);
    while (value_.size() < kValueBytes + kCutAt) {
      const std::uint64_t word = random.next();
      value_.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  /// Adds a row. Values share one text with different beginnings, which is too far apart for a compressor of blocks.
  Status add(int row) {
    const std::string_view value = std::string_view(value_).substr(static_cast<std::size_t>(row % kCutAt), kValueBytes);
    const std::string key = test::key_of("p", std::to_string(1'000 + row));
    return files_.add({key, 10, Kind::kPut, value});
  }

  test::Machine machine_;
  const io::Env env_ = machine_.env();
  const std::unique_ptr<CheckpointTarget> target_ = *CheckpointTarget::begin(env_, "/target");
  RepairedFiles files_{env_, *target_, TreeShape().file_bytes};
  std::string value_;
};

TEST_F(RepairedFilesTest, BeginAnewWhenOneHasItsBytes) {
  for (int row = 0; row <= kCutAt; ++row) ASSERT_TRUE(add(row).ok());
  ASSERT_TRUE(files_.end_file().ok());
  ASSERT_EQ(files_.files().size(), 2u);
  EXPECT_GE(files_.files().begin()->second.size_bytes, TreeShape().file_bytes);
  EXPECT_EQ(files_.files().begin()->second.entry_count, static_cast<std::uint64_t>(kCutAt - 1));
  EXPECT_EQ(files_.files().rbegin()->second.entry_count, 2u);
  EXPECT_GT(files_.next_number(), files_.files().rbegin()->first);
}

TEST_F(RepairedFilesTest, TellAnErrorOfTheFileThatIsFull) {
  io::FaultRule rule;
  rule.sync_point = sync_points::kTable.name;
  machine_.files->faults().add(rule);
  for (int row = 0; row + 1 < kCutAt; ++row) ASSERT_TRUE(add(row).ok());
  const Status refused = add(kCutAt - 1);
  EXPECT_EQ(refused.code(), Code::kIoError) << refused.to_string();
  EXPECT_NE(refused.message().find(".sst"), std::string_view::npos) << refused.to_string();
  EXPECT_TRUE(files_.files().empty());
}

}  // namespace
}  // namespace varve::engine::repaired_files_test
