// Goal: a reopened store has the blocks in its cache that were cached before, and the list of them harms nothing.
// Method: stores whose cached blocks are known are closed and opened again. Their list is damaged, made up, refused by
// the disk, and cut off by power cuts. The work runs in the test's thread, on the parts of a store opened for reading.
#include "engine/warm/warmer.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/base/whole_file.h"
#include "engine/open.h"
#include "engine/read/point_read.h"
#include "format/bytes/bytes.h"
#include "format/log/warm_list.h"
#include "io/os_error.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::warmer_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kRows = 1'500;
constexpr std::uint64_t kValueBytes = 2'000;
constexpr std::uint64_t kCacheBytes = std::uint64_t{64} << 20;

std::string row_of(std::uint64_t number) {
  std::string row = std::to_string(number);
  return std::string(6 - row.size(), '0') + row;
}

/// A clock of which each look takes a while.
class TickingClock final : public io::Clock {
 public:
  io::Ticks wall() noexcept override { return io::kUnixEpochTicks; }
  std::chrono::nanoseconds monotonic() noexcept override { return now_ += std::chrono::milliseconds(1); }
  void pass(std::chrono::nanoseconds time) noexcept { now_ += time; }

 private:
  std::chrono::nanoseconds now_{0};
};

class WarmerTest : public testing::Test {
 protected:
  void SetUp() override { fill(); }

  /// Makes a store with kRows rows in tables of the last level.
  void fill() {
    open();
    io::SeededRandom random(1);
    for (std::uint64_t row = 0; row < kRows; row += 100) {
      Change change;
      for (std::uint64_t i = row; i < row + 100; ++i) {
        std::string value;
        while (value.size() < kValueBytes) value += static_cast<char>('!' + io::random_below(random, 90));
        change.put("p", row_of(i), value);
      }
      ASSERT_TRUE(change.commit(*engine_).ok());
    }
    ASSERT_TRUE(engine_->compact().ok());
    close();
  }

  void open(std::uint64_t cache_bytes = kCacheBytes) {
    EngineOptions options = Machine::writable();
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), cache_bytes);
    Result<std::unique_ptr<Engine>> engine = machine_.open(options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    engine_ = *std::move(engine);
  }
  void close() {
    const Status closed = engine_->close();
    EXPECT_TRUE(closed.ok()) << closed.to_string();
    lists_ = engine_->statistics().warm_lists;
    failures_ = engine_->statistics().warm_list_failures;
    engine_.reset();
  }
  void read_rows(std::uint64_t first, std::uint64_t end) {
    const ReadView view = engine_->view();
    for (std::uint64_t row = first; row < end; ++row) ASSERT_TRUE(*view.get(test::key_of("p", row_of(row))));
  }
  /// Opens the store with an empty cache, reads these rows, and closes it.
  void use_rows(std::uint64_t first, std::uint64_t end) {
    remove_list();
    open();
    ASSERT_NO_FATAL_FAILURE(read_rows(first, end));
    close();
  }

  /// The parts of a store opened for reading, with a cache of their own.
  struct Parts {
    std::unique_ptr<EngineState> state;
    std::unique_ptr<Warmer> warmer;

    std::uint64_t reads() const { return state->blocks->reads(); }
    Statistics figures() const {
      Statistics figures;
      warmer->add_figures_to(figures);
      return figures;
    }
    /// Does all the work, and returns the number of its parts.
    int work() const {
      int parts = 0;
      while (warmer->work() < std::chrono::seconds(1)) ++parts;
      return parts;
    }
    /// Returns the number of reads of the device for these rows.
    std::uint64_t reads_for(std::uint64_t first, std::uint64_t end) const {
      const std::uint64_t before = reads();
      const ReadStates::Pin pin = state->states->pin();
      for (std::uint64_t row = first; row < end; ++row) {
        EXPECT_TRUE(*read_point(*pin, *state->blocks, test::key_of("p", row_of(row)), format::kCommitVersionMax, {}));
      }
      return reads() - before;
    }
  };
  Parts parts(std::uint64_t cache_bytes = kCacheBytes, io::Clock* clock = nullptr) {
    EngineOptions options = Machine::reading();
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), cache_bytes);
    env_.emplace(
        io::Env{*machine_.files, clock != nullptr ? *clock : machine_.clock, machine_.random, machine_.scheduler()});
    Parts made;
    made.state = *open_state(*env_, test::kStorePath, options);
    made.warmer = std::make_unique<Warmer>(*env_, *made.state->directory, *made.state->states, *made.state->blocks,
                                           *made.state->read_queues, nullptr);
    return made;
  }

  Result<format::WarmList> list() {
    const auto directory = *machine_.files->open_directory(test::kStorePath);
    const Result<std::string> bytes =
        read_whole_file(*directory, format::kWarmListName, format::kWarmListBytesMax, io::ReadMode::kCached);
    if (!bytes.ok()) return bytes.status();
    return format::decode_warm_list(*bytes);
  }
  void remove_list() {
    const auto directory = *machine_.files->open_directory(test::kStorePath);
    (void)directory->remove(format::kWarmListName);
  }
  void write_list(std::string_view bytes) {
    remove_list();
    const auto directory = *machine_.files->open_directory(test::kStorePath);
    ASSERT_TRUE(directory->replace(format::kWarmListName, {}, format::as_bytes(bytes), sync_points::kWarmList).ok());
  }

  Machine machine_;
  std::optional<io::Env> env_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t lists_ = 0;  // written by the last store that was closed
  std::uint64_t failures_ = 0;
};

TEST_F(WarmerTest, BlocksThatWereCachedAtACloseAreCachedAfterTheOpen) {
  use_rows(0, kRows);
  EXPECT_EQ(lists_, 1u);
  const Parts after = parts();
  const std::uint64_t cold = after.reads_for(0, 1);
  EXPECT_GT(cold, 0u);
  after.work();
  EXPECT_EQ(after.reads_for(0, kRows), 0u);
  EXPECT_GT(after.figures().warm_blocks, Warmer::kBlocksWorthListing);
  EXPECT_GT(after.figures().warm_bytes, kRows * kValueBytes / 2);
  EXPECT_EQ(after.figures().warm_list_failures, 0u);
  // Adjacent blocks come with one read.
  EXPECT_LT(after.reads(), after.figures().warm_blocks / 4);
}

TEST_F(WarmerTest, BlocksThatWereNotCachedAreNotRead) {
  use_rows(0, kRows / 2);
  const Parts after = parts();
  after.work();
  EXPECT_EQ(after.reads_for(0, kRows / 2), 0u);
  EXPECT_GT(after.reads_for(kRows / 2 + 20, kRows), Warmer::kBlocksWorthListing);
  EXPECT_LT(after.figures().warm_bytes, kRows * kValueBytes * 3 / 4);
}

TEST_F(WarmerTest, AListOfAFewBlocksIsNotWritten) {
  use_rows(0, 10);
  EXPECT_EQ(lists_, 0u);
  EXPECT_EQ(list().code(), Code::kIoError);
}

TEST_F(WarmerTest, AListIsWrittenAgainWhenOtherBlocksWereRead) {
  use_rows(0, kRows / 2);
  TickingClock clock;
  const Parts used = parts(kCacheBytes, &clock);
  used.work();
  const Result<format::WarmList> before = list();
  ASSERT_TRUE(before.ok());
  clock.pass(2 * Warmer::kBetweenLists);
  used.warmer->work();
  EXPECT_EQ(used.figures().warm_lists, 0u) << "nothing was read since";
  used.reads_for(0, kRows);
  used.warmer->work();
  EXPECT_EQ(used.figures().warm_lists, 0u) << "it is not due";
  clock.pass(2 * Warmer::kBetweenLists);
  used.warmer->work();
  EXPECT_EQ(used.figures().warm_lists, 1u);
  const Result<format::WarmList> after = list();
  ASSERT_TRUE(after.ok());
  EXPECT_NE(*after, *before);
}

TEST_F(WarmerTest, AListThatWasNotReadToItsEndStays) {
  use_rows(0, kRows);
  const Result<format::WarmList> before = list();
  ASSERT_TRUE(before.ok());
  const Parts hasty = parts();
  hasty.warmer->work();
  hasty.warmer->finish();
  EXPECT_EQ(hasty.figures().warm_lists, 0u);
  EXPECT_EQ(*list(), *before);
}

TEST_F(WarmerTest, ADamagedListIsIgnoredAndToldByTheCheck) {
  use_rows(0, kRows);
  std::string bytes = format::encode_warm_list(*list(), 1);
  for (const std::size_t at : {std::size_t{0}, std::size_t{70}, bytes.size() / 2, bytes.size() - 1}) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_list(damaged);
    const Parts after = parts();
    const Status found = check_warm_list(*after.state->directory, *after.state->states->pin()->tables);
    EXPECT_EQ(found.code(), Code::kCorruption);
    EXPECT_NE(found.to_string().find("WARM"), std::string::npos);
    after.work();
    EXPECT_EQ(after.figures().warm_blocks, 0u);
    EXPECT_EQ(after.figures().warm_list_failures, 1u);
  }
  // A store that is used replaces it.
  open();
  read_rows(0, kRows);
  close();
  EXPECT_TRUE(list().ok());
}

TEST_F(WarmerTest, AListThatLiesIsReadAsFarAsTheIndexesConfirmIt) {
  use_rows(0, kRows);
  const format::WarmList honest = *list();
  const auto read_with = [this](const format::WarmList& made_up, Code found) {
    write_list(format::encode_warm_list(made_up, 1));
    const Parts after = parts();
    EXPECT_EQ(check_warm_list(*after.state->directory, *after.state->states->pin()->tables).code(), found);
    after.work();
    EXPECT_EQ(after.figures().warm_list_failures, 0u);
    after.reads_for(0, kRows);
    return after.figures().warm_blocks;
  };
  format::WarmList other_seed = honest;
  for (format::WarmBlocks& blocks : other_seed.files) ++blocks.file_seed;
  EXPECT_EQ(read_with(other_seed, Code::kCorruption), 0u);
  format::WarmList gone = honest;
  for (format::WarmBlocks& blocks : gone.files) blocks.file_number += 1'000'000;
  EXPECT_EQ(read_with(gone, Code::kOk), 0u);
  format::WarmList shifted = honest;
  for (format::WarmBlocks& blocks : shifted.files) {
    for (std::uint64_t& offset : blocks.offsets) ++offset;
    blocks.offsets.push_back(UINT64_MAX - 1);
  }
  EXPECT_EQ(read_with(shifted, Code::kOk), 0u);
}

TEST_F(WarmerTest, ListedBlocksEvictNothing) {
  use_rows(0, kRows);
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;
  const Parts after = parts(kSmall);
  after.work();
  const BlockCacheFigures cache = after.state->cache->figures();
  EXPECT_GT(after.figures().warm_blocks, 0u);
  EXPECT_EQ(cache.evictions, 0u);
  EXPECT_LE(cache.used_bytes, kSmall);
}

TEST_F(WarmerTest, GivesWayToOtherReads) {
  use_rows(0, kRows);
  TickingClock clock;
  const Parts after = parts(kCacheBytes, &clock);
  EXPECT_EQ(after.warmer->work(), std::chrono::nanoseconds(0));
  after.state->blocks->count_read(4096);
  EXPECT_GT(after.warmer->work(), std::chrono::nanoseconds(0));
  EXPECT_EQ(after.warmer->work(), std::chrono::nanoseconds(0));
}

TEST_F(WarmerTest, EachFailureOfTheDiskLeavesACloseOk) {
  use_rows(0, kRows);
  for (const io::OperationKind kind : {io::OperationKind::kReplaceWrite, io::OperationKind::kReplaceSync,
                                       io::OperationKind::kReplaceRename, io::OperationKind::kReplaceDirectorySync}) {
    SCOPED_TRACE(io::operation_name(kind));
    remove_list();
    open();
    ASSERT_NO_FATAL_FAILURE(read_rows(0, kRows));
    io::FaultRule rule;
    rule.kind = kind;
    rule.sync_point = sync_points::kWarmList.name;
    machine_.files->faults().add(rule);
    close();
    EXPECT_EQ(failures_, 1u);
    EXPECT_EQ(lists_, 0u);
    machine_.files->faults().clear();
    open();
    ASSERT_NO_FATAL_FAILURE(read_rows(0, 10));
    close();
  }
}

TEST_F(WarmerTest, EachFailedReadLeavesTheRestWarm) {
  use_rows(0, kRows);
  for (std::uint64_t n = 0; n < 12; ++n) {
    SCOPED_TRACE(n);
    const Parts after = parts();
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.skip_count = n;
    machine_.files->faults().add(rule);
    after.work();
    machine_.files->faults().clear();
    after.reads_for(0, kRows);  // Every row is there.
  }
}

TEST_F(WarmerTest, APowerCutWhileTheListIsReplacedLeavesTheOldListOrTheNew) {
  use_rows(0, kRows / 2);
  const format::WarmList before = *list();
  const Parts used = parts();
  used.work();
  used.reads_for(0, kRows);
  std::vector<io::MemoryDisk> images;
  machine_.files->set_observer([&](const io::Operation& operation, io::Moment) {
    if (operation.sync_point != sync_points::kWarmList.name) return;
    for (io::MemoryDisk& image : machine_.files->power_cuts(machine_.random, 6)) images.push_back(std::move(image));
  });
  used.warmer->finish();
  machine_.files->set_observer({});
  ASSERT_EQ(used.figures().warm_lists, 1u);
  ASSERT_GT(images.size(), 10u);
  std::set<bool> kept;
  for (const io::MemoryDisk& image : images) {
    Machine after(2, image);
    const auto directory = *after.files->open_directory(test::kStorePath);
    const Result<std::string> bytes =
        read_whole_file(*directory, format::kWarmListName, format::kWarmListBytesMax, io::ReadMode::kCached);
    ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
    const Result<format::WarmList> found = format::decode_warm_list(*bytes);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    kept.insert(*found == before);
    const std::unique_ptr<Engine> opened = *after.open();
    ASSERT_EQ(test::value_of(*opened, "p", row_of(7)).size(), kValueBytes);
    ASSERT_TRUE(io::is_missing(directory->open("WARM.tmp", io::ReadMode::kCached).status()));
  }
  EXPECT_EQ(kept.size(), 2u);
}

TEST_F(WarmerTest, AStoreReadsItsBlocksBackByItsOwnThread) {
  use_rows(0, kRows);
  Machine seeded(3, test::OneThreadAtATime{}, machine_.files->snapshot());
  EngineOptions options = Machine::writable();
  options.block_cache = std::make_shared<BlockCache>(seeded.scheduler(), kCacheBytes);
  const std::unique_ptr<Engine> engine = *seeded.open(options);
  // A round of compaction begins after the thread had spare time.
  for (int i = 0; i < 100 && engine->statistics().warm_blocks < Warmer::kBlocksWorthListing; ++i) {
    ASSERT_TRUE(engine->compact().ok());
    ASSERT_TRUE(Change().put("q", row_of(static_cast<std::uint64_t>(i)), "v").commit(*engine).ok());
  }
  EXPECT_GE(engine->statistics().warm_blocks, Warmer::kBlocksWorthListing);
  EXPECT_TRUE(engine->close().ok());
}

}  // namespace
}  // namespace varve::engine::warmer_test
