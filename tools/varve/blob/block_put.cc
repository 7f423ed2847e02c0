#include "tools/varve/blob/block_put.h"

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "format/bytes/crc64.h"
#include "varve/limits.h"

namespace varve::tool {

namespace {

/// The first blocks are short, so that little is lost at an interruption. Later ones are long, so that a blob of 2.6 TB
/// has no more blocks than it may.
constexpr std::size_t kShortBlockBytes = std::size_t{8} << 20;
constexpr std::size_t kLongBlockBytes = std::size_t{64} << 20;
constexpr std::size_t kShortBlocks = 10'000;

constexpr std::size_t bytes_of_block(std::size_t number) noexcept {
  return number < kShortBlocks ? kShortBlockBytes : kLongBlockBytes;
}

/// Returns the id of a block. All ids have 32 characters.
std::string id_of_block(std::size_t number, const std::string& content) {
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%08x%016llx%08x", static_cast<unsigned>(number),
                static_cast<unsigned long long>(format::crc64(content)), static_cast<unsigned>(content.size()));
  return text.data();
}

/// Fills the text with the next bytes of the input. Only the last part is shorter than `bytes`.
Status read_part(FileInput& input, std::size_t bytes, std::string& part) {
  part.resize(bytes);
  std::size_t filled = 0;
  while (filled < bytes) {
    const std::size_t got = input.read(part.data() + filled, bytes - filled);
    if (got == 0) break;
    filled += got;
  }
  part.resize(filled);
  if (input.end() == InputEnd::kSignal) return Status(Code::kCancelled, "a signal ended the reading");
  return input.end() == InputEnd::kError ? input.status() : Status();
}

/// Returns the ids of the blocks that the blob has.
Result<std::set<std::string>> present_ids(BlobAccess& access, const std::string& blob) {
  const Result<BlockLists> blocks = access.blocks(blob);
  if (blocks.status().service_error() == "BlobNotFound") return std::set<std::string>();
  if (!blocks.ok()) return blocks.status();
  std::set<std::string> ids;
  for (const BlockInfo& block : blocks->committed) ids.insert(block.id);
  for (const BlockInfo& block : blocks->staged) ids.insert(block.id);
  return ids;
}

Status stage_part(BlobAccess& access, const std::string& blob, const std::string& id, const std::string& part,
                  const BlobWriteOptions& of_blob) {
  BlobWriteOptions options;
  options.conditions.lease = of_blob.conditions.lease;
  options.compresses = of_blob.compresses;
  options.properties.content_encoding = of_blob.properties.content_encoding;  // an encoded content is not compressed
  options.durability = Durability::kBuffered;  // the commit of the list makes all blocks durable
  Result<std::unique_ptr<BlobSink>> sink = access.stage_block(blob, id, options);
  if (!sink.ok()) return sink.status();
  if (Status added = (*sink)->append(part); !added.ok()) return added;
  return (*sink)->publish().status();
}

}  // namespace

Result<BlobState> put_as_blocks(BlobAccess& access, const std::string& blob, FileInput& input,
                                const BlobWriteOptions& options,
                                const std::function<void(const BlockPutFigures& figures)>& progress) {
  const Result<std::set<std::string>> present = present_ids(access, blob);
  if (!present.ok()) return present.status();
  BlockPutFigures figures;
  std::vector<BlockChoice> list;
  std::string part;
  for (;;) {
    if (Status read = read_part(input, bytes_of_block(list.size()), part); !read.ok()) return read;
    if (part.empty()) break;
    if (list.size() == limits::kBlocksMax) {
      return Status::too_large("a blob of --resume has at most 50,000 blocks, which are about 2.6 TB");
    }
    std::string id = id_of_block(list.size(), part);
    if ((*present).count(id) != 0) {
      figures.kept_bytes += part.size();
    } else if (Status staged = stage_part(access, blob, id, part, options); !staged.ok()) {
      return staged;
    }
    figures.bytes += part.size();
    list.push_back({std::move(id), BlockChoice::From::kLatest});
    progress(figures);
    if (input.end() != InputEnd::kNone) break;
  }
  return access.commit_blocks(blob, list, options);
}

}  // namespace varve::tool
