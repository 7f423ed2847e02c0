// Goal: a commit is refused before any effect if its batch is invalid, belongs to a newer build, or contains a
// forbidden operation.
// Method: batches from their builder with one changed byte.
#include "engine/commit_request.h"

#include <string>

#include <gtest/gtest.h>

#include "format/keys/batch.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::commit_request_test {
namespace {

class CommitRequestTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  static std::string put() {
    format::BatchBuilder batch;
    batch.put(test::key_of("p", "r"), "v");
    return batch.finish();
  }
  void expect_refused(std::string batch, Code code, std::string_view what) {
    const CommitVersion before = engine_->statistics().visible_version.ticks;
    CommitRequest request;
    request.batch = std::move(batch);
    request.tables = {test::kTable};
    const Result<CommitVersion> committed = engine_->commit(std::move(request));
    EXPECT_EQ(committed.code(), code) << committed.status().to_string();
    EXPECT_NE(committed.status().message().find(what), std::string_view::npos) << committed.status().to_string();
    EXPECT_EQ(test::value_of(*engine_, "p", "r"), "-");
    EXPECT_EQ(engine_->statistics().visible_version.ticks, before);
    EXPECT_EQ(engine_->statistics().health, Health::kHealthy);
  }

  test::Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CommitRequestTest, WithoutABatchIsRefused) {
  expect_refused("", Code::kCorruption, "");
  expect_refused(put().substr(0, 8), Code::kCorruption, "");
}

TEST_F(CommitRequestTest, WithAnOperationOfANewerBuildIsRefused) {
  constexpr std::size_t kKindAt = 2;  // after flags and count
  std::string batch = put();
  ASSERT_EQ(batch[kKindAt], static_cast<char>(Kind::kPut));
  batch[kKindAt] = static_cast<char>(Kind::kMergeOperand);
  expect_refused(batch, Code::kUnsupported, "");
}

TEST_F(CommitRequestTest, ThatAdoptsATableItDidNotLoadIsRefused) {
  format::BatchBuilder batch;
  batch.put(test::key_of("p", "r"), "v");
  batch.adopt(test::kTable);
  expect_refused(batch.finish(), Code::kUnsupported, "a commit adopts a table that it did not load");
}

}  // namespace
}  // namespace varve::engine::commit_request_test
