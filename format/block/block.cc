// Owns: making, verifying and re-stamping frames of blocks (block.h).
// Must never: use a field of a frame before its checksum verified.
#include "format/block/block.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve::format {
namespace {

constexpr std::size_t kRawBytesAt = 0;
constexpr std::size_t kBlockTypeAt = 4;
constexpr std::size_t kCompressionAt = 5;
constexpr std::size_t kFlagsAt = 6;
static_assert(kFlagsAt + 2 == kBlockHeadBytes);
static_assert(kBlockHeadBytes + kChecksumBytes == kBlockFrameBytes);

Status refused(Code code, BlockType type, std::uint64_t offset, std::string_view why) {
  std::string text(block_type_name(type));
  text.append(" at ").append(std::to_string(offset)).append(": ").append(why);
  return {code, text};
}

/// Returns the size in bytes of the filling for a block that would end at `end`, or zero for no filling. A skippable
/// frame is at least as long as its head.
std::uint64_t filling_bytes(std::uint64_t end, Filling filling) noexcept {
  assert(filling.end_in_sector < kSectorBytes);
  const std::uint64_t gap = (filling.end_in_sector + kSectorBytes - end % kSectorBytes) % kSectorBytes;
  return gap >= kZstdSkippableHeadBytes && gap <= filling.bytes_max ? gap : 0;
}

void append_filling(std::string& out, std::uint64_t bytes) {
  if (bytes == 0) return;
  append_u32(out, kZstdSkippableMagic);
  append_u32(out, static_cast<std::uint32_t>(bytes - kZstdSkippableHeadBytes));
  out.append(bytes - kZstdSkippableHeadBytes, '\0');
}

void append_frame(std::string& out, const BlockFrame& frame, std::uint64_t filling, FilePlace place) {
  const std::size_t start = out.size();
  std::array<char, kBlockHeadBytes> head{};
  store_u32(head.data() + kRawBytesAt, frame.raw_bytes);
  head[kBlockTypeAt] = static_cast<char>(frame.type);
  head[kCompressionAt] = static_cast<char>(frame.compression);
  out.append(head.data(), head.size());
  out.append(frame.stored);
  append_filling(out, filling);
  append_u64(out, checksum_at(place, std::string_view(out).substr(start)));
}

/// Returns the maximum stored size that is worth compressing. A larger one saves less than an eighth, and every reader
/// pays for the decompression.
std::size_t compressed_bytes_max(std::size_t raw_bytes) noexcept {
  const std::size_t limit = raw_bytes - raw_bytes / 8;
  return limit == 0 ? 0 : limit - 1;
}

}  // namespace

std::string_view block_type_name(BlockType type) noexcept {
  switch (type) {
    case BlockType::kData: return "data block";
    case BlockType::kIndexPartition: return "index partition";
    case BlockType::kFilterPartition: return "filter partition";
    case BlockType::kTopIndex: return "top index";
    case BlockType::kTableDirectory: return "table directory";
    case BlockType::kProperties: return "properties";
    case BlockType::kDictionary: return "dictionary";
  }
  return "block of an unknown type";
}

BlockMade append_block(std::string& out, BlockType type, std::string_view content, Compressor* compressor,
                       DictionaryUse dictionary, FilePlace place, Filling filling) {
  assert(content.size() <= kBlockRawBytesMax);
  BlockFrame frame{type, BlockCompression::kNone, static_cast<std::uint32_t>(content.size()), content};
  std::uint64_t filled = 0;
  if (compressor != nullptr) {
    const bool with_dictionary = dictionary == DictionaryUse::kIfThereIsOne && compressor->has_dictionary();
    const std::string_view compressed =
        compressor->compress(content, with_dictionary, compressed_bytes_max(content.size()));
    if (!compressed.empty()) {
      frame.compression = with_dictionary ? BlockCompression::kZstdDictionary : BlockCompression::kZstd;
      frame.stored = compressed;
      filling.bytes_max = std::min<std::uint64_t>(filling.bytes_max, content.size() - compressed.size());
      filled = filling_bytes(place.offset + kBlockFrameBytes + compressed.size(), filling);
    }
  }
  append_frame(out, frame, filled, place);
  return {frame.compression, filled};
}

Result<BlockFrame> open_block(std::string_view bytes, FilePlace place, BlockType expected) {
  const auto refuse = [&](Code code, std::string_view why) { return refused(code, expected, place.offset, why); };
  if (bytes.size() < kBlockFrameBytes) return refuse(Code::kCorruption, "is shorter than a frame");
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (load_u64(covered.data() + covered.size()) != checksum_at(place, covered)) {
    return refuse(Code::kCorruption, "does not verify");
  }
  const auto type = static_cast<std::uint8_t>(covered[kBlockTypeAt]);
  if (type != static_cast<std::uint8_t>(expected)) {
    return refuse(Code::kCorruption, "a block of type " + std::to_string(type) + " was found instead");
  }
  const auto compression = static_cast<std::uint8_t>(covered[kCompressionAt]);
  if (compression > static_cast<std::uint8_t>(BlockCompression::kZstdDictionary)) {
    return refuse(Code::kUnsupported, "compression " + std::to_string(compression) + " is not known to this build");
  }
  if (compression == static_cast<std::uint8_t>(BlockCompression::kZstdDictionary) && expected != BlockType::kData) {
    return refuse(Code::kUnsupported,
                  "is compressed with a dictionary, which this build supports for data blocks only");
  }
  if (load_u16(covered.data() + kFlagsAt) != 0) {
    return refuse(Code::kUnsupported, "has flags that are not known to this build");
  }
  const BlockFrame frame{expected, static_cast<BlockCompression>(compression), load_u32(covered.data() + kRawBytesAt),
                         covered.substr(kBlockHeadBytes)};
  if (frame.raw_bytes > kBlockRawBytesMax) {
    return refuse(Code::kCorruption, std::to_string(frame.raw_bytes) + " raw bytes are over the limit of " +
                                         std::to_string(kBlockRawBytesMax));
  }
  if (frame.compression == BlockCompression::kNone && frame.raw_bytes != frame.stored.size()) {
    return refuse(Code::kCorruption, "its stored size differs from the size of its content");
  }
  return frame;
}

Status read_block(const BlockFrame& frame, Decompressor& decompressor, const Dictionary* dictionary,
                  std::span<char> content) {
  assert(content.size() == frame.raw_bytes);
  if (frame.compression == BlockCompression::kNone) {
    if (!content.empty()) std::memcpy(content.data(), frame.stored.data(), content.size());
    return Status();
  }
  const bool with_dictionary = frame.compression == BlockCompression::kZstdDictionary;
  if (with_dictionary && dictionary == nullptr) {
    return Status::corruption("needs a dictionary, but its run names none");
  }
  return decompressor.decompress(frame.stored, with_dictionary ? dictionary : nullptr, content);
}

Result<std::string> decode_block(std::string_view bytes, FilePlace place, BlockType expected,
                                 Decompressor& decompressor, const Dictionary* dictionary) {
  const Result<BlockFrame> frame = open_block(bytes, place, expected);
  if (!frame.ok()) return frame.status();
  std::string content(frame->raw_bytes, '\0');
  if (const Status read = read_block(*frame, decompressor, dictionary, content); !read.ok()) {
    return refused(read.code(), expected, place.offset, read.message());
  }
  return content;
}

std::uint64_t block_bytes_bound(std::string_view head) noexcept {
  if (head.size() < kBlockHeadBytes) return 0;
  const auto type = static_cast<std::uint8_t>(head[kBlockTypeAt]);
  const auto compression = static_cast<std::uint8_t>(head[kCompressionAt]);
  const std::uint32_t raw_bytes = load_u32(head.data() + kRawBytesAt);
  const bool could_be = type >= static_cast<std::uint8_t>(BlockType::kData) &&
                        type <= static_cast<std::uint8_t>(BlockType::kDictionary) &&
                        compression <= static_cast<std::uint8_t>(BlockCompression::kZstdDictionary) &&
                        load_u16(head.data() + kFlagsAt) == 0 && raw_bytes <= kBlockRawBytesMax;
  return could_be ? kBlockFrameBytes + raw_bytes : 0;  // A compressed block is smaller.
}

std::optional<IntactBlock> find_intact_block(std::string_view bytes, FilePlace place) noexcept {
  const std::uint64_t bound = block_bytes_bound(bytes.substr(0, kBlockHeadBytes));
  if (bound == 0) return std::nullopt;
  std::uint64_t whole = bound;
  if (static_cast<BlockCompression>(bytes[kCompressionAt]) != BlockCompression::kNone) {
    const std::optional<std::size_t> stored = zstd_frame_bytes(bytes.substr(kBlockHeadBytes));
    if (!stored) return std::nullopt;
    whole = kBlockFrameBytes + *stored;
  }
  if (whole > std::min<std::uint64_t>(bound, bytes.size())) return std::nullopt;
  const std::string_view covered = bytes.substr(0, whole - kChecksumBytes);
  if (load_u64(covered.data() + covered.size()) != checksum_at(place, covered)) return std::nullopt;
  return IntactBlock{static_cast<BlockType>(bytes[kBlockTypeAt]), whole};
}

void restamp_block(std::span<char> bytes, FilePlace from, FilePlace to) noexcept {
  assert(bytes.size() >= kBlockFrameBytes);
  char* const checksum = bytes.data() + bytes.size() - kChecksumBytes;
  store_u64(checksum, restamp(load_u64(checksum), from, to));
}

}  // namespace varve::format
