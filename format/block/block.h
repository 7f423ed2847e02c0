// Owns: the frame around every block of a table file.
// Must never: accept bytes of another place, file or time as a block, or allocate a size that hostile bytes ask for.
//
// A block at offset o of its file. A handle names it by its offset and the size of the whole frame in bytes:
//   offset size
//        0    4  r, raw bytes: of the content when decompressed, at most 67,108,864
//        4    1  block type
//        5    1  compression
//        6    2  flags, zero
//        8    n  stored content, and optional filling
//      8+n    8  checksum of bytes 0 to 8+n-1 at (file seed, o)
//
// A filling is a zstd skippable frame (RFC 8878, section 3.1.2) after the content's frame, so only compressed blocks
// have one. It moves the following bytes to a better place: a block within one sector of the device is read faster than
// a block across two.
//
// If a block is copied to another place or file, it is re-stamped: only the place's term in its checksum changes.
// Damage that happens during the copy therefore remains visible.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "format/bytes/checksum.h"
#include "format/bytes/compression.h"
#include "format/bytes/sector.h"
#include "varve/result.h"

namespace varve::format {

enum class BlockType : std::uint8_t {
  kData = 1,
  kIndexPartition = 2,
  kFilterPartition = 3,
  kTopIndex = 4,
  kTableDirectory = 5,
  kProperties = 6,
  kDictionary = 7,
};

/// Returns a name like "data block" or "index partition".
std::string_view block_type_name(BlockType type) noexcept;

enum class BlockCompression : std::uint8_t {
  kNone = 0,            // the stored content is the content
  kZstd = 1,            // one zstd frame
  kZstdDictionary = 2,  // data blocks only: one zstd frame, compressed with the dictionary that the block's run names
};

inline constexpr std::size_t kBlockHeadBytes = 8;
/// Size in bytes that a frame adds to its stored content.
inline constexpr std::size_t kBlockFrameBytes = 16;
inline constexpr std::uint32_t kBlockRawBytesMax = 64u << 20;

/// The place of a block in its file. `bytes` counts the whole frame.
struct BlockHandle {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t end() const noexcept { return offset + bytes; }
  bool operator==(const BlockHandle&) const = default;
};

/// The fields of a verified frame.
struct BlockFrame {
  BlockType type = BlockType::kData;
  BlockCompression compression = BlockCompression::kNone;
  std::uint32_t raw_bytes = 0;
  std::string_view stored;
};

enum class DictionaryUse : std::uint8_t { kNever, kIfThereIsOne };

/// The preferred end of a block, if the filling needs few bytes.
struct Filling {
  std::uint64_t bytes_max = 0;
  /// Offset of the preferred end from a multiple of kSectorBytes in the file. Below kSectorBytes.
  std::uint64_t end_in_sector = 0;
};

/// The result of append_block().
struct BlockMade {
  BlockCompression compression = BlockCompression::kNone;
  std::uint64_t filling_bytes = 0;
};

/// Appends the block for `place`. The content has at most kBlockRawBytesMax bytes (asserted). It is compressed if
/// `compressor` is not null and compression saves an eighth. A compressed block is filled as `filling` says, unless the
/// filling needs more bytes than compression saved.
BlockMade append_block(std::string& out, BlockType type, std::string_view content, Compressor* compressor,
                       DictionaryUse dictionary, FilePlace place, Filling filling = {});

/// Verifies the frame that fills `bytes`. Checks in this order: size, checksum, type, compression and flags, sizes.
/// Errors: kCorruption; kUnsupported (intact, but with a compression or flags unknown to this build).
Result<BlockFrame> open_block(std::string_view bytes, FilePlace place, BlockType expected);

/// Decompresses or copies the content of a verified frame. `content` has exactly frame.raw_bytes bytes (asserted).
/// `dictionary` is the one that the block's run names, or null.
/// Errors: kCorruption. The caller has the handle and adds the place to the error.
Status read_block(const BlockFrame& frame, Decompressor& decompressor, const Dictionary* dictionary,
                  std::span<char> content);

/// Calls open_block() and read_block(), and returns the content in new memory.
Result<std::string> decode_block(std::string_view bytes, FilePlace place, BlockType expected,
                                 Decompressor& decompressor, const Dictionary* dictionary);

// The functions below find blocks without an index, to salvage a damaged file. A checksum verifies at only one place of
// one file. A block that verifies is therefore a block of this file, wherever the search began.

/// Returns the maximum size in bytes of a block whose first kBlockHeadBytes are `head`, or zero if no block begins like
/// that.
std::uint64_t block_bytes_bound(std::string_view head) noexcept;

struct IntactBlock {
  BlockType type = BlockType::kData;
  std::uint64_t bytes = 0;
};
/// Finds a block at the front of `bytes`, which are stored at `place`. Returns nothing if no frame there verifies, or
/// if its compression is unknown to this build, because the block's end is then unknown.
std::optional<IntactBlock> find_intact_block(std::string_view bytes, FilePlace place) noexcept;

/// Replaces the place in the checksum of a frame that fills `bytes`. Verifies nothing.
void restamp_block(std::span<char> bytes, FilePlace from, FilePlace to) noexcept;

}  // namespace varve::format
