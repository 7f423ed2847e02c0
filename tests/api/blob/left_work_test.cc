// Goal: each part of the work that is left to do for blobs is small, removes nothing that has an owner, and gets past rows
// that cannot be read (BX-08, BX-31).
// Method: rows are written as a store has them, some of them wrong, and the parts are done one at a time.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/work_bench.h"

namespace varve::test::left_work_test {
namespace {

class LeftWorkParts : public testing::Test, protected WorkBench {};

TEST_F(LeftWorkParts, OnlyTheEndOfAContainerUsesSpaceThatIsKeptForDrops) {
  put_content(1, 1);
  put_blob_of("a", {1});
  put_work(kDropped);
  put(content_part_key(kContents, 2, 0), encode_part(2, 0, "text"));
  put_work(filling(2));
  for (int part = 0; part < 4; ++part) (void)do_part(filling(2));
  for (const RecordingBackend::Commit& commit : backend_.commits_) EXPECT_FALSE(commit.frees_space);
  backend_.commits_.clear();
  for (int part = 0; part < 4; ++part) (void)do_part(kDropped);
  EXPECT_FALSE(has_work(kDropped));
  EXPECT_FALSE(has_work(filling(2)));
  ASSERT_GE(backend_.commits_.size(), 2U);
  EXPECT_TRUE(backend_.commits_.back().frees_space) << "it retires the id";
  backend_.commits_.pop_back();
  for (const RecordingBackend::Commit& commit : backend_.commits_) EXPECT_FALSE(commit.frees_space);
}

}  // namespace
}  // namespace varve::test::left_work_test
