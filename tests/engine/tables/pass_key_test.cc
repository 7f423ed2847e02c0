// Goal: a cursor over a table passes all versions of a key, however they lie in blocks, and comes to the next key. A scan
// ends at its bound, wherever in a block that is. It says truly how much a key shares with the one before.
// Method: one file whose keys have one to many versions, in blocks of a few entries. Each key is passed from each of its
// versions, and compared with the list of keys. Scans end at each key, at each prefix of it, and beside it.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/read/cursor.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::pass_key_test {
namespace {

constexpr CommitVersion kNewest = 1000;

class TableCursorPassKey : public testing::Test {
 protected:
  TableCursorPassKey() {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(7, 1, options);
    for (int row = 100; row < 160; ++row) {
      constexpr std::array<CommitVersion, 6> kVersions = {1, 2, 7, 9, 30, 100};
      keys_.push_back(test::key_of(row < 130 ? "p" : "q", std::to_string(row)));
      versions_.push_back(kVersions[static_cast<std::size_t>(row) % kVersions.size()]);
      for (CommitVersion old = 0; old < versions_.back(); ++old) {
        EXPECT_TRUE(builder->add({keys_.back(), kNewest - old, Kind::kPut, std::string(200, 'v')}).ok());
      }
    }
    const format::TableFileEntry entry = *builder->finish();
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, 7),
                    format::as_bytes(builder->pending()));
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(scheduler_, 4 << 20);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler), [] {});
    table_ = files_->add(entry);
    reader_ = std::make_unique<BlockReader>(scheduler_, *cache_);
  }

  std::unique_ptr<TableCursor> cursor() { return std::make_unique<TableCursor>(*table_, *reader_, nullptr); }

  std::vector<std::string> scan(std::string_view lower, std::string_view upper, CommitVersion version) {
    Cursor scan(ReadStates::Pin(), cursor(), lower, upper, version);
    std::vector<std::string> found;
    for (scan.seek_to_first(); scan.valid(); scan.next()) found.emplace_back(scan.key());
    EXPECT_TRUE(scan.status().ok());
    return found;
  }

  /// Returns the keys of the range that have a version not above `version`.
  std::vector<std::string> expected(std::string_view lower, std::string_view upper, CommitVersion version) const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const bool is_inside = keys_[i] >= lower && keys_[i] < upper;
      if (is_inside && kNewest - versions_[i] < version) found.push_back(keys_[i]);
    }
    return found;
  }

  std::vector<std::string> keys_;
  std::vector<CommitVersion> versions_;  // of each key
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  io::Scheduler scheduler_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> files_;
  std::shared_ptr<TableFile> table_;
  std::unique_ptr<BlockReader> reader_;
};

TEST_F(TableCursorPassKey, ComesToTheNextKeyFromEachVersion) {
  const auto cursor = this->cursor();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    for (CommitVersion old = 0; old < versions_[i]; ++old) {
      cursor->seek(keys_[i], kNewest - old);
      ASSERT_TRUE(cursor->valid());
      ASSERT_EQ(cursor->entry().version, kNewest - old);
      cursor->pass_key(keys_[i]);
      ASSERT_TRUE(cursor->status().ok()) << cursor->status().to_string();
      ASSERT_EQ(cursor->valid(), i + 1 < keys_.size());
      if (!cursor->valid()) continue;
      ASSERT_EQ(cursor->entry().sort_key, keys_[i + 1]);
      ASSERT_EQ(cursor->entry().version, kNewest);
    }
  }
}

TEST_F(TableCursorPassKey, StepsOnlyFromTheLastVersionOfAKeyAndNotOutOfItsBlock) {
  const auto cursor = this->cursor();
  std::size_t steps = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    for (CommitVersion old = 0; old < versions_[i]; ++old) {
      cursor->seek(keys_[i], kNewest - old);
      ASSERT_TRUE(cursor->valid());
      KeyStep step;
      const bool has_stepped = cursor->step_to_next_key(step);
      ASSERT_TRUE(cursor->valid());
      ASSERT_EQ(cursor->entry().sort_key, keys_[has_stepped ? i + 1 : i]);
      ASSERT_EQ(cursor->entry().version, has_stepped ? kNewest : kNewest - old);
      if (!has_stepped) continue;
      ++steps;
      ASSERT_EQ(old + 1, versions_[i]);
      ASSERT_EQ(step.entry.sort_key, keys_[i + 1]);
      ASSERT_EQ(step.entry.version, kNewest);
      const auto differs = std::mismatch(keys_[i].begin(), keys_[i].end(), keys_[i + 1].begin());
      ASSERT_EQ(step.shared, static_cast<std::size_t>(differs.first - keys_[i].begin()));
    }
  }
  EXPECT_GT(steps, keys_.size() / 2);
}

TEST_F(TableCursorPassKey, AScanKnowsWhatAKeySharesWithTheOneBefore) {
  for (const CommitVersion version : {kNewest, kNewest - 5}) {
    Cursor scan(ReadStates::Pin(), cursor(), "", "", version);
    std::size_t known = 0;
    std::string before;
    const auto expect_shared = [&] {
      ASSERT_TRUE(scan.valid());
      ASSERT_LE(scan.shared(), std::min(before.size(), scan.key().size()));
      ASSERT_EQ(scan.key().substr(0, scan.shared()), std::string_view(before).substr(0, scan.shared()));
      if (scan.shared() > 0) ++known;
      before = scan.key();
    };
    scan.seek_to_first();
    for (std::size_t i = 0; i < 30; ++i, scan.next()) ASSERT_NO_FATAL_FAILURE(expect_shared());
    EXPECT_GE(known, version == kNewest ? 2u : 0u);  // Keys of one version are known, but at the end of a block.
    for (std::size_t i = 0; i < 20; ++i, scan.previous()) ASSERT_NO_FATAL_FAILURE(expect_shared());
    for (std::size_t i = 0; i < 5; ++i, scan.next()) ASSERT_NO_FATAL_FAILURE(expect_shared());
    scan.seek(keys_[2]);
    ASSERT_NO_FATAL_FAILURE(expect_shared());
  }
}

TEST_F(TableCursorPassKey, AScanEndsAtItsBoundWhereverThatIs) {
  std::vector<std::string> bounds;
  for (const std::size_t row : {0u, 1u, 9u, 10u, 19u, 29u, 30u, 31u, 45u, 59u}) {
    const std::string& key = keys_[row];
    for (std::size_t bytes = 1; bytes <= key.size(); ++bytes) {
      bounds.push_back(key.substr(0, bytes));
      bounds.push_back(key.substr(0, bytes) + '\xff');
    }
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  for (const std::string& upper : bounds) {
    for (const std::size_t first : {0u, 7u, 29u, 30u, 52u}) {
      for (const CommitVersion version : {kNewest, kNewest - 5, kNewest - 99}) {
        SCOPED_TRACE(testing::PrintToString(upper) + " from " + std::to_string(first));
        ASSERT_EQ(scan(keys_[first], upper, version), expected(keys_[first], upper, version));
      }
    }
  }
}

}  // namespace
}  // namespace varve::engine::pass_key_test
