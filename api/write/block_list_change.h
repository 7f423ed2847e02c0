// Owns: making a blob's content of blocks (BB-08, BB-09).
// Must never: use a block that another commit has discarded.
#pragma once

#include <span>
#include <string_view>

#include "api/blob/blob_rows.h"
#include "api/core/container_state.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// The arguments were checked. Errors: as Container::commit_blocks().
Result<BlobState> commit_block_list(const Container::State& container, std::string_view blob,
                                    std::span<const BlockChoice> blocks, const BlobWriteOptions& options,
                                    Durability durability);

/// Blocks that are staged, in the order of their ids, with the version of their list. Without a list the version is 0.
struct StagedBlocks {
  struct Block {
    std::string id;
    ContentPiece piece;
    std::optional<std::uint64_t> crc64{};
  };
  std::uint64_t generation = 0;
  format::CommitVersion version = 0;
  std::vector<Block> blocks;
};
/// Returns their number. Errors: kCorruption, those of reading.
Result<std::uint32_t> count_staged_blocks(const engine::ReadView& view, format::TableId container,
                                          std::string_view blob);
/// Errors: kCorruption, those of reading.
Result<StagedBlocks> read_staged_blocks(const engine::ReadView& view, format::TableId container, std::string_view blob);

}  // namespace varve
