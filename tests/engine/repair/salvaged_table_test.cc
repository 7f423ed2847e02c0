// Goal: from a table file with correct checksums and impossible content, the possible entries are saved, and the rest
// is reported as lost. Content that a newer build may have written ends the repair.
// Method: a file of several blocks, one of which is rebuilt.
#include "engine/repair/salvaged_table.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/block/data_block.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/table/index_cursor.h"
#include "format/table/table_builder.h"
#include "format/table/table_footer.h"
#include "format/table/table_index.h"
#include "tests/support/engine_bench.h"
#include "tests/support/store_image.h"

namespace varve::engine::salvaged_table_test {
namespace {

using format::BlockHandle;
using format::BlockType;

constexpr std::uint64_t kNumber = 9;
constexpr std::uint64_t kSeed = 0x1122334455667788;
constexpr int kRowCount = 400;
constexpr CommitVersion kVersion = 30;

std::string row_key(int row) {
  return test::key_of("p", std::to_string(1'000 + row));
}

class SalvagedTableTest : public testing::Test {
 protected:
  void SetUp() override {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(kNumber, kSeed, options);
    for (int row = 0; row < kRowCount; ++row) {
      ASSERT_TRUE(builder->add({row_key(row), kVersion, Kind::kPut, std::string(100, 'v')}).ok());
    }
    const Result<format::TableFileEntry> finished = builder->finish();
    ASSERT_TRUE(finished.ok()) << finished.status().to_string();
    bytes_ = builder->pending();
    source_.name = format::file_name(format::FileType::kTable, kNumber);
    source_.entry = *finished;
    source_.is_named = source_.has_bounds = true;
    const auto read = [this](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
      return std::string_view(bytes_).substr(offset, bytes);
    };
    const auto index = format::open_table({kNumber, kSeed, bytes_.size()}, read, decompressor_);
    ASSERT_TRUE(index.ok()) << index.status().to_string();
    run_ = index->runs().front();
    const std::string partition = content(run_.index(), BlockType::kIndexPartition);
    format::IndexCursor cursor;
    ASSERT_TRUE(cursor.open(partition, run_).ok());
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) blocks_.push_back(cursor.block());
    ASSERT_GE(blocks_.size(), 4u);
  }

  std::string content(const BlockHandle& handle, BlockType type) {
    return *format::decode_block(std::string_view(bytes_).substr(handle.offset, handle.bytes), {kSeed, handle.offset},
                                 type, decompressor_, nullptr);
  }
  void replace(const BlockHandle& handle, BlockType type, const std::string& content) {
    std::string block;
    format::append_block(block, type, content, nullptr, format::DictionaryUse::kNever, {kSeed, handle.offset});
    ASSERT_EQ(block.size(), handle.bytes);
    bytes_.replace(handle.offset, handle.bytes, block);
  }
  /// Replaces the keys in the data block by keys of equal length.
  void rename(const BlockHandle& handle, const std::function<void(std::string& key)>& change) {
    const std::string before = content(handle, BlockType::kData);
    format::DataBlockCursor cursor;
    ASSERT_TRUE(cursor.open(before).ok());
    format::DataBlockBuilder builder;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      std::string key(cursor.key());
      change(key);
      builder.add({key, cursor.version(), cursor.kind(), cursor.value()}, format::content_hash(key));
    }
    replace(handle, BlockType::kData, std::string(builder.finish()));
  }
  /// Makes the block claim another compression. Its checksum is correct.
  void say_compression(const BlockHandle& handle, std::uint8_t compression) {
    constexpr std::size_t kCompressionAt = 5;
    std::string block = bytes_.substr(handle.offset, handle.bytes - format::kChecksumBytes);
    block[kCompressionAt] = static_cast<char>(compression);
    const std::uint64_t checksum = format::checksum_at({kSeed, handle.offset}, block);
    format::append_u64(block, checksum);
    bytes_.replace(handle.offset, handle.bytes, block);
  }
  void flip(std::uint64_t offset) { bytes_[offset] = static_cast<char>(bytes_[offset] ^ 4); }
  format::TableFooter footer() const {
    const std::uint64_t offset = bytes_.size() - format::kTableFooterBytes;
    return *format::decode_table_footer(std::string_view(bytes_).substr(offset), {kSeed, offset});
  }
  void damage_footer() { flip(bytes_.size() - 5); }
  void change_header(const std::function<void(format::FileHeader&)>& change) {
    format::FileHeader header =
        *format::decode_file_header(bytes_.substr(0, format::kFileHeaderBytes), format::FileType::kTable);
    change(header);
    bytes_.replace(0, format::kFileHeaderBytes, format::encode_file_header(header));
  }
  /// Makes the file unnamed: only its own header describes it.
  void forget_name() {
    source_.entry = format::TableFileEntry();
    source_.entry.number = kNumber;
    source_.is_named = source_.has_bounds = false;
  }
  int rows_in(const BlockHandle& handle) {
    const std::string block = content(handle, BlockType::kData);
    format::DataBlockCursor cursor;
    EXPECT_TRUE(cursor.open(block).ok());
    int rows = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++rows;
    return rows;
  }

  /// Returns the number of saved rows. Each is checked.
  int salvage() {
    machine_.files.change_disk(
        [&](io::MemoryDisk& disk) { disk.write_file(test::path_of(source_.name), format::as_bytes(bytes_)); });
    return salvage_as_it_stands();
  }
  int salvage_as_it_stands() {
    salvage_ = std::make_unique<Salvage>(Salvage{*machine_.directory, {}, {}});
    SalvagedTable table(source_, *salvage_);
    int rows = 0;
    for (; table.valid(); table.next(), ++rows) {
      EXPECT_EQ(table.entry().value, std::string(100, 'v'));
      EXPECT_EQ(table.entry().version, kVersion);
    }
    status_ = table.status();
    return rows;
  }
  /// Fails every step in turn. Entries that were returned before the error belong to the file.
  void expect_every_error_told(std::uint64_t steps_min) {
    const int rows = salvage();
    ASSERT_EQ(status_.to_string(), "Ok");
    std::uint64_t step = 0;
    for (;; ++step) {
      SCOPED_TRACE(step);
      const std::uint64_t hits = machine_.files.faults().hit_count();
      machine_.files.faults().clear();
      machine_.files.faults().fail_nth(step, Code::kIoError);
      const int shown = salvage_as_it_stands();
      if (machine_.files.faults().hit_count() == hits) break;
      ASSERT_EQ(status_.code(), Code::kIoError) << "the error was not told";
      ASSERT_LE(shown, rows);
      ASSERT_TRUE(salvage_->losses.empty());
    }
    EXPECT_GE(step, steps_min);
  }
  void expect_lost_whole(std::string_view what) {
    EXPECT_EQ(salvage(), 0);
    EXPECT_EQ(status_.to_string(), "Ok");
    ASSERT_EQ(salvage_->losses.all().size(), 1u);
    EXPECT_EQ(salvage_->losses.all().front().file, source_.name);
    EXPECT_NE(salvage_->losses.all().front().what.find(what), std::string::npos) << salvage_->losses.all().front().what;
    EXPECT_EQ(salvage_->figures.report.table_files.damaged, 1u);
  }
  void expect_all_with_finding(std::string_view what) {
    EXPECT_EQ(salvage(), kRowCount);
    EXPECT_EQ(status_.to_string(), "Ok");
    EXPECT_TRUE(salvage_->losses.empty());
    ASSERT_FALSE(salvage_->figures.findings.empty());
    const std::string& finding = salvage_->figures.findings.back();
    EXPECT_NE(finding.find(source_.name), std::string::npos) << finding;
    EXPECT_NE(finding.find(what), std::string::npos) << finding;
  }
  void expect_refused() {
    salvage();
    EXPECT_EQ(status_.code(), Code::kUnsupported) << status_.to_string();
    EXPECT_NE(status_.message().find(source_.name), std::string_view::npos) << status_.to_string();
  }
  /// Expects that the one loss covers these blocks, with this description.
  void expect_loss(const BlockHandle& first, const BlockHandle& last, std::string_view what) {
    EXPECT_EQ(status_.to_string(), "Ok");
    ASSERT_EQ(salvage_->losses.all().size(), 1u);
    const Loss& loss = salvage_->losses.all().front();
    EXPECT_EQ(loss.file, source_.name);
    EXPECT_EQ(loss.offset, first.offset);
    EXPECT_EQ(loss.bytes, last.end() - first.offset);
    EXPECT_NE(loss.what.find(what), std::string::npos) << loss.what;
  }

  test::StoreMachine machine_;
  format::Decompressor decompressor_;
  std::string bytes_;
  TableSource source_;
  format::RunEntry run_;
  std::vector<BlockHandle> blocks_;
  std::unique_ptr<Salvage> salvage_;
  Status status_;
};

TEST_F(SalvagedTableTest, OfASoundFileIsAllOfIt) {
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_EQ(status_.to_string(), "Ok");
  EXPECT_TRUE(salvage_->losses.empty());
}

TEST_F(SalvagedTableTest, WithoutABlockWhoseKeysGoBack) {
  const int lost = rows_in(blocks_[2]);
  rename(blocks_[2], [](std::string& key) { key[key.size() - 6] = static_cast<char>(key[key.size() - 6] - 1); });
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_[2], blocks_[2], "contains keys out of order");
}

TEST_F(SalvagedTableTest, WithoutABlockWhoseKeysTheManifestDoesNotHaveInIt) {
  const int lost = rows_in(blocks_.back());
  rename(blocks_.back(), [](std::string& key) { key.front() = static_cast<char>(key.front() + 1); });
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_.back(), blocks_.back(), "contains keys out of order");
}

TEST_F(SalvagedTableTest, WithoutBlocksThatHoldNone) {
  const int lost = rows_in(blocks_[1]) + rows_in(blocks_[2]);
  for (const BlockHandle& block : {blocks_[1], blocks_[2]}) {
    replace(block, BlockType::kData, std::string(content(block, BlockType::kData).size(), '\xff'));
  }
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_[1], blocks_[2], "");
}

TEST_F(SalvagedTableTest, WithoutABlockThatIsNotCompressedAsItSays) {
  const BlockHandle handle = blocks_[1];
  const int lost = rows_in(handle);
  say_compression(handle, static_cast<std::uint8_t>(format::BlockCompression::kZstd));
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(handle, handle, "");
}

TEST_F(SalvagedTableTest, WithoutItsIndexPartitionFindsEveryBlockByItself) {
  const std::string index = content(run_.index(), BlockType::kIndexPartition);
  replace(run_.index(), BlockType::kIndexPartition, std::string(index.size(), '\xff'));
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_EQ(status_.to_string(), "Ok");
  EXPECT_TRUE(salvage_->losses.empty());
  EXPECT_EQ(salvage_->figures.findings.size(), 1u);
}

TEST_F(SalvagedTableTest, EndsARepairAtAKindOfANewerBuild) {
  std::string block = content(blocks_[1], BlockType::kData);
  const std::size_t at = block.find(std::string("\x01") + std::string(100, 'v'), block.size() / 2);
  ASSERT_NE(at, std::string::npos);
  block[at] = static_cast<char>(Kind::kMergeOperand);
  replace(blocks_[1], BlockType::kData, block);
  const int saved = salvage();
  EXPECT_EQ(status_.code(), Code::kUnsupported) << status_.to_string();
  EXPECT_GT(saved, rows_in(blocks_[0]));
  EXPECT_LT(saved, rows_in(blocks_[0]) + rows_in(blocks_[2]));
}

TEST_F(SalvagedTableTest, OfWhichTheManifestSaysOtherThingsIsSavedAndNoted) {
  const std::function<void(format::TableFileEntry&)> changes[] = {
      [](format::TableFileEntry& entry) { ++entry.entry_count; },
      [](format::TableFileEntry& entry) { entry.smallest_key = test::key_of("o", ""); },
      [](format::TableFileEntry& entry) { entry.largest_key = test::key_of("q", ""); },
      [](format::TableFileEntry& entry) { --entry.smallest_version; },
      [](format::TableFileEntry& entry) { ++entry.largest_version; },
  };
  const format::TableFileEntry before = source_.entry;
  for (const auto& change : changes) {
    source_.entry = before;
    change(source_.entry);
    EXPECT_EQ(salvage(), kRowCount);
    ASSERT_FALSE(salvage_->figures.findings.empty());
    EXPECT_NE(salvage_->figures.findings.front().find("its properties differ from those in the manifest"),
              std::string::npos);
  }
}

TEST_F(SalvagedTableTest, InWhosePlaceAnotherStandsIsReadByTheManifestsSeed) {
  change_header([](format::FileHeader& header) { ++header.number; });
  expect_all_with_finding("another file has taken its place");
  change_header([](format::FileHeader& header) { --header.number; });
  change_header([](format::FileHeader& header) { ++header.seed; });
  expect_all_with_finding("another file has taken its place");
}

TEST_F(SalvagedTableTest, ThatIsLongerThanTheManifestSaysIsReadAsFarAsItWas) {
  bytes_.append(4096, '\0');
  expect_all_with_finding("but the manifest records");
}

TEST_F(SalvagedTableTest, OfANewerBuildEndsARepair) {
  change_header([](format::FileHeader& header) { ++header.format_version; });
  expect_refused();
}

TEST_F(SalvagedTableTest, WithAnIndexOfANewerBuildEndsARepair) {
  const format::TableFooter parts = footer();
  say_compression(parts.top_index, 9);
  expect_refused();
}

TEST_F(SalvagedTableTest, WithoutFooterAndAnIndexThatIsOneIsSearchedForBlocks) {
  const format::TableFooter parts = footer();
  const std::string top_index = content(parts.top_index, BlockType::kTopIndex);
  replace(parts.top_index, BlockType::kTopIndex, std::string(top_index.size(), '\xff'));
  damage_footer();
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_TRUE(salvage_->losses.empty());
  flip(parts.properties.offset + 20);
  EXPECT_EQ(salvage(), kRowCount);
  ASSERT_EQ(salvage_->losses.all().size(), 1u);  // Without an index nothing shows that it had no rows.
  EXPECT_EQ(salvage_->losses.all().front().offset, parts.properties.offset);
}

TEST_F(SalvagedTableTest, ThatIsNoRegularFileIsLostWhole) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kOpen;
  rule.code = Code::kCorruption;
  rule.reason = "not a regular file but a directory";
  machine_.files.faults().add(rule);
  expect_lost_whole("not a regular file");
  EXPECT_EQ(salvage_->losses.all().front().smallest_key, source_.entry.smallest_key);
}

TEST_F(SalvagedTableTest, WithoutANameIsReadByItsOwnHeader) {
  forget_name();
  EXPECT_EQ(salvage(), kRowCount);
  EXPECT_TRUE(salvage_->losses.empty());
  damage_footer();
  EXPECT_EQ(salvage(), kRowCount);
}

TEST_F(SalvagedTableTest, WithoutANameAndWithAnotherFilesNumberIsLostWhole) {
  forget_name();
  change_header([](format::FileHeader& header) { ++header.number; });
  expect_lost_whole("its header has the number of another file");
}

TEST_F(SalvagedTableTest, WithoutANameAndAHeaderIsLostWhole) {
  forget_name();
  flip(20);
  expect_lost_whole("");
}

TEST_F(SalvagedTableTest, ThatIsShorterThanAHeaderIsLostWhole) {
  forget_name();
  bytes_.resize(50);
  expect_lost_whole("");
}

TEST_F(SalvagedTableTest, OfWhichTheManifestSaysThatItHasNoRoomForAFooterIsSearchedForBlocks) {
  source_.entry.size_bytes = format::kTableFooterBytes - 1;
  salvage();
  EXPECT_EQ(status_.to_string(), "Ok");
  ASSERT_GE(salvage_->figures.findings.size(), 2u);
  EXPECT_NE(salvage_->figures.findings[1].find("its end is missing"), std::string::npos);
}

TEST_F(SalvagedTableTest, WithoutABlockBelowItsFirstKey) {
  const int lost = rows_in(blocks_.front());
  rename(blocks_.front(), [](std::string& key) { key.front() = static_cast<char>(key.front() - 1); });
  EXPECT_EQ(salvage(), kRowCount - lost);
  expect_loss(blocks_.front(), blocks_.front(), "contains keys out of order");
}

TEST_F(SalvagedTableTest, TellsEveryError) {
  expect_every_error_told(6);
}

TEST_F(SalvagedTableTest, TellsEveryErrorWithoutItsFooter) {
  damage_footer();
  expect_every_error_told(6);
}

TEST_F(SalvagedTableTest, TellsEveryErrorWithoutItsNameAndIndex) {
  forget_name();
  const format::TableFooter parts = footer();
  flip(parts.top_index.offset + 20);
  damage_footer();
  expect_every_error_told(4);
}

}  // namespace
}  // namespace varve::engine::salvaged_table_test
