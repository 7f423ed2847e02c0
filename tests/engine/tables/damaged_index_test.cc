// Goal: content of an index partition that is impossible, or unknown to this build, is reported as such by every move
// of a cursor and by lookups.
// Method: a file of three runs, whose middle one has only deletes. A byte of its partition is changed, with a correct
// checksum.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "engine/tables/table_lookup.h"
#include "engine/tables/table_scan.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/table/index_cursor.h"
#include "format/table/table_builder.h"
#include "format/table/table_index.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::damaged_index_test {
namespace {

constexpr std::uint64_t kFileSeed = 0x1dec;
constexpr std::uint64_t kFileNumber = 61;
constexpr CommitVersion kAnyVersion = format::kCommitVersionMax;

std::string row_of(std::string_view partition, int row) {
  return test::key_of(partition, std::to_string(10'000 + row));
}

class DamagedIndex : public testing::Test {
 protected:
  void SetUp() override {
    const auto whole = *format::TableBuilder::make(kFileNumber, kFileSeed, uncompressed());
    for (const char* const partition : {"a", "b", "c"}) append_run(*whole, partition);
    entry_ = *whole->finish();
    bytes_ = whole->pending();
    open();
    const std::vector<format::RunEntry>& runs = (*file_->open())->index.runs();
    ASSERT_EQ(runs.size(), 3u);
    run_ = runs[1];
  }
  static format::TableOptions uncompressed() {
    format::TableOptions options;
    options.compression_level = 0;
    return options;
  }
  /// Appends a separate run, like a compaction that copies runs.
  void append_run(format::TableBuilder& whole, std::string_view partition) {
    const auto builder = *format::TableBuilder::make(1, kFileSeed, uncompressed());
    const bool deletes = partition == "b";
    for (int row = 0; row < kRows; ++row) {
      const std::string value = deletes ? std::string() : std::string(100, 'v');
      ASSERT_TRUE(builder->add({row_of(partition, row), 50, deletes ? Kind::kDelete : Kind::kPut, value}).ok());
    }
    entry_ = *builder->finish();
    bytes_ = builder->pending();
    open();
    std::atomic<std::uint64_t> read_bytes{0};
    TableScan scan(*file_, read_bytes);
    ASSERT_TRUE(scan.whole_run().has_value());
    format::Decompressor decompressor;
    ASSERT_TRUE(whole.append_run(*scan.whole_run(), decompressor).ok());
  }
  void open() {
    const std::string name = format::file_name(format::FileType::kTable, entry_.number);
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + name, format::as_bytes(bytes_));
    file_.reset();
    files_.reset();
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(scheduler_, 1 << 20);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(env_->scheduler), [] {});
    reader_ = std::make_unique<BlockReader>(scheduler_, *cache_);
    file_ = files_->add(entry_);
  }
  std::string partition() const {
    format::Decompressor decompressor;
    const format::BlockHandle handle = run_.index();
    return *format::decode_block(std::string_view(bytes_).substr(handle.offset, handle.bytes),
                                 {kFileSeed, handle.offset}, format::BlockType::kIndexPartition, decompressor, nullptr);
  }
  void replace_partition(const std::string& content) {
    const format::BlockHandle handle = run_.index();
    std::string block;
    format::append_block(block, format::BlockType::kIndexPartition, content, nullptr, format::DictionaryUse::kNever,
                         {kFileSeed, handle.offset});
    ASSERT_EQ(block.size(), handle.bytes);
    bytes_.replace(handle.offset, handle.bytes, block);
    open();
  }
  /// Changes one byte of the entry to which `seek` moves a cursor, so that it looks like one of a newer build.
  void make_newer(const std::function<void(format::IndexCursor&)>& seek) {
    const std::string content = partition();
    for (std::size_t at = 0; at < content.size(); ++at) {
      std::string changed = content;
      // Replaces the tag "deletes alone" by the next one, which is odd.
      changed[at] = static_cast<char>(changed[at] ^ 1);
      format::IndexCursor cursor;
      if (!cursor.open(changed, run_).ok()) continue;
      seek(cursor);
      if (cursor.valid() || cursor.status().code() != Code::kUnsupported) continue;
      return replace_partition(changed);
    }
    FAIL() << "no byte does";
  }
  void expect_unsupported(const Status& status) const {
    EXPECT_EQ(status.code(), Code::kUnsupported) << status.to_string();
    EXPECT_NE(status.message().find(format::file_name(format::FileType::kTable, kFileNumber)), std::string_view::npos)
        << status.to_string();
  }
  TableCursor cursor() { return TableCursor(*file_, *reader_, nullptr); }

  static constexpr int kRows = 1'500;
  io::Scheduler scheduler_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> files_;
  std::unique_ptr<BlockReader> reader_;
  std::shared_ptr<TableFile> file_;
  format::TableFileEntry entry_;
  std::string bytes_;
  format::RunEntry run_;
};

TEST_F(DamagedIndex, UnharmedItIsWalkedWhole) {
  TableCursor walk = cursor();
  int entries = 0;
  for (walk.seek("", kAnyVersion); walk.valid(); walk.next()) ++entries;
  EXPECT_EQ(walk.status().to_string(), "Ok");
  EXPECT_EQ(entries, 3 * kRows);
}

TEST_F(DamagedIndex, OfANewerBuildEndsAWalkThatComesToItsFirstBlock) {
  make_newer([](format::IndexCursor& index) { index.seek_to_first(); });
  TableCursor walk = cursor();
  int entries = 0;
  for (walk.seek("", kAnyVersion); walk.valid(); walk.next()) ++entries;
  EXPECT_EQ(entries, kRows);
  expect_unsupported(walk.status());
  std::atomic<std::uint64_t> read_bytes{0};
  TableScan scan(*file_, read_bytes);
  while (scan.valid()) scan.next();
  expect_unsupported(scan.status());
}

TEST_F(DamagedIndex, OfANewerBuildEndsAWalkThatComesToItsLastBlock) {
  make_newer([](format::IndexCursor& index) { index.seek_to_last(); });
  TableCursor walk = cursor();
  int entries = 0;
  for (walk.seek_to_last(); walk.valid(); walk.previous()) ++entries;
  EXPECT_EQ(entries, kRows);
  expect_unsupported(walk.status());
}

TEST_F(DamagedIndex, OfANewerBuildIsToldByEverySeek) {
  const std::string first = row_of("b", 0);
  make_newer([&](format::IndexCursor& index) { index.seek(first, kAnyVersion); });
  TableCursor walk = cursor();
  walk.seek(first, kAnyVersion);
  expect_unsupported(walk.status());
  walk.seek_before(first);
  expect_unsupported(walk.status());
  ReadCost cost;
  TableCursor passing(*file_, *reader_, &cost);
  for (passing.seek(row_of("b", kRows - 1), kAnyVersion); passing.valid() && passing.pass_deletes_backward("");) {
  }
  expect_unsupported(passing.status());
}

TEST_F(DamagedIndex, OfANewerBuildEndsAWalkBackOverDeletesToABound) {
  const std::string middle = row_of("b", kRows / 2);
  make_newer([&](format::IndexCursor& index) { index.seek(middle, kAnyVersion); });
  const std::string bound = row_of("b", 1);
  TableCursor walk = cursor();
  walk.seek(row_of("b", kRows - 1), kAnyVersion);
  ASSERT_TRUE(walk.valid());
  while (walk.valid() && walk.entry().sort_key > bound) {
    if (!walk.pass_deletes_backward(bound) && walk.valid()) walk.previous();
  }
  expect_unsupported(walk.status());
}

TEST_F(DamagedIndex, ThatEndsBeforeItsRunsLargestKeyIsToldByEveryLook) {
  const std::string largest = run_.largest_key;
  const std::string content = partition();
  bool was_changed = false;
  for (std::size_t at = 0; at < content.size() && !was_changed; ++at) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    format::IndexCursor index;
    if (!index.open(changed, run_).ok()) continue;
    index.seek(largest, kAnyVersion);
    was_changed = !index.valid() && index.status().ok();
    if (was_changed) replace_partition(changed);
  }
  ASSERT_TRUE(was_changed);
  constexpr std::string_view kWhy = "the index ends before its run's largest key";
  TableCursor walk = cursor();
  walk.seek(largest, kAnyVersion);
  EXPECT_NE(walk.status().message().find(kWhy), std::string_view::npos) << walk.status().to_string();
  walk.seek_before(largest);
  EXPECT_NE(walk.status().message().find(kWhy), std::string_view::npos) << walk.status().to_string();

  TableLookup lookup;
  const LookupKey key{largest, format::content_hash(largest), kAnyVersion};
  lookup.begin(key, **file_->open(), nullptr);
  PinnedBlock block;
  LookupStep step = lookup.advance(nullptr);
  while (step == LookupStep::kWantsBlock) {
    block = *reader_->get(lookup.wanted());
    step = lookup.advance(&*block);
  }
  ASSERT_EQ(step, LookupStep::kFailed);
  EXPECT_EQ(lookup.status().code(), Code::kCorruption);
  EXPECT_NE(lookup.status().message().find(kWhy), std::string_view::npos) << lookup.status().to_string();
}

}  // namespace
}  // namespace varve::engine::damaged_index_test
