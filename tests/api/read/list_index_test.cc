// Goal: a reader of a blob of many blocks finds each block, and keeps few parts of the list (BX-03).
// Method: a list of several parts, whose blocks need not be there, is searched in order and at random places. Parts that
// are not kept are gone.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "api/read/blob_read.h"
#include "tests/api/blob/work_bench.h"

namespace varve::test::list_index_test {
namespace {

constexpr ContentId kList = 7;
constexpr std::uint64_t kBlocks = 6 * kListEntriesOfPart + 5;
constexpr std::uint64_t kBlockBytes = 4;

class ListIndexes : public testing::Test, protected WorkBench {
 protected:
  ListIndexes() {
    std::vector<ContentId> blocks;
    for (ContentId block = 0; block < kBlocks; ++block) blocks.push_back(100 + block);
    put_list(kList, 1, blocks);
  }
  /// Finds the block at an offset, and remembers its part.
  void expect_found(std::uint64_t offset) {
    const engine::ReadView view = engine_->view();
    const Result<ListIndex::Place> place = index_.find(view, offset);
    ASSERT_TRUE(place.ok()) << place.status().to_string();
    ASSERT_LT(place->index, place->part->size());
    const ListEntry& entry = (*place->part)[place->index];
    EXPECT_EQ(entry.content, 100 + offset / kBlockBytes) << offset;
    parts_.emplace_back(place->part);
  }
  std::size_t parts_kept() const {
    std::vector<const void*> kept;
    for (const auto& part : parts_) {
      if (const ListIndex::Part still = part.lock()) kept.push_back(still.get());
    }
    std::sort(kept.begin(), kept.end());
    return static_cast<std::size_t>(std::unique(kept.begin(), kept.end()) - kept.begin());
  }

  ListIndex index_{machine_.scheduler(), kContents, kList};
  std::vector<std::weak_ptr<const std::vector<ListEntry>>> parts_;
};

TEST_F(ListIndexes, BX03_AReaderKeepsFewPartsOfAListThatItReadsInOrder) {
  for (std::uint64_t block = 0; block < kBlocks; block += 64) expect_found(kBlockBytes * block + 3);
  expect_found(kBlockBytes * kBlocks - 1);
  EXPECT_LE(parts_kept(), 2U);
}

TEST_F(ListIndexes, BX03_AReaderKeepsFewPartsOfAListThatItReadsAtRandom) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) expect_found(random() % (kBlockBytes * kBlocks));
  EXPECT_LE(parts_kept(), 2U);
}

TEST_F(ListIndexes, BX41_ALostPartIsDamageWhereItWas) {
  remove(content_part_key(kContents, kList, 2 * kListEntriesOfPart));
  const engine::ReadView view = engine_->view();
  ListIndex index(machine_.scheduler(), kContents, kList);
  EXPECT_EQ(index.find(view, kBlockBytes * 2 * kListEntriesOfPart).code(), Code::kCorruption);
  EXPECT_TRUE(index.find(view, kBlockBytes * 5 * kListEntriesOfPart).ok());
}

}  // namespace
}  // namespace varve::test::list_index_test
