// Owns: the fuzzer of block frames and of decompression: hostile bytes, with and without a valid checksum.
// Must never: let a reading go unchecked: bytes that read as a block must read as the same block at another place,
// after a new checksum.
//
// Input: one byte of mode, one of the expected type, then
// - mode 0: the frame
// - mode 1: the frame, whose checksum is corrected first
// - mode 2: the frame between other bytes, so that only its offset is known
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/bytes/bytes.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

constexpr FilePlace kPlace{0x5eed, 8192};
constexpr FilePlace kElsewhere{0xfeed, 64};
/// The most bytes tried. More bytes are slow, and run the same code.
constexpr std::uint32_t kRawBytesTried = 1u << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void seal(std::string& bytes) {
  if (bytes.size() < kBlockFrameBytes) return;
  const std::size_t covered = bytes.size() - 8;
  store_u64(bytes.data() + covered, checksum_at(kPlace, std::string_view(bytes).substr(0, covered)));
}

void check_frame(std::string bytes, const BlockFrame& frame, Decompressor& decompressor) {
  require(frame.raw_bytes <= kBlockRawBytesMax);
  require(frame.stored.size() + kBlockFrameBytes == bytes.size());
  if (frame.raw_bytes > kRawBytesTried) return;
  const Result<std::string> content = decode_block(bytes, kPlace, frame.type, decompressor, nullptr);
  require(content.ok() || content.code() == Code::kCorruption);
  if (content.ok()) require(content->size() == frame.raw_bytes);
  if (frame.compression == BlockCompression::kNone) {
    require(content.ok() && *content == frame.stored);
    std::string again;
    append_block(again, frame.type, *content, nullptr, DictionaryUse::kNever, kPlace);
    require(again == bytes);
  }
  const BlockType type = frame.type;
  restamp_block(bytes, kPlace, kElsewhere);
  require(!open_block(bytes, kPlace, type).ok());
  const Result<std::string> moved = decode_block(bytes, kElsewhere, type, decompressor, nullptr);
  require(moved.ok() == content.ok());
  require(!moved.ok() || *moved == *content);
}

/// Checks the search for blocks: each found block opens, an uncompressed frame that opens is found, and nothing is
/// found at another offset.
void search(const std::string& bytes) {
  const std::string behind(24, '\x28');  // begins like a frame of zstd, but is none
  const std::string part = bytes + behind;
  const std::optional<IntactBlock> found = find_intact_block(part, kPlace);
  require(!find_intact_block(part, kElsewhere).has_value());
  const std::uint64_t bound = block_bytes_bound(std::string_view(part).substr(0, kBlockHeadBytes));
  if (found) {
    require(found->bytes <= bound && found->bytes <= part.size());
    require(open_block(std::string_view(part).substr(0, found->bytes), kPlace, found->type).ok());
  }
  if (bytes.size() < kBlockFrameBytes) return;
  const bool is_plain = bytes[5] == static_cast<char>(BlockCompression::kNone);
  const auto type = static_cast<BlockType>(bytes[4]);
  const bool is_known = type >= BlockType::kData && type <= BlockType::kDictionary;
  const bool opens = open_block(bytes, kPlace, type).ok();
  if (is_plain && is_known && opens) require(found && found->bytes == bytes.size() && found->type == type);
}

// -- Mutations ------------------------------------------------------------------------------------------------------

/// Returns a frame with another content, or with another number in its head. The reader's correct checksum is added.
std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view input) {
  if (input.size() < 2 + kBlockFrameBytes) return std::nullopt;
  std::string bytes(input.substr(2));
  const auto type = static_cast<BlockType>(1 + static_cast<unsigned char>(input[1]) % 7);
  const auto mode = static_cast<char>(chance.one_in(3) ? 2 : 1);
  if (chance.one_in(3)) {
    std::uint64_t head = load_u64(bytes.data());
    head = chance.one_in(2) ? head ^ (std::uint64_t{1} << chance.below(64))
                            : (head >> 32 << 32) | (fuzz::mutated_number(chance, head) & 0xffffffff);
    store_u64(bytes.data(), head);
    return std::string{mode, input[1]} + bytes;
  }
  seal(bytes);
  static Decompressor decompressor;
  const Result<std::string> decoded = decode_block(bytes, kPlace, type, decompressor, nullptr);
  std::string content = decoded.ok() ? *decoded : bytes.substr(kBlockHeadBytes, bytes.size() - kBlockFrameBytes);
  fuzz::mutate_bytes(content);
  static Compressor compressor = *Compressor::make(1, "");
  std::string made{mode, input[1]};
  const Filling filling{chance.one_in(2) ? kSectorBytes : 0, 0};
  append_block(made, type, content, chance.one_in(8) ? &compressor : nullptr, DictionaryUse::kNever, kPlace, filling);
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto expected = static_cast<BlockType>(1 + data[1] % 7);
  if (data[0] % 3 != 0) seal(bytes);
  if (data[0] % 3 == 2) search(bytes);
  static Decompressor decompressor;
  const Result<BlockFrame> frame = open_block(bytes, kPlace, expected);
  if (!frame.ok()) {
    require(frame.code() == Code::kCorruption || frame.code() == Code::kUnsupported);
    return 0;
  }
  require(frame->type == expected);
  check_frame(bytes, *frame, decompressor);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

}  // namespace varve::format
