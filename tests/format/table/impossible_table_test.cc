// Owns: the tests of parts of a table file that verify but are impossible: each is reported as what it is.
// Must never: change a byte without correcting the checksum. Other tests cover wrong checksums.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "format/block/sorted_block.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/keys/entity.h"
#include "format/table/run_copy.h"
#include "format/table/table_builder.h"
#include "format/table/table_entries.h"
#include "format/table/table_verify.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::impossible_table_test {
namespace {

constexpr std::uint64_t kAnotherSeed = 0x1337;

/// Returns a file of one table with a dictionary. It has one run, or several above 40,000 entries.
TableFile one_table(std::size_t entries, const std::string& dictionary) {
  std::vector<OwnedEntry> rows;
  for (std::size_t i = 0; i < entries; ++i) rows.push_back({sample_key(5, 3, i), 1'000, Kind::kPut, sample_value(i)});
  TableOptions options;
  options.dictionary = dictionary;
  return build_table(rows, options);
}

/// A run of a file, whose bytes a test changes.
struct ChangedRun {
  explicit ChangedRun(const TableFile& file, const std::string& dictionary)
      : run(TableReading(file).index().runs()[0]),
        seed(file.entry.seed),
        bytes(file.bytes.substr(run.offset, run.bytes())),
        words(run.dictionary_hash.has_value() ? dictionary : std::string()) {}

  RunSource source() const {
    RunSource made;
    made.run = &run;
    made.file_seed = seed;
    made.bytes = bytes;
    made.dictionary = words;
    return made;
  }
  std::string content(const BlockHandle& handle, BlockType type) const {
    Decompressor decompressor;
    return *decode_block(std::string_view(bytes).substr(handle.offset - run.offset, handle.bytes),
                         {seed, handle.offset}, type, decompressor, nullptr);
  }
  /// Returns false if the new content does not fit in the place of the old one.
  bool replace(const BlockHandle& handle, BlockType type, const std::string& content) {
    std::string block;
    append_block(block, type, content, nullptr, DictionaryUse::kNever, {seed, handle.offset});
    if (block.size() != handle.bytes) return false;
    bytes.replace(handle.offset - run.offset, handle.bytes, block);
    return true;
  }

  RunEntry run;
  std::uint64_t seed;
  std::string bytes;
  std::string words;
};

Status copied(const ChangedRun& changed) {
  Decompressor decompressor;
  return copy_run(changed.source(), {kAnotherSeed, 64}, decompressor).status();
}

void expect_told(const Status& status, Code code, std::string_view what) {
  EXPECT_EQ(status.code(), code) << status.to_string();
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_string();
}

/// Returns a run of a file without compression, so that a new index partition fits in the place of the old one.
ChangedRun plain_run() {
  std::vector<OwnedEntry> rows;
  for (std::size_t i = 0; i < 3'000; ++i) rows.push_back({sample_key(5, 3, i), 1'000, Kind::kPut, sample_value(i)});
  TableOptions options;
  options.compression_level = 0;
  return ChangedRun(build_table(rows, options), "");
}

TEST(ImpossibleRun, WhoseBlocksDoNotFollowIsNotCopied) {
  const ChangedRun sound = plain_run();
  ASSERT_TRUE(copied(sound).ok());
  ChangedRun changed = sound;
  const std::string index = changed.content(changed.run.index(), BlockType::kIndexPartition);
  bool was_told = false;
  for (std::size_t at = 0; at < index.size() && !was_told; ++at) {
    std::string other = index;
    other[at] = static_cast<char>(other[at] ^ 1);
    ASSERT_TRUE(changed.replace(changed.run.index(), BlockType::kIndexPartition, other));
    const Status status = copied(changed);
    was_told = status.message().find("a block does not follow the previous block") != std::string_view::npos;
    if (was_told) {
      EXPECT_EQ(status.code(), Code::kCorruption);
    }
  }
  EXPECT_TRUE(was_told);
}

TEST(ImpossibleRun, ThatNeedsADictionaryAndNamesNoneIsNotCopied) {
  const std::string dictionary = sample_dictionary(1);
  ChangedRun changed(one_table(300, dictionary), dictionary);
  ASSERT_TRUE(changed.run.dictionary_hash.has_value());
  ASSERT_TRUE(copied(changed).ok());
  changed.run.dictionary_hash.reset();
  changed.words.clear();
  expect_told(copied(changed), Code::kCorruption, "needs a dictionary, but its run names none");
}

TEST(ImpossibleRun, IsNotAppendedAndLeavesTheFileAsItWas) {
  const std::string dictionary = sample_dictionary(1);
  const ChangedRun sound(one_table(300, dictionary), dictionary);
  const auto builder = *TableBuilder::make(61, kAnotherSeed, {});
  ASSERT_TRUE(builder->add({sample_key(5, 1, 0), 5, Kind::kPut, "v"}).ok());
  Decompressor decompressor;

  ChangedRun flipped = sound;
  flipped.bytes[100] = static_cast<char>(flipped.bytes[100] ^ 4);
  EXPECT_EQ(builder->append_run(flipped.source(), decompressor).code(), Code::kCorruption);

  ChangedRun without = sound;
  without.words = "no dictionary of zstd's";
  without.run.dictionary_hash = content_hash(without.words);
  EXPECT_FALSE(builder->append_run(without.source(), decompressor).ok());

  const TableFile file = finish_table(*builder);
  EXPECT_EQ(file.entry.entry_count, 1u);
  EXPECT_TRUE(verify_table(file.name(), file.reader(), nullptr).ok());
}

TEST(ImpossibleRun, WhoseFilterIsNoneIsNotComparedWithTheOptions) {
  std::vector<OwnedEntry> rows;
  for (std::size_t i = 0; i < 20'000; ++i) rows.push_back({sample_key(5, 3, i), 1'000, Kind::kPut, sample_value(i)});
  const TableOptions options;
  ChangedRun changed(build_table(rows, options), "");
  Decompressor decompressor;
  const Result<bool> alike = is_made_alike(changed.source(), options, decompressor);
  ASSERT_TRUE(alike.ok() && *alike) << alike.status().to_string();

  const BlockHandle filter = changed.run.filter();
  std::string content = changed.content(filter, BlockType::kFilterPartition);
  content[0] = 77;  // its kind
  ASSERT_TRUE(changed.replace(filter, BlockType::kFilterPartition, content));
  expect_told(is_made_alike(changed.source(), options, decompressor).status(), Code::kUnsupported, "filter kind 77");
  changed.bytes[filter.offset - changed.run.offset + 20] ^= 4;
  EXPECT_EQ(is_made_alike(changed.source(), options, decompressor).code(), Code::kCorruption);
}

TEST(ImpossibleTableLong, OfTooManyTablesIsRefusedAtItsEnd) {
  constexpr std::uint64_t kTables = std::uint64_t{kBlockRawBytesMax} / 32 + 1;
  TableOptions options;
  options.compression_level = 0;
  const auto builder = *TableBuilder::make(61, kAnotherSeed, options);
  for (std::uint64_t table = 1; table <= kTables; ++table) {
    ASSERT_TRUE(builder
                    ->add({sample_key(make_table_id(static_cast<std::uint32_t>(1 + (table >> 20)),
                                                    static_cast<std::uint32_t>(table & 0xFFFFF)),
                                      0, 0),
                           5, Kind::kDelete, ""})
                    .ok());
  }
  expect_told(builder->finish().status(), Code::kTooLarge, "too many runs or tables");
}

// -- Entries of indexes -----------------------------------------------------------------------------------------------

TEST(ImpossibleEntry, OfARunWithADictionarysNameOfAnotherLengthIsDamage) {
  RunEntry run = TableReading(one_table(300, "")).index().runs()[0];
  run.dictionary_hash = 0x1122334455667788;
  std::string value;
  append_run_entry(value, run, 0);
  ASSERT_TRUE(decode_run_entry(run.largest_key, value, 0).ok());
  std::string hash;
  append_u64(hash, *run.dictionary_hash);
  const std::size_t at = value.find(hash);
  ASSERT_NE(at, std::string::npos);
  value.erase(at, 1);
  value[at - 1] = 7;  // its length
  expect_told(decode_run_entry(run.largest_key, value, 0).status(), Code::kCorruption, "does not have 8 bytes");
}

TEST(ImpossibleEntry, OfABlockWithoutEntriesIsDamage) {
  BlockEntry entry;
  entry.offset = 64;
  entry.bytes = 500;
  entry.entry_count = 1;
  entry.smallest_version = entry.largest_version = 7;
  std::string value;
  append_block_entry(value, entry, 7);
  ASSERT_TRUE(decode_block_entry(value, 7).ok());
  for (BlockEntry none : {entry, entry}) {
    static bool of_bytes = true;
    std::exchange(of_bytes, false) ? none.bytes = 3 : none.entry_count = 0;
    value.clear();
    append_block_entry(value, none, 7);
    expect_told(decode_block_entry(value, 7).status(), Code::kCorruption, "a block has no entries");
  }
}

TEST(ImpossibleEntry, OfADirectoryThatBreaksOffIsDamage) {
  std::vector<DirectoryEntry> tables;
  for (std::uint64_t table = 1; table < 100; ++table) tables.push_back({table, 64, 4096, 10, 1, ""});
  const std::string content = encode_directory(tables);
  ASSERT_TRUE(decode_directory(content).ok());
  bool was_told = false;
  for (std::size_t at = 0; at < content.size(); ++at) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const Result<std::vector<DirectoryEntry>> decoded = decode_directory(changed);
    if (decoded.ok()) continue;
    EXPECT_TRUE(decoded.code() == Code::kCorruption || decoded.code() == Code::kUnsupported);
    was_told = was_told || decoded.status().message().find("is damaged") != std::string_view::npos;
  }
  EXPECT_TRUE(was_told);
}

// -- Consistent parts that contradict the rest ------------------------------------------------------------------------

/// The parts of an index, to be rebuilt.
struct IndexParts {
  explicit IndexParts(const TableFile& file) {
    const TableReading reading(file);
    footer = reading.index().footer();
    runs = reading.index().runs();
    properties = reading.index().properties();
  }
  Status make() const {
    SortedBlockBuilder block(1, Buckets::kNone);
    std::string value;
    for (const RunEntry& run : runs) {
      value.clear();
      append_run_entry(value, run, properties.smallest_version);
      block.add({run.largest_key, value, {}});
    }
    const std::string top_index(block.finish(properties.smallest_version));
    return TableIndex::make(footer, top_index, encode_table_properties(properties)).status();
  }
  TableFooter footer;
  std::vector<RunEntry> runs;
  TableProperties properties;
};

TEST(ImpossibleIndex, WhosePartsContradictEachOtherIsDamage) {
  const std::string dictionary = sample_dictionary(1);
  const IndexParts sound(one_table(50'000, dictionary));
  ASSERT_GE(sound.runs.size(), 2u);
  ASSERT_EQ(sound.properties.dictionaries.size(), 1u);
  ASSERT_TRUE(sound.make().ok()) << sound.make().to_string();
  const struct {
    std::string_view what;
    std::function<void(IndexParts&)> change;
  } changes[] = {
      {"the keys of two runs overlap", [](IndexParts& parts) { parts.runs[1].smallest_key = sample_key(5, 3, 0); }},
      {"a dictionary does not follow the previous part",
       [](IndexParts& parts) { ++parts.properties.dictionaries.front().block.offset; }},
      {"a dictionary does not follow the previous part",
       [](IndexParts& parts) { parts.properties.dictionaries.front().block.bytes += 1'000'000; }},
      {"name other dictionaries than the runs do",
       [](IndexParts& parts) { ++parts.properties.dictionaries.front().content_hash; }},
  };
  for (const auto& each : changes) {
    IndexParts parts = sound;
    each.change(parts);
    expect_told(parts.make(), Code::kCorruption, each.what);
  }
}

TEST(ImpossibleDictionary, UnderAnothersNameIsDamage) {
  const std::string dictionary = sample_dictionary(1);
  const TableFile file = one_table(300, dictionary);
  DictionaryEntry entry = TableReading(file).index().properties().dictionaries.front();
  Decompressor decompressor;
  const std::string_view block = std::string_view(file.bytes).substr(entry.block.offset, entry.block.bytes);
  ASSERT_TRUE(decode_dictionary_block(block, file.entry.seed, entry, decompressor).ok());
  ++entry.content_hash;
  expect_told(decode_dictionary_block(block, file.entry.seed, entry, decompressor).status(), Code::kCorruption,
              "its content does not match its hash");
}

/// A file that changes between two reads of one place: every read is checked.
TEST(ImpossibleTable, WhoseTopIndexIsAnotherAtTheSecondReadIsDamage) {
  const TableFile file = one_table(300, "");
  const BlockHandle top_index = TableReading(file).index().footer().top_index;
  std::string changed = file.bytes;
  Decompressor decompressor;
  const std::string content =
      *decode_block(std::string_view(file.bytes).substr(top_index.offset, top_index.bytes),
                    {file.entry.seed, top_index.offset}, BlockType::kTopIndex, decompressor, nullptr);
  std::string block;
  append_block(block, BlockType::kTopIndex, std::string(top_index.bytes - kBlockFrameBytes, '\xff'), nullptr,
               DictionaryUse::kNever, {file.entry.seed, top_index.offset});
  ASSERT_EQ(block.size(), top_index.bytes);
  changed.replace(top_index.offset, top_index.bytes, block);
  int reads = 0;
  const ReadBytes read = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
    const bool is_again = offset == top_index.offset && ++reads > 1;
    return std::string_view(is_again ? changed : file.bytes).substr(offset, bytes);
  };
  EXPECT_EQ(verify_table(file.name(), read, nullptr).code(), Code::kCorruption);
  EXPECT_EQ(reads, 2);
}

// -- Too large for the format -----------------------------------------------------------------------------------------

/// Addresses without memory except the first few. A read of any other address ends the test.
class NoBytes {
 public:
  NoBytes() : begin_(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~NoBytes() { ::munmap(begin_, kBytes); }
  NoBytes(const NoBytes&) = delete;
  NoBytes& operator=(const NoBytes&) = delete;
  bool begin_with(std::string_view head) {
    if (begin_ == MAP_FAILED || ::mprotect(begin_, kPageBytes, PROT_READ | PROT_WRITE) != 0) return false;
    head.copy(static_cast<char*>(begin_), head.size());
    return true;
  }
  std::string_view view() const { return {static_cast<const char*>(begin_), kBytes}; }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kBytes = (std::size_t{4} << 30) + kPageBytes;
  void* const begin_;
};

TEST(TooLarge, ContentsAreRefusedBeforeTheyAreRead) {
  EntityBuilder builder;
  NoBytes bytes;
  ASSERT_TRUE(bytes.begin_with(builder.finish()));
  expect_told(SortedBlock::parse(bytes.view()).status(), Code::kCorruption, "is too large");
  expect_told(EncodedEntity::open(bytes.view()).status(), Code::kCorruption, "4 GiB or more");
}

}  // namespace
}  // namespace varve::format::impossible_table_test
