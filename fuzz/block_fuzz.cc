// Owns: the fuzzer of block frames and of decompression: hostile bytes, with and without a checksum that holds.
// Must never: let a reading go unchecked: what reads as a block must read as the same one elsewhere when re-stamped.
//
// Input: one byte of mode, one of the type expected, then the frame. In mode 1 its checksum is made right first.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/block.h"
#include "format/bytes.h"

namespace varve::format {
namespace {

constexpr FilePlace kPlace{0x5eed, 8192};
constexpr FilePlace kElsewhere{0xfeed, 64};
/// More is slow, and no other code.
constexpr std::uint32_t kRawBytesTried = 1u << 20;

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto expected = static_cast<BlockType>(1 + data[1] % 7);
  if (data[0] % 2 == 1) seal(bytes);
  Decompressor decompressor;
  const Result<BlockFrame> frame = open_block(bytes, kPlace, expected);
  if (!frame.ok()) {
    require(frame.code() == Code::kCorruption || frame.code() == Code::kUnsupported);
    return 0;
  }
  require(frame->type == expected);
  check_frame(bytes, *frame, decompressor);
  return 0;
}

}  // namespace varve::format
