// Goal: a read of many keys returns the results of single reads, with one read for each block. An error of one read
// ends the batch with nothing in flight.
// Method: a store whose cache holds almost nothing, more keys than a queue has places, and faults at each read in turn.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::batch_read_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kRowCount = 4000;

class BatchReadTest : public testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options = Machine::writable();
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), 64 << 10);
    engine_ = *machine_.open(options);
    for (int first = 0; first < kRowCount; first += 500) {
      Change change;
      for (int i = first; i < first + 500; ++i) change.put("p", row(i), value(i));
      ASSERT_TRUE(change.buffered().commit(*engine_).ok());
    }
    ASSERT_TRUE(engine_->flush().ok());
  }

  static std::string row(int number) { return std::to_string(1'000'000 + number); }
  /// Returns random bytes that the number determines, so that different values have nothing in common.
  static std::string value(int number) {
    io::SeededRandom random(static_cast<std::uint64_t>(number));
    std::string text;
    while (text.size() < 300) text.push_back(static_cast<char>(io::random_below(random, 256)));
    return text;
  }

  /// Returns every `step`th row, from the last to the first.
  std::vector<std::string> keys(int step) const {
    std::vector<std::string> keys;
    for (int i = kRowCount - 1; i >= 0; i -= step) keys.push_back(test::key_of("p", row(i)));
    return keys;
  }
  auto read(const std::vector<std::string>& keys) const {
    return engine_->view().get_many(std::vector<std::string_view>(keys.begin(), keys.end()));
  }

  Machine machine_{1};
  std::unique_ptr<Engine> engine_;
};

TEST_F(BatchReadTest, MoreKeysThanAQueueHasPlacesAreAllRead) {
  const auto found = read(keys(3));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  int number = kRowCount - 1;
  for (const auto& entry : *found) {
    ASSERT_TRUE(entry) << number;
    EXPECT_EQ(entry->value, value(number));
    number -= 3;
  }
}

TEST_F(BatchReadTest, TheVersionsAloneAreThoseOfTheEntriesInTablesAndMemtables) {
  Change below;
  Change above;
  for (int i = 0; i < kRowCount; i += 7) i % 2 == 0 ? below.put("p", row(i), "again") : below.remove("p", row(i));
  ASSERT_TRUE(below.commit(*engine_).ok());
  ASSERT_TRUE(engine_->flush().ok());
  for (int i = 0; i < kRowCount; i += 11) i % 2 == 0 ? above.put("p", row(i), "anew") : above.remove("p", row(i));
  ASSERT_TRUE(above.commit(*engine_).ok());
  std::vector<std::string> wanted = keys(1);
  wanted.push_back(test::key_of("p", "never written"));

  const ReadView view = engine_->view();
  const auto versions =
      view.newest_many(std::vector<std::string_view>(wanted.begin(), wanted.end()), EntryPart::kVersion);
  ASSERT_TRUE(versions.ok()) << versions.status().to_string();
  ASSERT_EQ(versions->size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Result<Newest> whole = view.newest(wanted[i]);
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ((*versions)[i].version, whole->version) << i;
    EXPECT_EQ((*versions)[i].value.has_value(), whole->value.has_value()) << i;
  }
}

TEST_F(BatchReadTest, ABlockThatManyKeysWantIsReadOnce) {
  ASSERT_TRUE(read(keys(kRowCount)).ok());  // The file is open, and its partitions are cached.
  const std::uint64_t before = engine_->statistics().block_reads;
  const auto found = read(keys(1));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  const std::uint64_t blocks = engine_->statistics().levels[0].bytes / 3500 + 5;
  EXPECT_LT(engine_->statistics().block_reads - before, blocks);
}

TEST_F(BatchReadTest, AFailedReadEndsItAndTheNextOneWorks) {
  const std::vector<std::string> wanted = keys(40);
  ASSERT_TRUE(read(wanted).ok());
  int failures = 0;
  for (std::uint64_t skipped = 0; skipped < 40; ++skipped) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".sst";
    rule.skip_count = skipped;
    machine_.files->faults().add(rule);
    const auto found = read(wanted);
    machine_.files->faults().clear();
    if (!found.ok()) {
      ++failures;
      EXPECT_EQ(found.code(), Code::kIoError);
      EXPECT_NE(found.status().message().find(".sst"), std::string_view::npos);
    }
    ASSERT_TRUE(read(wanted).ok());
  }
  EXPECT_GT(failures, 20);
}

TEST_F(BatchReadTest, AFlippedBitInAnyBlockIsAnErrorAndNeverAnAnswer) {
  const std::vector<std::string> wanted = keys(40);
  for (std::uint64_t skipped = 0; skipped < 20; ++skipped) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".sst";
    rule.skip_count = skipped;
    rule.effect = io::FaultEffect::kFlipBitOnce;
    machine_.files->faults().add(rule);
    const auto found = read(wanted);
    machine_.files->faults().clear();
    if (!found.ok()) {
      EXPECT_EQ(found.code(), Code::kCorruption);
      continue;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_TRUE((*found)[i]);
      EXPECT_EQ((*found)[i]->value, value(kRowCount - 1 - 40 * static_cast<int>(i)));
    }
  }
}

TEST_F(BatchReadTest, ABlockIsReadOnceMoreBeforeItCountsAsDamaged) {
  const std::vector<std::string> wanted = keys(40);
  ASSERT_TRUE(read(wanted).ok());  // opens the files
  std::uint64_t flips = 0;
  for (std::uint64_t skipped = 0; skipped < 20; ++skipped) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".sst";
    rule.predicate = [&flips, left = skipped](const io::Operation&) mutable {
      const bool is_due = left-- == 0;
      if (is_due) ++flips;
      return is_due;
    };
    rule.effect = io::FaultEffect::kFlipBitOnce;
    machine_.files->faults().add(rule);
    const auto found = read(wanted);
    machine_.files->faults().clear();
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_TRUE((*found)[i]);
  }
  EXPECT_GT(flips, 10U);
}

}  // namespace
}  // namespace varve::engine::batch_read_test
