// One scan over several memtables, compared with a sorted list of all their entries.
#include "engine/read/merge_cursor.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/memtable_cursor.h"
#include "io/clock.h"
#include "io/simulated/manual_clock.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/effort.h"

namespace varve::engine::merge_cursor_test {
namespace {

struct Expected {
  std::string key;
  CommitVersion version = 0;
  bool operator<(const Expected& other) const { return is_before(key, version, other.key, other.version); }
  bool operator==(const Expected&) const = default;
};

class MergeCursorTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    const std::uint64_t count = io::random_below(random_, 5);
    CommitVersion version = 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      memtables_.push_back(std::make_unique<Memtable>());
      const std::uint64_t batches = io::random_below(random_, 40);
      for (std::uint64_t b = 0; b < batches; ++b, ++version) {
        const std::string key = key_of(io::random_below(random_, 30));
        insert(*memtables_.back(), batch_of({put(key, "v")}), version);
        all_.push_back({key, version});
      }
    }
    std::sort(all_.begin(), all_.end());
  }

  MergeCursor merge() {
    std::vector<std::unique_ptr<EntryCursor>> sources;
    for (const auto& memtable : memtables_) sources.push_back(std::make_unique<MemtableCursor>(*memtable));
    return MergeCursor(std::move(sources));
  }
  static Expected at(const MergeCursor& cursor) {
    return {std::string(cursor.entry().sort_key), cursor.entry().version};
  }
  /// Scans backward. The second argument follows the entry at which the cursor is.
  void expect_back_from(MergeCursor& cursor, std::vector<Expected>::const_iterator behind) {
    for (; cursor.valid(); cursor.previous()) {
      ASSERT_NE(behind, all_.cbegin());
      ASSERT_EQ(at(cursor), *--behind);
    }
    ASSERT_EQ(behind, all_.cbegin());
    ASSERT_TRUE(cursor.status().ok());
  }
  void expect_from(MergeCursor& cursor, std::vector<Expected>::const_iterator from) {
    for (; cursor.valid(); cursor.next(), ++from) {
      ASSERT_NE(from, all_.cend());
      ASSERT_EQ(at(cursor), *from);
    }
    ASSERT_EQ(from, all_.cend());
    ASSERT_TRUE(cursor.status().ok());
  }

  io::SeededRandom random_{GetParam()};
  std::vector<std::unique_ptr<Memtable>> memtables_;
  std::vector<Expected> all_;
};

TEST_P(MergeCursorTest, WalksAllEntriesInOrder) {
  MergeCursor cursor = merge();
  EXPECT_FALSE(cursor.valid());
  cursor.seek("", std::numeric_limits<CommitVersion>::max());
  expect_from(cursor, all_.cbegin());
}

TEST_P(MergeCursorTest, SeeksAnyPlace) {
  MergeCursor cursor = merge();
  for (int i = 0; i < 40; ++i) {
    const Expected target{key_of(io::random_below(random_, 32)), io::random_below(random_, 200)};
    cursor.seek(target.key, target.version);
    expect_from(cursor, std::lower_bound(all_.cbegin(), all_.cend(), target));
  }
}

TEST_P(MergeCursorTest, GoesBackwardFromTheLastEntryBeforeAKey) {
  MergeCursor cursor = merge();
  for (int i = 0; i < 40; ++i) {
    const std::string bound = key_of(io::random_below(random_, 32));
    const auto after = std::find_if(all_.cbegin(), all_.cend(), [&](const Expected& e) { return e.key >= bound; });
    cursor.seek_before(bound);
    ASSERT_EQ(cursor.valid(), after != all_.cbegin());
    expect_back_from(cursor, after);
  }
}

TEST_P(MergeCursorTest, GoesBackwardFromTheLastEntryAndForwardAgain) {
  MergeCursor cursor = merge();
  cursor.seek_to_last();
  expect_back_from(cursor, all_.cend());
  cursor.seek("", std::numeric_limits<CommitVersion>::max());
  expect_from(cursor, all_.cbegin());
}

TEST_P(MergeCursorTest, MaySeekTheKeyItIsAt) {
  MergeCursor cursor = merge();
  cursor.seek("", std::numeric_limits<CommitVersion>::max());
  while (cursor.valid()) {
    const Expected here = at(cursor);
    cursor.seek(cursor.entry().sort_key, 0);
    const auto next = std::find_if(all_.cbegin(), all_.cend(), [&](const Expected& e) { return e.key > here.key; });
    ASSERT_EQ(cursor.valid(), next != all_.cend());
    if (cursor.valid()) {
      ASSERT_EQ(at(cursor), *next);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MergeCursorTest, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(20)));

}  // namespace
}  // namespace varve::engine::merge_cursor_test
