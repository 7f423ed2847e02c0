// Owns: read, verify, decompress, insert (block_reader.h).
// Must never: read or decompress while it holds a lock.
#include "engine/tables/block_reader.h"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace varve::engine {

namespace {

BlockPriority priority_of(format::BlockType type) noexcept {
  return type == format::BlockType::kData ? BlockPriority::kNormal : BlockPriority::kHigh;
}

}  // namespace

Result<PinnedBlock> BlockReader::get(const BlockWanted& wanted) {
  if (PinnedBlock cached = cache_.pin(wanted.table->cache_id, wanted.handle.offset); cached) return cached;
  return read(wanted);
}

Result<PinnedBlock> BlockReader::read(const BlockWanted& wanted) {
  try {
    std::unique_ptr<Tools> tools = take_tools();
    Result<Block> block = fetch(wanted, *tools);
    give_back(std::move(tools));
    if (!block.ok()) return block.status().in_file(wanted.table->name, wanted.handle.offset);
    return cache_.insert(wanted.table->cache_id, wanted.handle.offset, *std::move(block), priority_of(wanted.type));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<Block> BlockReader::fetch(const BlockWanted& wanted, Tools& tools) {
  const std::size_t bytes = wanted.handle.bytes;
  if (tools.buffer_bytes < bytes) {
    tools.buffer_bytes = 0;
    tools.buffer.reset(new char[bytes]);
    tools.buffer_bytes = bytes;
  }
  const std::span<char> stored(tools.buffer.get(), bytes);
  if (Status read = wanted.table->file->read_exactly(wanted.handle.offset, std::as_writable_bytes(stored));
      !read.ok()) {
    return read;
  }
  reads_.fetch_add(1, std::memory_order_relaxed);
  read_bytes_.fetch_add(bytes, std::memory_order_relaxed);

  const format::FilePlace place{wanted.table->seed, wanted.handle.offset};
  const Result<format::BlockFrame> frame =
      format::open_block(std::string_view(stored.data(), stored.size()), place, wanted.type);
  if (!frame.ok()) return frame.status();
  Result<Block> block = Block::allocate(frame->raw_bytes, static_cast<std::uint8_t>(wanted.type));
  if (!block.ok()) return block;
  const format::Dictionary* const dictionary =
      wanted.type == format::BlockType::kData ? wanted.table->dictionary_of(*wanted.run) : nullptr;
  if (Status decoded = format::read_block(*frame, tools.decompressor, dictionary, block->content()); !decoded.ok()) {
    return decoded;
  }
  return block;
}

std::unique_ptr<BlockReader::Tools> BlockReader::take_tools() {
  {
    const io::MutexGuard guard(mutex_);
    if (!tools_.empty()) {
      std::unique_ptr<Tools> tools = std::move(tools_.back());
      tools_.pop_back();
      return tools;
    }
    tools_.reserve(kToolsKept);
  }
  return std::make_unique<Tools>();
}

void BlockReader::give_back(std::unique_ptr<Tools> tools) noexcept {
  if (tools->buffer_bytes > kBufferBytesKept) return;
  const io::MutexGuard guard(mutex_);
  if (tools_.size() < kToolsKept) tools_.push_back(std::move(tools));  // Room was reserved.
}

}  // namespace varve::engine
