// Owns: the frame around every block of a table file.
// Must never: let bytes of another place, file or time read as a block, or allocate what hostile bytes ask for.
//
// A block at offset o of its file, named by a handle (offset, bytes of the whole frame):
//   offset size
//        0    4  r, raw bytes: of the content when decompressed, at most 67,108,864
//        4    1  block type
//        5    1  compression
//        6    2  flags, zero
//        8    n  stored content, and perhaps a filling
//      8+n    8  checksum of bytes 0 to 8+n-1 at (file seed, o)
//
// A filling is a skippable frame of zstd (RFC 8878, section 3.1.2) behind the content's, so compressed blocks alone
// have one. It moves what follows to a better place: a block that lies in one sector of the device is read faster than
// one that lies in two.
//
// A block copied to another place or file is re-stamped: its checksum exchanges the term of the place, so that damage
// done on the way stays visible.
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

/// "data block", "index partition", ...
std::string_view block_type_name(BlockType type) noexcept;

enum class BlockCompression : std::uint8_t {
  kNone = 0,            // the stored content is the content
  kZstd = 1,            // one zstd frame
  kZstdDictionary = 2,  // of data blocks alone: one zstd frame, made with the dictionary that the block's run names
};

inline constexpr std::size_t kBlockHeadBytes = 8;
/// What a frame adds to its stored content.
inline constexpr std::size_t kBlockFrameBytes = 16;
inline constexpr std::uint32_t kBlockRawBytesMax = 64u << 20;

/// Where a block lies in its file; `bytes` counts the whole frame.
struct BlockHandle {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t end() const noexcept { return offset + bytes; }
  bool operator==(const BlockHandle&) const = default;
};

/// What a frame says, once it is verified.
struct BlockFrame {
  BlockType type = BlockType::kData;
  BlockCompression compression = BlockCompression::kNone;
  std::uint32_t raw_bytes = 0;
  std::string_view stored;
};

enum class DictionaryUse : std::uint8_t { kNever, kIfThereIsOne };

/// Where a block may end, if that takes few bytes.
struct Filling {
  std::uint64_t bytes_max = 0;
  /// Counted from a multiple of kSectorBytes in the file; below it.
  std::uint64_t end_in_sector = 0;
};

/// What append_block() made of a content.
struct BlockMade {
  BlockCompression compression = BlockCompression::kNone;
  std::uint64_t filling_bytes = 0;
};

/// Appends the block for `place`. The content is at most kBlockRawBytesMax (asserted). It is compressed if
/// `compressor` is not null and that takes an eighth off it. A compressed one is filled as
/// `filling` says, unless that takes more than compression saved.
BlockMade append_block(std::string& out, BlockType type, std::string_view content, Compressor* compressor,
                       DictionaryUse dictionary, FilePlace place, Filling filling = {});

/// Verifies the frame that fills `bytes`. Judged in this order: size, checksum, type, compression and flags, sizes.
/// Errors: kCorruption; kUnsupported (intact, with a compression or flags unknown to this build).
Result<BlockFrame> open_block(std::string_view bytes, FilePlace place, BlockType expected);

/// Decompresses, or copies, the content of a verified frame. `content` has exactly frame.raw_bytes bytes (asserted);
/// `dictionary` is the one that the block's run names, or null.
/// Errors: kCorruption; the caller, who has the handle, adds the place.
Status read_block(const BlockFrame& frame, Decompressor& decompressor, const Dictionary* dictionary,
                  std::span<char> content);

/// open_block and read_block into memory of its own.
Result<std::string> decode_block(std::string_view bytes, FilePlace place, BlockType expected,
                                 Decompressor& decompressor, const Dictionary* dictionary);

// Blocks where no index tells of them, for who saves what is left of a damaged file. The checksum holds at one place of
// one file alone, so what verifies is a block of this file, wherever the search for it began.

/// The most bytes that a block takes whose first kBlockHeadBytes are `head`; zero where no block begins so.
std::uint64_t block_bytes_bound(std::string_view head) noexcept;

struct IntactBlock {
  BlockType type = BlockType::kData;
  std::uint64_t bytes = 0;
};
/// The block at the front of `bytes`, which stand at `place`: its frame verifies. Nothing if none does; a block of a
/// compression unknown to this build is none, since its end cannot be known.
std::optional<IntactBlock> find_intact_block(std::string_view bytes, FilePlace place) noexcept;

/// Exchanges the place in the checksum of a frame that fills `bytes`; verifies nothing.
void restamp_block(std::span<char> bytes, FilePlace from, FilePlace to) noexcept;

}  // namespace varve::format
