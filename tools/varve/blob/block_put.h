// Owns: writing a blob as blocks, so that a later line goes on where an interrupted one ended.
// Must never: take a staged block for a part of the file without comparing a checksum.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/varve/input/file_input.h"
#include "tools/varve/reach/blob_access.h"
#include "varve/blob.h"

namespace varve::tool {

/// The bytes of a put so far.
struct BlockPutFigures {
  std::uint64_t bytes = 0;
  /// Bytes of blocks that were there already.
  std::uint64_t kept_bytes = 0;
};

/// Reads the input to its end. Stages each part as a block whose id names its place, its CRC-64 and its length, unless
/// the blob has a block with this id. Then makes a content of the blocks. Calls `progress` after each block. Errors:
/// those of the input, with its end() (kCancelled: a signal); kTooLarge (more than 50,000 blocks); those of the store.
/// Staged blocks stay after an error.
Result<BlobState> put_as_blocks(BlobAccess& access, const std::string& blob, FileInput& input,
                                const BlobWriteOptions& options,
                                const std::function<void(const BlockPutFigures& figures)>& progress);

}  // namespace varve::tool
