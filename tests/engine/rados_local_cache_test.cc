// Goal: the blocks that a flush or a merge puts into the block cache are in the local cache too, by just the parts that
// readers ask for.
// Method: an engine over a model of RADOS. Its block cache loses everything, and then the objects of the store hang.
#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cache/block_cache.h"
#include "engine/levels/tree_shape.h"
#include "format/bytes/bytes.h"
#include "format/table/table_footer.h"
#include "io/rados/read_cache.h"
#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_local_cache_test {
namespace {

using io::is_ok;
using test::Change;

constexpr std::uint64_t kBlockCacheBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kFreshBytes = std::uint64_t{16} << 20;
constexpr int kRows = 250;
constexpr int kRowsOfCommit = 50;
constexpr std::size_t kRowBytes = 8000;

class MemoryFile final : public io::CacheFile {
 public:
  explicit MemoryFile(std::uint64_t size) : bytes_(size) {}
  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept override {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
  }
  bool read(std::uint64_t offset, std::span<std::byte> head, std::span<std::byte> body) noexcept override {
    if (offset + head.size() + body.size() > bytes_.size()) return false;
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy_n(from, head.size(), head.begin());
    std::copy_n(from + static_cast<std::ptrdiff_t>(head.size()), body.size(), body.begin());
    return true;
  }

 private:
  io::Bytes bytes_;
};

std::string row_name(int row) {
  const std::string digits = std::to_string(row);
  return std::string(6 - digits.size(), '0') + digits;
}

std::string content_of(int row, int round) {
  std::mt19937_64 random(static_cast<std::uint64_t>(row * 100 + round));
  std::string content;
  content.reserve(kRowBytes);
  while (content.size() < kRowBytes) format::append_u64(content, random());
  return content;
}

class RadosLocalCache : public testing::Test {
 protected:
  RadosLocalCache() : machine_(1), program_(machine_.start()) {
    tree_shape().chunk_weight_max = 200'000;  // so that most runs are made apart from their file
    program_.files->process().set_read_cache(make(io::ReadCache::kSizeMin), make(kFreshBytes));
    EngineOptions options = test::Machine::writable();
    options.block_cache = blocks_;
    auto opened = Engine::open(machine_.env_of(program_), test::kRadosPath, options);
    EXPECT_TRUE(is_ok(opened.status()));
    if (opened.ok()) engine_ = *std::move(opened);
  }
  ~RadosLocalCache() override { tree_shape() = usual_; }

  std::unique_ptr<io::ReadCache> make(std::uint64_t size) {
    return *io::ReadCache::make(std::make_unique<MemoryFile>(size), size, machine_.scheduler());
  }
  io::ReadCacheFigures fresh() { return program_.files->process().fresh_cache()->figures(); }

  void write_and_flush() {
    ++round_;
    for (int begin = 0; begin < kRows; begin += kRowsOfCommit) {
      Change change;
      for (int row = begin; row < begin + kRowsOfCommit; ++row) change.put("p", row_name(row), content_of(row, round_));
      ASSERT_TRUE(is_ok(change.commit(*engine_)));
    }
    ASSERT_TRUE(is_ok(engine_->flush()));
  }
  void read_rows(int step) {
    for (int row = 0; row < kRows; row += step) {
      ASSERT_EQ(test::value_of(*engine_, "p", row_name(row)), content_of(row, round_)) << row;
    }
  }
  void forget_blocks() {
    blocks_->set_bytes_max(0);
    blocks_->set_bytes_max(kBlockCacheBytes);
  }
  /// Reads all rows while the objects of the store hang, and the block cache has none of their blocks.
  void read_without_the_cluster() {
    read_rows(5);  // opens the files
    forget_blocks();
    io::ObjectLook root;
    ASSERT_EQ(program_.door->look(io::root_object(test::kStoreName), root), 0);
    program_.files->process().set_read_patience(std::chrono::seconds(3));
    machine_.cluster.stand_still(root.attributes["id"]);
    const std::uint64_t before = fresh().hits;
    read_rows(1);
    EXPECT_GT(fresh().hits, before + kRows / 8);
    machine_.cluster.go_on();
    program_.files->process().set_read_patience(std::chrono::seconds(0));
  }

  const TreeShape usual_ = tree_shape();
  test::RadosMachine machine_;
  test::RadosProgram& program_;
  const std::shared_ptr<BlockCache> blocks_ = std::make_shared<BlockCache>(machine_.scheduler(), kBlockCacheBytes);
  std::unique_ptr<Engine> engine_;
  int round_ = 0;
};

TEST_F(RadosLocalCache, HasTheBlocksOfAFlush) {
  ASSERT_NE(engine_, nullptr);
  write_and_flush();
  EXPECT_GE(fresh().taken_bytes, kRows * kRowBytes);
  read_without_the_cluster();
  EXPECT_TRUE(is_ok(engine_->close()));
}

TEST_F(RadosLocalCache, IsPassedWhereItHasBytesOfAnotherFileOfTheSameName) {
  ASSERT_NE(engine_, nullptr);
  write_and_flush();
  // A pool that was restored from a copy may use the names of objects again.
  const io::Bytes other(format::kTableFooterBytes, std::byte{7});
  for (const std::string& object : machine_.cluster.names()) {
    io::ObjectLook look;
    ASSERT_EQ(program_.door->look(object, look), 0);
    if (look.size_bytes < other.size()) continue;
    program_.files->process().read_cache()->keep(object, look.size_bytes - other.size(), other);
  }
  EXPECT_EQ(program_.files->process().read_cache()->figures().hits, 0U);
  read_rows(20);
  EXPECT_GT(program_.files->process().read_cache()->figures().hits, 0U);
  EXPECT_TRUE(is_ok(engine_->close()));
}

TEST_F(RadosLocalCache, HasTheBlocksOfAMergeOfCachedOnesAndOfNoOther) {
  ASSERT_NE(engine_, nullptr);
  write_and_flush();
  write_and_flush();
  ASSERT_TRUE(is_ok(engine_->compact()));
  EXPECT_GE(fresh().taken_bytes, 3 * kRows * kRowBytes) << "two flushes and a merge";
  read_without_the_cluster();
  const std::uint64_t merged = engine_->statistics().compaction_written_bytes;
  write_and_flush();
  write_and_flush();
  forget_blocks();
  const std::uint64_t taken = fresh().taken_bytes;
  ASSERT_TRUE(is_ok(engine_->compact()));
  ASSERT_GT(engine_->statistics().compaction_written_bytes, merged);
  EXPECT_LT(fresh().taken_bytes, taken + kRows * kRowBytes / 8) << "blocks that were not cached replace none";
  EXPECT_TRUE(is_ok(engine_->close()));
}

}  // namespace
}  // namespace varve::engine::rados_local_cache_test
