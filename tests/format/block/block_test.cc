// Owns: the tests of block frames and of compression: a written block reads back, and other bytes do not read as a
// block.
// Must never: sample damage: every bit and every length is tried.
#include "format/block/block.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/format/block/entry_sample.h"
#include "tests/format/random_values.h"

namespace varve::format::block_test {
namespace {

constexpr FilePlace kPlace{0x5eedf00d, 8192};

std::string block_of(BlockType type, std::string_view content, Compressor* compressor = nullptr,
                     DictionaryUse dictionary = DictionaryUse::kNever) {
  std::string bytes;
  append_block(bytes, type, content, compressor, dictionary, kPlace);
  return bytes;
}

Compressor compressor_of(int level, std::string_view dictionary = {}) {
  return *Compressor::make(level, dictionary);
}

/// Returns a frame of any content with a correct checksum.
std::string forged(std::uint32_t raw_bytes, std::uint8_t type, std::uint8_t compression, std::uint16_t flags,
                   std::string_view stored) {
  std::string bytes;
  append_u32(bytes, raw_bytes);
  bytes.push_back(static_cast<char>(type));
  bytes.push_back(static_cast<char>(compression));
  append_u16(bytes, flags);
  bytes.append(stored);
  append_u64(bytes, checksum_at(kPlace, bytes));
  return bytes;
}

Code code_of(std::string_view bytes, BlockType expected = BlockType::kData) {
  Decompressor decompressor;
  return decode_block(bytes, kPlace, expected, decompressor, nullptr).code();
}

TEST(Block, StoredAsItIsReadsBack) {
  Decompressor decompressor;
  RandomValues random(31);
  for (const std::size_t size : {0u, 1u, 7u, 4096u, 100'000u}) {
    SCOPED_TRACE(size);
    const std::string content = random.bytes(size);
    const std::string bytes = block_of(BlockType::kFilterPartition, content);
    EXPECT_EQ(bytes.size(), size + kBlockFrameBytes);
    const Result<std::string> read = decode_block(bytes, kPlace, BlockType::kFilterPartition, decompressor, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, content);
  }
}

TEST(Block, CompressedAtEveryLevelReadsBack) {
  Decompressor decompressor;
  const std::string content(10'000, 'x');
  for (int level = kCompressionLevelMin; level <= kCompressionLevelMax; ++level) {
    SCOPED_TRACE(level);
    if (level == 0) continue;
    Compressor compressor = compressor_of(level);
    const std::string bytes = block_of(BlockType::kData, content, &compressor);
    EXPECT_LT(bytes.size(), 100u);
    const Result<std::string> read = decode_block(bytes, kPlace, BlockType::kData, decompressor, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, content);
  }
}

TEST(Block, WhatDoesNotShrinkByAnEighthIsStoredAsItIs) {
  RandomValues random(32);
  Compressor compressor = compressor_of(3);
  for (std::size_t zeros = 0; zeros <= 1000; zeros += 10) {
    SCOPED_TRACE(zeros);
    const std::string content = random.bytes(1000 - zeros) + std::string(zeros, '\0');
    std::string bytes;
    const BlockCompression chosen =
        append_block(bytes, BlockType::kData, content, &compressor, DictionaryUse::kNever, kPlace).compression;
    const std::size_t stored = bytes.size() - kBlockFrameBytes;
    const Result<BlockFrame> frame = open_block(bytes, kPlace, BlockType::kData);
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(frame->compression, chosen);
    if (chosen == BlockCompression::kNone) {
      EXPECT_EQ(stored, content.size());
      EXPECT_LT(zeros, 200u);
    } else {
      EXPECT_LT(stored * 8, content.size() * 7);
      EXPECT_GT(zeros, 100u);
    }
  }
}

TEST(Block, DictionaryIsNeededToReadWhatWasMadeWithIt) {
  Decompressor decompressor;
  const std::string bytes_of_dictionary = sample_dictionary(1);
  const auto dictionary = *Dictionary::load(bytes_of_dictionary);
  EXPECT_EQ(dictionary->content_hash(), content_hash(bytes_of_dictionary));
  Compressor compressor = compressor_of(3, bytes_of_dictionary);
  const std::string content = sample_value(17);
  const std::string bytes = block_of(BlockType::kData, content, &compressor, DictionaryUse::kIfThereIsOne);
  EXPECT_EQ((*open_block(bytes, kPlace, BlockType::kData)).compression, BlockCompression::kZstdDictionary);
  EXPECT_LT(bytes.size(), block_of(BlockType::kData, content, &compressor).size());

  const Result<std::string> read = decode_block(bytes, kPlace, BlockType::kData, decompressor, dictionary.get());
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, content);
  EXPECT_EQ(code_of(bytes), Code::kCorruption);
  const auto other = *Dictionary::load(sample_dictionary(2));
  const Result<std::string> wrong = decode_block(bytes, kPlace, BlockType::kData, decompressor, other.get());
  EXPECT_TRUE(!wrong.ok() || *wrong != content);
}

TEST(Block, DictionaryOfAnythingElseIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("short"), std::string(1000, 'x'),
                                   sample_dictionary(1).substr(0, 30), std::string(kDictionaryBytesMax + 1, 'x')}) {
    EXPECT_EQ(Dictionary::load(bytes).code(), Code::kCorruption) << bytes.size();
    if (!bytes.empty()) {
      EXPECT_EQ(Compressor::make(1, bytes).code(), Code::kInvalidArgument) << bytes.size();
    }
  }
}

TEST(Block, TrainingIsRepeatableAndRefusesTooFewSamples) {
  EXPECT_EQ(sample_dictionary(1), sample_dictionary(1));
  EXPECT_LE(sample_dictionary(1).size(), 4096u);
  EXPECT_EQ(train_dictionary({}, 4096).code(), Code::kInvalidArgument);
  EXPECT_EQ(train_dictionary({"one", "two"}, 4096).code(), Code::kInvalidArgument);
}

TEST(Block, EveryFlippedBitIsFound) {
  Compressor compressor = compressor_of(1);
  for (std::string bytes :
       {block_of(BlockType::kData, "some content"), block_of(BlockType::kData, std::string(500, 'x'), &compressor)}) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const char mask = static_cast<char>(1 << (bit % 8));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
      ASSERT_EQ(code_of(bytes), Code::kCorruption) << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    }
    EXPECT_EQ(code_of(bytes), Code::kOk);
  }
}

TEST(Block, EveryTruncationAndEveryAddedByteIsFound) {
  const std::string bytes = block_of(BlockType::kData, "some content");
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_EQ(code_of(bytes.substr(0, kept)), Code::kCorruption) << kept;
    EXPECT_EQ(code_of(bytes.substr(bytes.size() - kept)), Code::kCorruption) << kept;
  }
  EXPECT_EQ(code_of(bytes + '\0'), Code::kCorruption);
}

TEST(Block, AnotherPlaceOrTypeIsDamage) {
  Decompressor decompressor;
  const std::string bytes = block_of(BlockType::kData, "some content");
  for (const FilePlace place : {FilePlace{kPlace.seed + 1, kPlace.offset}, FilePlace{kPlace.seed, kPlace.offset + 1}}) {
    EXPECT_EQ(decode_block(bytes, place, BlockType::kData, decompressor, nullptr).code(), Code::kCorruption);
  }
  EXPECT_EQ(code_of(bytes, BlockType::kIndexPartition), Code::kCorruption);
}

TEST(Block, RestampedReadsInItsNewPlaceAlone) {
  Decompressor decompressor;
  const FilePlace there{77, 64};
  std::string bytes = block_of(BlockType::kData, "some content");
  restamp_block(bytes, kPlace, there);
  EXPECT_EQ(code_of(bytes), Code::kCorruption);
  EXPECT_EQ(*decode_block(bytes, there, BlockType::kData, decompressor, nullptr), "some content");
  bytes[9] = static_cast<char>(bytes[9] ^ 1);
  restamp_block(bytes, there, kPlace);
  EXPECT_EQ(code_of(bytes), Code::kCorruption) << "damage done on the way must stay visible";
}

TEST(Block, IntactButUnknownIsUnsupported) {
  EXPECT_EQ(code_of(forged(2, 1, 3, 0, "ab")), Code::kUnsupported);
  EXPECT_EQ(code_of(forged(2, 1, 255, 0, "ab")), Code::kUnsupported);
  EXPECT_EQ(code_of(forged(2, 1, 0, 1, "ab")), Code::kUnsupported);
  EXPECT_EQ(code_of(forged(2, 1, 0, 0x8000, "ab")), Code::kUnsupported);
  EXPECT_EQ(code_of(forged(2, 2, 2, 0, "ab"), BlockType::kIndexPartition), Code::kUnsupported);
  EXPECT_EQ(code_of(forged(2, 1, 0, 0, "ab")), Code::kOk);
}

TEST(Block, HostileSizesAreRefusedBeforeMemoryIsAskedFor) {
  EXPECT_EQ(code_of(forged(kBlockRawBytesMax + 1, 1, 1, 0, "ab")), Code::kCorruption);
  EXPECT_EQ(code_of(forged(0xffffffff, 1, 1, 0, "ab")), Code::kCorruption);
  EXPECT_EQ(code_of(forged(3, 1, 0, 0, "ab")), Code::kCorruption);
  EXPECT_EQ(code_of(forged(1, 1, 0, 0, "ab")), Code::kCorruption);
}

TEST(Block, ContentOfAnotherSizeThanStoredIsDamage) {
  Compressor compressor = compressor_of(1);
  const std::string stored(compressor.compress(std::string(500, 'x'), false, 500));
  EXPECT_EQ(code_of(forged(500, 1, 1, 0, stored)), Code::kOk);
  EXPECT_EQ(code_of(forged(499, 1, 1, 0, stored)), Code::kCorruption);
  EXPECT_EQ(code_of(forged(501, 1, 1, 0, stored)), Code::kCorruption);
  EXPECT_EQ(code_of(forged(500, 1, 1, 0, stored.substr(1))), Code::kCorruption);
  EXPECT_EQ(code_of(forged(500, 1, 1, 0, stored.substr(0, stored.size() - 1))), Code::kCorruption);
  EXPECT_EQ(code_of(forged(500, 1, 1, 0, "")), Code::kCorruption);
}

TEST(Block, IsFoundWithItsEndWhereNobodyTellsOfIt) {
  Compressor compressor = compressor_of(3);
  for (const std::string& content : {std::string("short"), std::string(5000, 'x')}) {
    for (Compressor* const chosen : {static_cast<Compressor*>(nullptr), &compressor}) {
      const std::string bytes = block_of(BlockType::kIndexPartition, content, chosen);
      for (const std::string_view behind : {"", "something else"}) {
        const std::string all = bytes + std::string(behind);
        const std::optional<IntactBlock> found = find_intact_block(all, kPlace);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->type, BlockType::kIndexPartition);
        EXPECT_EQ(found->bytes, bytes.size());
        EXPECT_GE(block_bytes_bound(all), bytes.size());
        EXPECT_FALSE(find_intact_block(all, {kPlace.seed, kPlace.offset + 1}));
        EXPECT_FALSE(find_intact_block(all, {kPlace.seed + 1, kPlace.offset}));
      }
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
        EXPECT_FALSE(find_intact_block(flipped, kPlace)) << at;
        EXPECT_FALSE(find_intact_block(std::string_view(bytes).substr(0, at), kPlace)) << at;
      }
    }
  }
}

/// Fills blocks like a writer that ends them at a place in a sector. The search for intact blocks must find the filled
/// block.
TEST(Block, FilledEndsWhereItShouldAndReadsAsIfItWereNot) {
  Compressor compressor = compressor_of(1);
  Decompressor decompressor;
  RandomValues random(35);
  int filled_count = 0;
  for (std::size_t size = 3900; size < 4300; ++size) {
    SCOPED_TRACE(size);
    const std::string content = random.bytes(size) + std::string(2000, 'y');
    const Filling filling{300, size % 3 == 0 ? 64u : 0u};
    std::string bytes;
    const BlockMade made =
        append_block(bytes, BlockType::kData, content, &compressor, DictionaryUse::kNever, kPlace, filling);
    const std::uint64_t unfilled = block_of(BlockType::kData, content, &compressor).size();
    ASSERT_EQ(bytes.size(), unfilled + made.filling_bytes);
    const std::uint64_t gap =
        (filling.end_in_sector + 2 * kSectorBytes - (kPlace.offset + unfilled) % kSectorBytes) % kSectorBytes;
    const bool can_be = gap >= kZstdSkippableHeadBytes && gap <= filling.bytes_max;
    ASSERT_EQ(made.filling_bytes, can_be ? gap : 0);
    filled_count += can_be ? 1 : 0;
    const Result<std::string> read = decode_block(bytes, kPlace, BlockType::kData, decompressor, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    ASSERT_EQ(*read, content);
    const std::optional<IntactBlock> found = find_intact_block(bytes + bytes, kPlace);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->bytes, bytes.size());
    ASSERT_FALSE(find_intact_block(std::string_view(bytes).substr(0, bytes.size() - 1), kPlace));
  }
  EXPECT_GT(filled_count, 100);
}

TEST(Block, DamageInAFillingIsFound) {
  Compressor compressor = compressor_of(1);
  const std::string content(5000, 'x');
  std::string bytes;
  const BlockMade made =
      append_block(bytes, BlockType::kData, content, &compressor, DictionaryUse::kNever, kPlace, {kSectorBytes, 100});
  ASSERT_GT(made.filling_bytes, 0u);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    ASSERT_EQ(code_of(flipped), Code::kCorruption) << at;
    ASSERT_FALSE(find_intact_block(flipped, kPlace)) << at;
  }
}

TEST(Block, IsFilledByNoMoreThanCompressionSaved) {
  Compressor compressor = compressor_of(1);
  RandomValues random(36);
  const std::string hard = random.bytes(3000);
  EXPECT_EQ(block_of(BlockType::kData, hard, &compressor).size(), hard.size() + kBlockFrameBytes);
  std::string bytes;
  EXPECT_EQ(append_block(bytes, BlockType::kData, hard, &compressor, DictionaryUse::kNever, kPlace, {kSectorBytes, 0})
                .filling_bytes,
            0u)
      << "not compressed";
  const std::string some = random.bytes(3000) + std::string(600, 'z');
  bytes.clear();
  const BlockMade made =
      append_block(bytes, BlockType::kData, some, &compressor, DictionaryUse::kNever, kPlace, {kSectorBytes, 0});
  EXPECT_EQ(made.compression, BlockCompression::kZstd);
  EXPECT_EQ(made.filling_bytes, 0u) << "a thousand bytes are missing, six hundred were saved";
}

TEST(Block, NothingIsFoundInWhatIsNone) {
  EXPECT_FALSE(find_intact_block("", kPlace));
  EXPECT_FALSE(find_intact_block(std::string(4096, '\0'), kPlace));
  EXPECT_FALSE(find_intact_block(std::string(4096, '\xff'), kPlace));
  EXPECT_EQ(block_bytes_bound("short"), 0u);
  EXPECT_FALSE(find_intact_block(forged(2, 1, 3, 0, "ab"), kPlace)) << "an end that nobody can know";
  EXPECT_FALSE(find_intact_block(forged(0xffffffff, 1, 0, 0, "ab"), kPlace));
  EXPECT_FALSE(find_intact_block(forged(500, 1, 1, 0, "no zstd frame"), kPlace));
}

TEST(Block, NothingIsFoundBeyondTheBoundThatItsFirstBytesSay) {
  Compressor compressor = compressor_of(3);
  const std::string stored(compressor.compress(std::string(5000, 'x'), false, 5000));
  const std::string hostile = forged(0, 1, 1, 0, stored);
  ASSERT_TRUE(open_block(hostile, kPlace, BlockType::kData).ok()) << "it verifies, and no content is that small";
  EXPECT_FALSE(find_intact_block(hostile, kPlace)) << "who looks for blocks holds no more bytes than the bound";
}

TEST(Block, MessagesNameTypeAndPlace) {
  const Status status = open_block("", kPlace, BlockType::kTopIndex).status();
  EXPECT_NE(status.to_string().find("top index at 8192"), std::string::npos) << status.to_string();
  for (std::uint8_t type = 1; type <= 7; ++type) {
    EXPECT_EQ(block_type_name(static_cast<BlockType>(type)).find("unknown"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace varve::format::block_test
