// Owns: lists of blocks, tags, and listings of blobs and containers as the XML that clients send and receive.
// Must never: change a character of a name or a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/blob.h"
#include "varve/result.h"

namespace varve::serve {

/// The most blocks of a blob. Source: BB-08.
inline constexpr std::size_t kBlocksMax = 50'000;
/// The most bytes of a body with a list of blocks: kBlocksMax elements with the longest ids, and blanks between them.
inline constexpr std::uint64_t kBlockListBytesMax = std::uint64_t{8} << 20;

/// Reads a block id as clients write it: base64 of 1 to 64 bytes, or nothing if the text is no such id.
std::optional<std::string> decode_block_id(std::string_view text);

/// Reads a BlockList document. Errors: kInvalidArgument (InvalidXmlDocument, as XmlDocument::read(); InvalidBlockList: an
/// id is not base64 of 1 to 64 bytes; BlockListTooLong). Source: BB-08.
Result<std::vector<BlockChoice>> read_block_list(std::string_view body);

/// The blocks that an answer shows.
enum class ShownBlocks : std::uint8_t { kCommitted, kStaged, kAll };
/// Writes the blocks of a blob. Source: BB-20.
std::string write_block_lists(const BlockLists& blocks, ShownBlocks shown);
/// Returns at least the bytes of what write_block_lists() returns.
std::uint64_t block_lists_bytes(const BlockLists& blocks, ShownBlocks shown) noexcept;

/// Reads a Tags document. The store checks the tags. Errors: kInvalidArgument (InvalidXmlDocument). Source: BT-10.
Result<std::vector<BlobTag>> read_tags(std::string_view body);
std::string write_tags(std::span<const BlobTag> tags);

/// The parts of a listing that the request asked for, as it wrote them. Absent ones are absent from the answer.
struct ShownListing {
  std::string endpoint;
  std::optional<std::string> prefix{};
  std::optional<std::string> marker{};
  std::optional<std::string> items_max{};
  std::optional<std::string> delimiter{};
  bool has_metadata = false;
  bool has_tags = false;
  bool has_copies = false;
  /// Empty on the last page.
  std::string next_marker{};
};

/// Writes a page of blobs under a protocol version. Source: BL-02, BL-03.
std::string write_blob_listing(const ShownListing& shown, std::string_view container,
                               std::span<const BlobListed> entries, std::string_view version);

/// Writes a page of containers. Source: BB-17.
std::string write_container_listing(const ShownListing& shown, std::span<const ContainerState> containers);

}  // namespace varve::serve
