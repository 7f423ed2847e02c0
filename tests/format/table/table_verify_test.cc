// Owns: the tests of deep verification: every changed byte of a file is found, and no read gives a wrong answer.
// Must never: leave out a byte or a length of the sample file.
#include "format/table/table_verify.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/table/index_cursor.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::table_verify_test {
namespace {

/// Returns the smallest file with every part: two runs (one copied), two dictionaries, three tables, a key in several
/// versions.
TableFile small_file() {
  std::vector<OwnedEntry> copied;
  for (std::uint64_t row = 0; row < 6; ++row)
    copied.push_back({sample_key(2, 1, row), 900, Kind::kPut, sample_value(3)});
  TableOptions options;
  options.dictionary = sample_dictionary(1).substr(0);
  const TableFile source = build_table(copied, options, 50, 5);
  const TableReading reading(source);
  const auto builder = *TableBuilder::make(kSampleNumber, kSampleSeed, {});
  for (CommitVersion version = 30; version > 0; version -= 10) {
    EXPECT_TRUE(builder->add({sample_key(1, 1, 1), version, Kind::kPut, "v"}).ok());
  }
  EXPECT_TRUE(builder->add({sample_key(1, 2, 1), 7, Kind::kDelete, ""}).ok());
  const RunEntry& run = reading.index().runs()[0];
  RunSource run_source{&run, source.entry.seed, std::string_view(source.bytes).substr(run.offset, run.bytes()), ""};
  if (run.dictionary_hash.has_value()) run_source.dictionary = options.dictionary;
  EXPECT_TRUE(run.dictionary_hash.has_value());
  Decompressor decompressor;
  EXPECT_TRUE(builder->append_run(run_source, decompressor).ok());
  EXPECT_TRUE(builder->add({sample_key(3, 1, 1), 31, Kind::kPut, sample_value(4)}).ok());
  return finish_table(*builder);
}

Status verify(const TableFile& file, const std::string& bytes) {
  const TableFileName name{file.entry.number, file.entry.seed, bytes.size()};
  return verify_table(name, TableFile::reader_of(bytes), nullptr).status();
}

/// Reads everything that can be read without an error, and compares it.
void expect_no_wrong_answer(const TableFile& file, const std::string& bytes, const std::vector<OwnedEntry>& entries) {
  Decompressor decompressor;
  if (!open_table(file.name(), TableFile::reader_of(bytes), decompressor).ok()) return;
  TableFile changed = file;
  changed.bytes = bytes;
  TableReading reading(changed);
  if (const auto all = reading.scan("", kCommitVersionMax); all.ok()) {
    ASSERT_EQ(*all, entries);
  }
  for (const OwnedEntry& entry : entries) {
    const auto found = reading.find(entry.key, entry.version);
    if (found.ok()) {
      ASSERT_TRUE(found->has_value());
      ASSERT_EQ(**found, entry);
    }
  }
}

TEST(TableVerify, EveryFlippedByteIsFoundAndNoReadIsWrong) {
  const TableFile file = small_file();
  ASSERT_TRUE(verify(file, file.bytes).ok()) << verify(file, file.bytes).to_string();
  const std::vector<OwnedEntry> entries = *TableReading(file).scan("", kCommitVersionMax);
  ASSERT_EQ(entries.size(), 11u);
  const TableReading original(file);
  const std::uint64_t dictionaries = original.index().runs().back().end();
  const std::uint64_t dictionaries_end = original.index().footer().directory.offset;
  std::string bytes = file.bytes;
  RandomValues random(1);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char mask = static_cast<char>(1 << random.below(8));
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    const Status status = verify(file, bytes);
    ASSERT_TRUE(status.code() == Code::kCorruption || (at < 64 && status.code() == Code::kUnsupported))
        << at << ": " << status.to_string();
    // A damaged dictionary prevents opening the sample's reader. The check above has found it.
    const bool in_dictionary = at >= dictionaries && at < dictionaries_end;
    if (!in_dictionary) expect_no_wrong_answer(file, bytes, entries);
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
  }
}

TEST(TableVerify, EveryTruncationIsFound) {
  const TableFile file = small_file();
  for (std::size_t kept = 0; kept < file.bytes.size(); ++kept) {
    const Status status = verify(file, file.bytes.substr(0, kept));
    ASSERT_EQ(status.code(), Code::kCorruption) << kept << ": " << status.to_string();
  }
  EXPECT_EQ(verify(file, file.bytes + std::string(kSectorBytes, '\0')).code(), Code::kCorruption);
}

TEST(TableVerify, AFileInAnothersPlaceIsFound) {
  const TableFile file = small_file();
  for (const TableFileName name : {TableFileName{file.entry.number + 1, file.entry.seed, file.bytes.size()},
                                   TableFileName{file.entry.number, file.entry.seed + 1, file.bytes.size()}}) {
    EXPECT_EQ(verify_table(name, file.reader(), nullptr).code(), Code::kCorruption);
  }
}

TEST(TableVerify, ErrorsOfTheReaderAreHandedOn) {
  const TableFile file = small_file();
  const ReadBytes all = file.reader();
  std::uint64_t reads = 0;
  std::uint64_t fail_at = ~std::uint64_t{0};
  const ReadBytes read = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
    if (++reads == fail_at) return Status::io_error("the disk is gone");
    return all(offset, bytes);
  };
  ASSERT_TRUE(verify_table(file.name(), read, nullptr).ok());
  const std::uint64_t needed = reads;
  EXPECT_GT(needed, 10u);
  for (fail_at = 1; fail_at <= needed; ++fail_at) {
    reads = 0;
    EXPECT_EQ(verify_table(file.name(), read, nullptr).code(), Code::kIoError) << fail_at;
  }
}

class Counts : public TableVisitor {
 public:
  void on_index(const TableIndex& index) override { runs_expected = index.runs().size(); }
  void on_run(const RunEntry&) override { ++runs; }
  void on_block(const BlockHandle& handle, const BlockFrame& frame) override {
    ++blocks[static_cast<std::size_t>(frame.type)];
    bytes += handle.bytes;
  }
  void on_entry(const DataEntry& entry) override { entries.push_back(owned(entry)); }
  void on_directory(const std::vector<DirectoryEntry>& directory) override { tables = directory.size(); }

  std::size_t runs_expected = 0;
  std::size_t runs = 0;
  std::size_t tables = 0;
  std::uint64_t bytes = 0;
  std::vector<OwnedEntry> entries;
  std::array<std::size_t, 8> blocks{};
};

TEST(TableVerify, VisitorIsShownEveryBlockOnce) {
  const TableFile file = small_file();
  Counts counts;
  ASSERT_TRUE(verify_table(file.name(), file.reader(), &counts).ok());
  EXPECT_EQ(counts.runs, 3u);
  EXPECT_EQ(counts.runs_expected, 3u);
  EXPECT_EQ(counts.tables, 3u);
  EXPECT_EQ(counts.entries, *TableReading(file).scan("", kCommitVersionMax));
  const std::array<std::size_t, 8> expected = {0, 3, 3, 3, 1, 1, 1, 1};
  EXPECT_EQ(counts.blocks, expected);
  EXPECT_EQ(counts.bytes + kFileHeaderBytes, TableReading(file).index().footer().top_index.end());
}

/// Splits a file, and joins it again with one change and correct checksums.
class Forger {
 public:
  explicit Forger(const TableFile& file) : file_(file), bytes_(file.bytes), reading_(file) {}

  std::string content(const BlockHandle& handle, BlockType type) {
    return *decode_block(std::string_view(bytes_).substr(handle.offset, handle.bytes), {kSampleSeed, handle.offset},
                         type, decompressor_, nullptr);
  }

  /// Replaces the content of the uncompressed block by content of the same size.
  void replace(const BlockHandle& handle, BlockType type, const std::string& content) {
    std::string block;
    append_block(block, type, content, nullptr, DictionaryUse::kNever, {kSampleSeed, handle.offset});
    ASSERT_EQ(block.size(), handle.bytes);
    bytes_.replace(handle.offset, handle.bytes, block);
  }

  /// Marks an uncompressed block as compressed.
  void call_compressed(const BlockHandle& handle) {
    std::string block = bytes_.substr(handle.offset, handle.bytes - kChecksumBytes);
    block[kCompressionAt] = static_cast<char>(BlockCompression::kZstd);
    const FilePlace place{kSampleSeed, handle.offset};
    append_u64(block, checksum_at(place, block));
    bytes_.replace(handle.offset, handle.bytes, block);
  }

  Status verify() const { return table_verify_test::verify(file_, bytes_); }
  /// Returns the data blocks of the file's first run.
  std::vector<BlockHandle> data_blocks() {
    const RunEntry& run = index().runs()[0];
    const std::string partition = content(run.index(), BlockType::kIndexPartition);
    IndexCursor cursor;
    EXPECT_TRUE(cursor.open(partition, run).ok());
    std::vector<BlockHandle> blocks;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) blocks.push_back(cursor.block());
    return blocks;
  }
  const TableIndex& index() const { return reading_.index(); }
  void restore() { bytes_ = file_.bytes; }

 private:
  static constexpr std::size_t kCompressionAt = 5;
  const TableFile& file_;
  std::string bytes_;
  TableReading reading_;
  Decompressor decompressor_;
};

/// Flips every bit of a block's content, with correct checksums: only the deep check can find it.
void expect_every_bit_matters(Forger& forger, const BlockHandle& handle, BlockType type, std::size_t* overlooked) {
  const std::string content = forger.content(handle, type);
  for (std::size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string changed = content;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    forger.replace(handle, type, changed);
    const Status status = forger.verify();
    if (status.ok()) ++*overlooked;
    ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption || status.code() == Code::kUnsupported)
        << status.to_string();
  }
  forger.restore();
}

TEST(TableVerify, ForgedIndexesAreFound) {
  std::vector<OwnedEntry> entries;
  RandomValues random(3);
  for (std::uint64_t row = 0; row < 12; ++row) {
    entries.push_back({sample_key(1 + row / 6, row % 3, row), 50 + row, Kind::kPut, random.bytes(1000)});
  }
  std::sort(entries.begin(), entries.end(), before);
  TableOptions options;
  options.compression_level = 0;
  const TableFile file = build_table(entries, options);
  Forger forger(file);
  const RunEntry& run = forger.index().runs()[0];
  ASSERT_GE(run.block_count, 3u);
  std::size_t overlooked = 0;
  expect_every_bit_matters(forger, forger.index().footer().properties, BlockType::kProperties, &overlooked);
  expect_every_bit_matters(forger, forger.index().footer().top_index, BlockType::kTopIndex, &overlooked);
  expect_every_bit_matters(forger, forger.index().footer().directory, BlockType::kTableDirectory, &overlooked);
  EXPECT_EQ(overlooked, 0u);
  // A separator may be any key between two blocks, so a few other bits are valid too.
  expect_every_bit_matters(forger, run.index(), BlockType::kIndexPartition, &overlooked);
  EXPECT_LT(overlooked, 16u * run.block_count);
}

TEST(TableVerify, ForgedEntriesAreFound) {
  // Each of the two versions is the smallest or the largest, so no other version is valid.
  const std::vector<OwnedEntry> entries = {{sample_key(1, 1, 1), 30, Kind::kPut, "aaaa"},
                                           {sample_key(1, 1, 2), 10, Kind::kPut, "bbbb"}};
  TableOptions options;
  options.compression_level = 0;
  const TableFile file = build_table(entries, options);
  Forger forger(file);
  const BlockHandle block{64, forger.index().runs()[0].data_bytes};
  const std::string content = forger.content(block, BlockType::kData);
  const std::size_t first_value = content.find("aaaa");
  const std::size_t second_value = content.find("bbbb");
  for (std::size_t at = 0; at < content.size(); ++at) {
    const bool value_byte =
        (at >= first_value && at < first_value + 4) || (at >= second_value && at < second_value + 4);
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      forger.replace(block, BlockType::kData, changed);
      EXPECT_EQ(forger.verify().ok(), value_byte) << at << ' ' << bit << ": " << forger.verify().to_string();
    }
  }
}

TEST(TableVerify, AFilterWithoutAKeyIsFound) {
  const TableFile file =
      build_table({{sample_key(1, 1, 1), 30, Kind::kPut, "a"}, {sample_key(1, 2, 1), 30, Kind::kPut, "b"}});
  Forger forger(file);
  const BlockHandle filter = forger.index().runs()[0].filter();
  const std::string content = forger.content(filter, BlockType::kFilterPartition);
  constexpr std::size_t kBloomHeadBytes = 6;
  const std::string emptied = content.substr(0, kBloomHeadBytes) + std::string(content.size() - kBloomHeadBytes, '\0');
  forger.replace(filter, BlockType::kFilterPartition, emptied);
  EXPECT_EQ(forger.verify().code(), Code::kCorruption);
}

TableOptions uncompressed() {
  TableOptions options;
  options.compression_level = 0;
  return options;
}

/// Changes each byte of a data block with one value to another value, one at a time. Returns the reports of all
/// changes.
std::string told_of_kinds(Forger& forger, const BlockHandle& block, Kind from, Kind to) {
  const std::string content = forger.content(block, BlockType::kData);
  std::string told;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] != static_cast<char>(from)) continue;
    std::string changed = content;
    changed[at] = static_cast<char>(to);
    forger.replace(block, BlockType::kData, changed);
    const Status status = forger.verify();
    EXPECT_EQ(status.code(), Code::kCorruption) << at;
    told.append(status.message()).append("; ");
  }
  forger.restore();
  return told;
}

TEST(TableVerify, ADeleteThatStandsForAPutIsFound) {
  const TableFile file = build_table(
      {{sample_key(1, 1, 1), 30, Kind::kPut, ""}, {sample_key(1, 1, 2), 10, Kind::kPut, ""}}, uncompressed());
  Forger forger(file);
  const std::string told = told_of_kinds(forger, forger.data_blocks().front(), Kind::kPut, Kind::kDelete);
  EXPECT_NE(told.find("the top index disagrees with the run's entries"), std::string::npos) << told;
}

TEST(TableVerify, APutAmongWhatIsCalledDeletesAloneIsFound) {
  const TableFile file = build_table(
      {{sample_key(1, 1, 1), 30, Kind::kDelete, ""}, {sample_key(1, 1, 2), 10, Kind::kDelete, ""}}, uncompressed());
  Forger forger(file);
  const std::string told = told_of_kinds(forger, forger.data_blocks().front(), Kind::kDelete, Kind::kPut);
  EXPECT_NE(told.find("the index partition says that it contains only deletes"), std::string::npos) << told;
}

TEST(TableVerify, AKeyThatGoesOnBehindDeletesThatAreSaidToEndItIsFound) {
  std::vector<OwnedEntry> deletes;
  // The rows start at 5, so that the last key of the first block and the first key of the second differ only in their
  // last digit. The keys after it are encoded by the bytes that they share with the first key.
  for (std::uint64_t row = 5; row < 3'000; ++row) deletes.push_back({sample_key(1, 1, row), 30, Kind::kDelete, ""});
  const TableFile file = build_table(deletes, uncompressed());
  Forger forger(file);
  const std::vector<BlockHandle> blocks = forger.data_blocks();
  ASSERT_GE(blocks.size(), 2u);
  // The second block is rebuilt. Its first key is the key of the first block's last entry.
  const std::string first_block = forger.content(blocks[0], BlockType::kData);
  DataBlockCursor cursor;
  ASSERT_TRUE(cursor.open(first_block).ok());
  cursor.seek_to_last();
  std::string key(cursor.key());
  const std::string second_block = forger.content(blocks[1], BlockType::kData);
  ASSERT_TRUE(cursor.open(second_block).ok());
  DataBlockBuilder builder;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    if (!builder.empty()) key = cursor.key();
    builder.add({key, cursor.version(), cursor.kind(), cursor.value()}, content_hash(key));
  }
  const std::string content(builder.finish());
  forger.replace(blocks[1], BlockType::kData, content);
  const Status status = forger.verify();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find("continues a key of the previous block"), std::string_view::npos)
      << status.to_string();
}

TEST(TableVerify, ADictionaryThatNoBlockNeedsIsFound) {
  const std::string dictionary = sample_dictionary(1);
  const TableFile source = build_table({{sample_key(1, 1, 1), 30, Kind::kPut, "a"}}, uncompressed(), 50, 5);
  RunEntry run = TableReading(source).index().runs()[0];
  run.dictionary_hash = content_hash(dictionary);
  const RunSource forged{&run, source.entry.seed, std::string_view(source.bytes).substr(run.offset, run.bytes()),
                         dictionary};
  const auto builder = *TableBuilder::make(kSampleNumber, kSampleSeed, uncompressed());
  Decompressor decompressor;
  ASSERT_TRUE(builder->append_run(forged, decompressor).ok());
  const TableFile file = finish_table(*builder);
  const Status status = verify(file, file.bytes);
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_NE(status.message().find("names a dictionary that none of its blocks needs"), std::string_view::npos)
      << status.to_string();
}

TEST(TableVerify, WhatIsNoFilterAndWhatIsNotCompressedIsFound) {
  const TableFile file = build_table({{sample_key(1, 1, 1), 30, Kind::kPut, "some value"}}, uncompressed());
  Forger forger(file);
  const BlockHandle filter = forger.index().runs()[0].filter();
  forger.replace(filter, BlockType::kFilterPartition,
                 std::string(forger.content(filter, BlockType::kFilterPartition).size(), '\xff'));
  EXPECT_NE(forger.verify().code(), Code::kOk);
  forger.restore();
  EXPECT_EQ(forger.verify().to_string(), "Ok");
  forger.call_compressed(forger.data_blocks().front());
  EXPECT_EQ(forger.verify().code(), Code::kCorruption);
}

TEST(TableVerify, APartitionThatChangesBetweenTwoReadsIsFound) {
  const TableFile file = build_table({{sample_key(1, 1, 1), 30, Kind::kPut, "a"}}, uncompressed());
  const RunEntry run = TableReading(file).index().runs()[0];
  for (const BlockHandle& partition : {run.index(), run.filter()}) {
    std::string changed = file.bytes;
    changed[partition.offset + kBlockHeadBytes] = static_cast<char>(changed[partition.offset + kBlockHeadBytes] ^ 1);
    int reads = 0;
    const auto read = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
      const bool is_second = offset == partition.offset && ++reads == 2;
      return std::string_view(is_second ? changed : file.bytes).substr(offset, bytes);
    };
    EXPECT_EQ(verify_table(file.name(), read, nullptr).code(), Code::kCorruption);
    EXPECT_EQ(reads, 2);
  }
}

}  // namespace
}  // namespace varve::format::table_verify_test
