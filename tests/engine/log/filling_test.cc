// Goal: where only writes beside each other gain from zeros, the log writes zeros while it makes such writes, and none for
// lone ones. Zeros also go to the segment in use, above all records.
// Method: threads run one at a time by seed, on a disk in memory.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/log/segment_supply.h"
#include "engine/log/write_overlap.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::filling_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kCommits = 400;

class Filling : public testing::TestWithParam<std::uint64_t> {
 protected:
  void open(io::FillGain gain) {
    machine_.files->set_fill_gain(gain);
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  /// Makes the commits of one client, each a write of its own.
  void commit_all(const std::string& client) {
    const std::string value(3'000, 'v');
    for (int i = 0; i < kCommits; ++i) {
      EXPECT_TRUE(Change().put(client, std::to_string(i), value).commit(*engine_).ok());
    }
  }
  void commit_side_by_side(int clients) {
    std::vector<io::Thread> threads;
    for (int i = 0; i < clients; ++i) {
      Result<io::Thread> thread =
          machine_.scheduler().start("client", [this, i] { commit_all("client" + std::to_string(i)); });
      ASSERT_TRUE(thread.ok());
      threads.push_back(*std::move(thread));
    }
  }
  std::uint64_t filled() const { return engine_->statistics().fill_bytes; }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
};

TEST_P(Filling, LoneWritesGetZerosWhereAllWritesGain) {
  ASSERT_NO_FATAL_FAILURE(open(io::FillGain::kAll));
  commit_all("alone");
  EXPECT_GT(filled(), kSegmentBytesMin / 2);
}

TEST_P(Filling, LoneWritesGetNoZerosWhereOnlyWritesBesideOthersGain) {
  ASSERT_NO_FATAL_FAILURE(open(io::FillGain::kBesideOthers));
  commit_all("alone");
  EXPECT_EQ(filled(), 0u);
}

TEST_P(Filling, WritesBesideOthersGetZerosAndLoneWritesAfterThemGetNone) {
  ASSERT_NO_FATAL_FAILURE(open(io::FillGain::kBesideOthers));
  ASSERT_NO_FATAL_FAILURE(commit_side_by_side(8));
  EXPECT_GT(filled(), kSegmentBytesMin / 2);
  commit_all("alone");
  const std::uint64_t before = filled();
  commit_all("still alone");
  EXPECT_EQ(filled(), before);
}

TEST_P(Filling, WritesBesideOthersGetZerosInTheSegmentInUseAboveAllRecords) {
  ASSERT_NO_FATAL_FAILURE(open(io::FillGain::kBesideOthers));
  commit_all("alone");  // The segment in use is large now, and has no zeros.
  std::map<std::string, std::uint64_t> written;
  int steps = 0;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (moment != io::Moment::kBefore) return;
    const std::uint64_t end = operation.offset + operation.size_bytes;
    std::uint64_t& known = written[std::string(operation.name)];
    if (operation.kind == io::OperationKind::kLogWrite) known = std::max(known, end);
    if (operation.kind != io::OperationKind::kFill || known <= kFirstRecordOffset) return;
    ++steps;
    EXPECT_GE(operation.offset, known);
  });
  ASSERT_NO_FATAL_FAILURE(commit_side_by_side(8));
  machine_.files->set_observer({});
  EXPECT_GT(steps, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Filling, testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace varve::engine::filling_test
