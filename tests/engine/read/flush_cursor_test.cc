// Goal: a scan inside a published range of a merge finds nothing in a merged file of level 0, whatever its flush has.
// Method: a flush of three files, of which a merge has one. A newer file of another flush is in the merge too.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/levels/levels.h"
#include "engine/memory/memtable.h"
#include "engine/read/state_cursor.h"
#include "engine/tables/table_file.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::flush_cursor_test {
namespace {

struct Row {
  const char* row;
  CommitVersion version;
  Kind kind = Kind::kPut;
};

std::string key(const char* row) {
  return test::key_of("p", row);
}

class FlushCursorTest : public testing::Test {
 protected:
  void add_file(std::uint64_t number, std::uint32_t level, const std::vector<Row>& rows, bool is_in_merge = false) {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(number, 1, options);
    for (const Row& row : rows) {
      ASSERT_TRUE(builder->add({key(row.row), row.version, row.kind, row.kind == Kind::kPut ? "v" : ""}).ok());
    }
    LevelFile file{*builder->finish(), nullptr};
    file.entry.level = level;
    if (is_in_merge) add_span(file.merged, {{}, kMergedTo});
    disk_.write_file(std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, number),
                     format::as_bytes(builder->pending()));
    files_.push_back(std::move(file));
  }
  void open() {
    machine_ = std::make_unique<test::Machine>(1, std::move(disk_));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(scheduler_, std::uint64_t{1} << 20);
    blocks_.emplace(scheduler_, *cache_);
    tables_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler), [] {});
    std::vector<LevelFilePtr> all;
    for (LevelFile& file : files_) {
      file.table = tables_->add(file.entry);
      all.push_back(std::make_shared<const LevelFile>(file));
    }
    files_.clear();
    state_ = {std::make_shared<Memtable>(), {}, std::make_shared<const Levels>(*Levels::make(std::move(all)))};
  }
  void TearDown() override { state_ = ReadState(); }

  /// Returns the rows with their versions, as a scan of [from, to) meets them.
  std::string scan(const char* from, const char* to, bool backward) {
    const std::string lower = key(from);
    const std::string upper = key(to);
    Wanted wanted;
    wanted.lower = lower;
    wanted.upper = upper;
    const auto cursor = cursor_over(state_, *blocks_, nullptr, wanted);
    std::string found;
    backward ? cursor->seek_before(wanted.upper) : cursor->seek(wanted.lower, format::kCommitVersionMax);
    while (cursor->valid() && cursor->entry().sort_key >= wanted.lower && cursor->entry().sort_key < wanted.upper) {
      const Entry entry = cursor->entry();
      found += (*format::decode_sort_key(entry.sort_key)).row_key + "@" + std::to_string(entry.version) +
               (entry.kind == Kind::kPut ? " " : "- ");
      backward ? cursor->previous() : cursor->next();
    }
    EXPECT_EQ(cursor->status().to_string(), "Ok");
    return found;
  }

  const std::string kMergedTo = key("k5");
  io::MemoryDisk disk_;
  io::Scheduler scheduler_;
  std::vector<LevelFile> files_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::optional<BlockReader> blocks_;
  std::unique_ptr<TableFiles> tables_;
  ReadState state_;
};

TEST_F(FlushCursorTest, AMergedFileIsNotReadWithTheOthersOfItsFlush) {
  add_file(11, 0, {{"b1", 3}, {"b2", 6}});
  add_file(12, 0, {{"d1", 2}, {"d2", 6}});
  add_file(13, 0, {{"k3", 5}, {"k7", 4}}, true);
  add_file(14, 0, {{"k3", 9, Kind::kDelete}, {"k8", 9}}, true);
  add_file(15, 6, {{"k1", 1}});  // The merge has dropped both entries of k3.
  open();
  ASSERT_EQ(state_.tables->flush_count(), 2U);
  EXPECT_EQ(scan("b1", "k4", false), "b1@3 b2@6 d1@2 d2@6 k1@1 ");
  EXPECT_EQ(scan("b1", "k4", true), "k1@1 d2@6 d1@2 b2@6 b1@3 ");
  EXPECT_EQ(scan("c", "k4", false), "d1@2 d2@6 k1@1 ");
  EXPECT_EQ(scan("k2", "k4", false), "");
  // Beyond the published range, both inputs of the merge are read.
  EXPECT_EQ(scan("d2", "k9", false), "d2@6 k1@1 k3@9- k3@5 k7@4 k8@9 ");
  EXPECT_EQ(scan("d2", "k9", true), "k8@9 k7@4 k3@5 k3@9- k1@1 d2@6 ");
}

}  // namespace
}  // namespace varve::engine::flush_cursor_test
