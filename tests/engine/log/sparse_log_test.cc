// Goal: a memtable ends early if its log is mostly the rests of sectors, and not if the log holds mostly entries.
// Method: commits of one sector each, and of many sectors, on a disk in memory.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "engine/memory/memtables.h"
#include "io/aligned_buffer.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::sparse_log_test {
namespace {

using test::Change;
using test::Machine;

class SparseLog : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  /// Makes so many durable commits of one client, with values of this size.
  void commit(std::uint64_t count, std::size_t value_bytes) {
    const std::string value(value_bytes, 'v');
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(Change().put("client", std::to_string(i), value).commit(*engine_).ok());
    }
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

constexpr std::uint64_t kSectorsOfASparseLog = kSparseLogBytes / io::kSectorBytes;

TEST_F(SparseLog, EndsItsMemtableAfterSixteenMebibytes) {
  ASSERT_NO_FATAL_FAILURE(commit(kSectorsOfASparseLog + 16, 10));
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_EQ(engine_->statistics().flushes, 2u) << "of the memtable that ended, and of the next one";
}

TEST_F(SparseLog, OfEntriesThatFillTheirSectorsGoesOn) {
  ASSERT_NO_FATAL_FAILURE(commit(kSectorsOfASparseLog + 16, 3'000));
  ASSERT_TRUE(engine_->flush().ok());
  EXPECT_EQ(engine_->statistics().flushes, 1u);
}

}  // namespace
}  // namespace varve::engine::sparse_log_test
