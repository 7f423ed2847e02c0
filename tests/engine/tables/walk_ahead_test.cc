// Goal: a scan with read-ahead by the store's thread shows what it shows without: the same rows, page by page and in
// either direction, and the same damage at the same row. Read-ahead is bounded, and keeps no file in use.
// Method: one file of many runs under a small cache is scanned with and without read-ahead, under schedules of many
// seeds, with damaged and failing reads.
#include "engine/tables/walk_ahead.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/tables/table_cursor.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::walk_ahead_test {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{2} << 20;
constexpr std::uint64_t kRowsOfPage = 400;
constexpr int kSeeds = 12;

struct WalkedFile {
  std::string bytes;
  format::TableFileEntry entry;
  std::vector<std::string> keys;
};

/// Returns a file of about three incompressible megabytes.
const WalkedFile& walked_file() {
  static const WalkedFile made = [] {
    WalkedFile file;
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(60, 0x5eed, options);
    for (int row = 10'000; row < 20'000; ++row) {
      file.keys.push_back(test::key_of("p", std::to_string(row)));
      EXPECT_TRUE(builder->add({file.keys.back(), 900, Kind::kPut, std::string(300, 'v')}).ok());
    }
    file.entry = *builder->finish();
    file.bytes = builder->pending();
    return file;
  }();
  return made;
}

struct Walked {
  std::vector<std::string> keys;
  Status status;
};

/// The files of another file system, which are best read a MiB at a time.
class FarFiles final : public io::FileSystem {
 public:
  explicit FarFiles(io::FileSystem& files) : files_(files) {}
  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override {
    return files_.open_directory(path);
  }
  Status create_directory(std::string_view path, io::SyncPoint point) override {
    return files_.create_directory(path, point);
  }
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    return files_.make_read_queue(scheduler, depth);
  }
  std::size_t good_read_bytes() const noexcept override { return std::size_t{1} << 20; }

 private:
  io::FileSystem& files_;
};

/// The parts of a store that scan the file.
class WalkedStore {
 public:
  enum class Ahead : std::uint8_t { kNobody, kThread, kThreadFromAfar };

  WalkedStore(std::uint64_t seed, Ahead ahead, const std::string& bytes = walked_file().bytes) {
    io::MemoryDisk disk;
    const std::string name = format::file_name(format::FileType::kTable, walked_file().entry.number);
    disk.write_file(std::string(test::kStorePath) + "/" + name, format::as_bytes(bytes));
    machine_ = std::make_unique<test::Machine>(seed, test::OneThreadAtATime(), std::move(disk));
    const io::Env env = machine_->env();
    far_files_ = std::make_unique<FarFiles>(env.files);
    io::FileSystem& files = ahead == Ahead::kThreadFromAfar ? *far_files_ : env.files;
    env_ = std::make_unique<io::Env>(io::Env{files, env.clock, env.random, env.scheduler});
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(machine_->scheduler(), 64 << 10);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler), [] {});
    reader_ = std::make_unique<BlockReader>(machine_->scheduler(), *cache_);
    queues_ = std::make_unique<ReadQueues>(*env_);
    if (ahead != Ahead::kNobody) {
      const std::uint64_t bytes_max = ahead == Ahead::kThread ? kBytesMax : 8 * kBytesMax;
      ahead_ = std::make_unique<WalkAhead>(*reader_, *queues_, bytes_max);
      reader_->set_ahead(ahead_.get());
    }
    table_ = files_->add(walked_file().entry);
  }

  test::Machine& machine() { return *machine_; }
  io::FaultPlan& faults() { return machine_->files->faults(); }
  WalkAhead& ahead() { return *ahead_; }
  std::shared_ptr<TableFile>& table() { return table_; }
  BlockReader& reader() { return *reader_; }
  std::uint64_t reads() const { return reader_->reads(); }
  std::uint64_t pinned_bytes() const { return cache_->figures().pinned_bytes; }

  std::unique_ptr<TableCursor> cursor(std::uint64_t entries_expected = 0) {
    return std::make_unique<TableCursor>(*table_, *reader_, nullptr, entries_expected);
  }

  Walked forward(const std::function<void(std::size_t row)>& at_row = nullptr) {
    Walked walked;
    const auto walk = cursor();
    for (walk->seek("", format::kCommitVersionMax); walk->valid(); walk->next()) {
      walked.keys.emplace_back(walk->entry().sort_key);
      if (at_row) at_row(walked.keys.size());
    }
    walked.status = walk->status();
    return walked;
  }
  Walked backward() {
    Walked walked;
    const auto walk = cursor();
    for (walk->seek_to_last(); walk->valid(); walk->previous()) walked.keys.emplace_back(walk->entry().sort_key);
    walked.status = walk->status();
    return walked;
  }
  /// Scans in pages: each page begins at the key after the page before.
  Walked pages(const std::function<void(std::size_t row)>& before_page = nullptr) {
    Walked walked;
    std::string begin;
    for (bool is_over = false; !is_over;) {
      if (before_page) before_page(walked.keys.size());
      const auto walk = cursor(begin.empty() ? 0 : kRowsOfPage);
      walk->seek(begin, format::kCommitVersionMax);
      for (std::uint64_t row = 0; walk->valid() && row < kRowsOfPage; ++row, walk->next()) {
        walked.keys.emplace_back(walk->entry().sort_key);
      }
      walked.status = walk->status();
      is_over = !walk->valid();
      if (!is_over) begin = walk->entry().sort_key;
    }
    return walked;
  }

 private:
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<FarFiles> far_files_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> files_;
  std::unique_ptr<BlockReader> reader_;
  std::unique_ptr<ReadQueues> queues_;
  std::shared_ptr<TableFile> table_;
  std::unique_ptr<WalkAhead> ahead_;
};

using Ahead = WalkedStore::Ahead;

TEST(WalkAheadTest, WalksShowEveryRowEitherWayAndHoldNoMoreThanTheBound) {
  std::uint64_t held_bytes_max = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WalkedStore store(seed, Ahead::kThread);
    const auto look = [&](std::size_t /*row*/) { held_bytes_max = std::max(held_bytes_max, store.pinned_bytes()); };
    const Walked forward = store.forward(look);
    EXPECT_TRUE(forward.status.ok()) << forward.status.to_string();
    EXPECT_EQ(forward.keys, walked_file().keys);
    Walked backward = store.backward();
    EXPECT_TRUE(backward.status.ok()) << backward.status.to_string();
    std::reverse(backward.keys.begin(), backward.keys.end());
    EXPECT_EQ(backward.keys, walked_file().keys);
  }
  EXPECT_GT(held_bytes_max, std::uint64_t{64} << 10);  // otherwise there was no read-ahead
  EXPECT_LE(held_bytes_max, kBytesMax + (std::uint64_t{64} << 10));
}

TEST(WalkAheadTest, AFileSystemWithLargerGoodReadsHasFewerOfThem) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::uint64_t near_reads = 0;
    {
      WalkedStore near(seed, Ahead::kThread);
      EXPECT_EQ(near.forward().keys, walked_file().keys);
      near_reads = near.reads();
    }
    WalkedStore far(seed, Ahead::kThreadFromAfar);
    EXPECT_EQ(far.forward().keys, walked_file().keys);
    EXPECT_LT(far.reads() + 2, near_reads);
  }
}

TEST(WalkAheadTest, PagesGoOnWithWhatWasReadAheadOfTheOneBefore) {
  std::uint64_t reads_alone = 0;
  {
    WalkedStore alone(1, Ahead::kNobody);
    EXPECT_EQ(alone.pages().keys, walked_file().keys);
    reads_alone = alone.reads();
  }
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WalkedStore store(seed, Ahead::kThread);
    const Walked walked = store.pages();
    EXPECT_TRUE(walked.status.ok()) << walked.status.to_string();
    EXPECT_EQ(walked.keys, walked_file().keys);
    EXPECT_LT(store.reads(), reads_alone);  // larger reads, and none twice
  }
}

TEST(WalkAheadTest, DamageIsToldAtTheRowWhereAWalkAloneTellsOfIt) {
  for (std::size_t part = 3; part < 7; ++part) {
    std::string bytes = walked_file().bytes;
    bytes[bytes.size() * part / 8] ^= 1;
    const auto [expected, expected_backward] = [&] {
      WalkedStore alone(1, Ahead::kNobody, bytes);
      return std::pair(alone.forward(), alone.backward());
    }();
    ASSERT_EQ(expected.status.code(), Code::kCorruption);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      WalkedStore store(seed, Ahead::kThread, bytes);
      const Walked walked = store.forward();
      EXPECT_EQ(walked.keys, expected.keys);
      EXPECT_EQ(walked.status.to_string(), expected.status.to_string());
      const Walked backward = store.backward();
      EXPECT_EQ(backward.keys, expected_backward.keys);
      EXPECT_EQ(backward.status.to_string(), expected_backward.status.to_string());
    }
  }
}

/// Buffers are reused by different readers. They contain bytes of other files, at the offsets that the scan reads in
/// its own file.
TEST(WalkAheadTest, WhatAnotherReaderLeftInItsBufferIsNotTakenForTheFile) {
  WalkedStore store(1, Ahead::kThread);
  const std::uint64_t file_bytes = walked_file().bytes.size();
  constexpr std::uint64_t kLeftBytes = std::uint64_t{256} << 10;
  const Walked walked = store.pages([&](std::size_t row) {
    const std::uint64_t offset = std::min(file_bytes * row / walked_file().keys.size(), file_bytes - kLeftBytes);
    std::unique_ptr<BlockReader::Tools> tools = store.reader().lend();
    ASSERT_TRUE(tools->stored.prepare(offset, kLeftBytes, file_bytes).ok());
    std::ranges::fill(tools->stored.bytes(), std::byte{'x'});
    store.reader().give_back(std::move(tools));
  });
  EXPECT_TRUE(walked.status.ok()) << walked.status.to_string();
  EXPECT_EQ(walked.keys, walked_file().keys);
}

TEST(WalkAheadTest, WhereReadsFailOneAfterTheOtherAWalkShowsWhatComesBefore) {
  const std::vector<std::string>& keys = walked_file().keys;
  std::size_t ended = 0;
  for (std::uint64_t skipped = 4; skipped < 24; ++skipped) {
    WalkedStore store(skipped, Ahead::kThread);
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.skip_count = skipped;
    rule.fail_count = io::FaultRule::kFromThenOn;
    store.faults().add(rule);
    const Walked walked = store.forward();
    ASSERT_LE(walked.keys.size(), keys.size());
    EXPECT_TRUE(std::equal(walked.keys.begin(), walked.keys.end(), keys.begin()));
    EXPECT_EQ(walked.status.ok(), walked.keys.size() == keys.size()) << walked.status.to_string();
    if (!walked.status.ok()) {
      ++ended;
      EXPECT_EQ(walked.status.code(), Code::kIoError);
    }
  }
  EXPECT_GT(ended, 0U);
}

TEST(WalkAheadTest, AFailureOfTheThreadAloneIsNotTold) {
  const std::vector<std::string>& keys = walked_file().keys;
  for (std::uint64_t skipped = 8; skipped < 16; ++skipped) {
    WalkedStore store(skipped, Ahead::kThread);
    ASSERT_EQ(store
                  .forward([&, is_set = false](std::size_t row) mutable {
                    // From here on the thread reads every block first.
                    if (is_set || row < keys.size() / 2) return;
                    is_set = true;
                    io::FaultRule rule;
                    rule.kind = io::OperationKind::kRead;
                    store.faults().add(rule);
                  })
                  .keys,
              keys);
    EXPECT_EQ(store.faults().hit_count(), 1U);
  }
}

TEST(WalkAheadTest, AWalkThatEndsEarlyKeepsNoFileInUse) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WalkedStore store(seed, Ahead::kThread);
    {
      const auto walk = store.cursor();
      walk->seek("", format::kCommitVersionMax);
      for (std::size_t row = 0; row < walked_file().keys.size() / 2; ++row) walk->next();
      ASSERT_TRUE(walk->valid());
    }
    int turns = 0;
    while (store.table().use_count() > 1 && ++turns < 100'000) store.machine().scheduler().yield();
    EXPECT_EQ(store.table().use_count(), 1);
  }
}

TEST(WalkAheadTest, AWalkGoesOnByItselfWhenTheStoreCloses) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WalkedStore store(seed, Ahead::kThread);
    const Walked walked = store.forward([&](std::size_t row) {
      if (row == walked_file().keys.size() / 2 + seed * 10) store.ahead().stop();
    });
    EXPECT_TRUE(walked.status.ok()) << walked.status.to_string();
    EXPECT_EQ(walked.keys, walked_file().keys);
  }
}

}  // namespace
}  // namespace varve::engine::walk_ahead_test
