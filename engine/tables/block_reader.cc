// Owns: read, verify, decompress, insert (block_reader.h).
// Must never: read or decompress while it holds a lock.
#include "engine/tables/block_reader.h"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "format/bytes/checksum.h"

namespace varve::engine {

namespace {

/// Type of a value in the cache, in place of a block's type.
constexpr std::uint8_t kValueInCache = 0;

}  // namespace

Result<PinnedBlock> BlockReader::get(const BlockWanted& wanted) {
  if (PinnedBlock cached = cache_.pin(wanted.cache_id(), wanted.handle.offset); cached) return cached;
  return read(wanted);
}

Result<PinnedBlock> BlockReader::read(const BlockWanted& wanted) {
  try {
    std::unique_ptr<Tools> tools = take_tools();
    Result<PinnedBlock> block = read_with(wanted, *tools);
    give_back(std::move(tools));
    return block;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<PinnedBlock> BlockReader::take(const BlockWanted& wanted, const StoredBytes& stored) {
  try {
    std::unique_ptr<Tools> tools = take_tools();
    Result<PinnedBlock> block = take_checked(wanted, stored, *tools, priority_of(wanted.type));
    give_back(std::move(tools));
    return block;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<PinnedBlock> BlockReader::take(const BlockWanted& wanted, Tools& tools, BlockPriority priority) {
  return take(wanted, tools.stored, tools, priority);
}

Result<PinnedBlock> BlockReader::take(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools,
                                      BlockPriority priority) {
  try {
    return take_checked(wanted, stored, tools, priority);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

std::unique_ptr<BlockReader::Tools> BlockReader::lend() noexcept {
  try {
    return take_tools();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Result<PinnedBlock> BlockReader::read_with(const BlockWanted& wanted, Tools& tools) {
  const HeldFile& file = wanted.file();
  StoredBytes& stored = tools.stored;
  if (Status ready = stored.prepare(wanted.handle.offset, wanted.handle.bytes, file.size_bytes()); !ready.ok()) {
    return ready;
  }
  if (Status read = file.read_exactly(stored.offset(), stored.bytes()); !read.ok()) {
    return read.in_file(wanted.name(), wanted.handle.offset);
  }
  count_read(stored.bytes().size());
  return take_checked(wanted, stored, tools, priority_of(wanted.type));
}

/// The damage may have come about in memory, or in a cache of the file system. So a damaged block is read once more.
Result<PinnedBlock> BlockReader::take_checked(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools,
                                              BlockPriority priority) {
  Result<PinnedBlock> block = take_with(wanted, stored, tools, priority);
  if (block.status().code() != Code::kCorruption) [[likely]]
    return block;
  const HeldFile& file = wanted.file();
  StoredBytes again;
  if (Status ready = again.prepare(wanted.handle.offset, wanted.handle.bytes, file.size_bytes()); !ready.ok()) {
    return block;
  }
  if (!file.read_past_cache(again.offset(), again.bytes()).ok()) return block;
  count_read(again.bytes().size());
  return take_with(wanted, again, tools, priority);
}

Result<PinnedBlock> BlockReader::take_value(const BlockWanted& wanted, const StoredBytes& stored,
                                            BlockPriority priority) {
  const std::string_view value = stored.of(wanted.handle);
  if (format::content_hash(value) != wanted.value_hash) {
    return Status::corruption("the value does not match its entry").in_file(wanted.name(), wanted.handle.offset);
  }
  Result<Block> block =
      cache_.allocate(wanted.cache_id(), wanted.handle.offset, static_cast<std::uint32_t>(value.size()), kValueInCache);
  if (!block.ok()) return block.status();
  std::copy(value.begin(), value.end(), block->content().begin());
  return cache_.insert(wanted.cache_id(), wanted.handle.offset, *std::move(block), priority);
}

Result<PinnedBlock> BlockReader::take_with(const BlockWanted& wanted, const StoredBytes& stored, Tools& tools,
                                           BlockPriority priority) {
  if (wanted.values != nullptr) return take_value(wanted, stored, priority);
  const auto failed = [&](const Status& status) { return status.in_file(wanted.table->name, wanted.handle.offset); };
  const format::FilePlace place{wanted.table->seed, wanted.handle.offset};
  const Result<format::BlockFrame> frame = format::open_block(stored.of(wanted.handle), place, wanted.type);
  if (!frame.ok()) return failed(frame.status());
  Result<Block> block = cache_.allocate(wanted.table->cache_id, wanted.handle.offset, frame->raw_bytes,
                                        static_cast<std::uint8_t>(wanted.type));
  if (!block.ok()) return block.status();
  const format::Dictionary* const dictionary =
      wanted.type == format::BlockType::kData ? wanted.table->dictionary_of(*wanted.run) : nullptr;
  if (Status decoded = format::read_block(*frame, tools.decompressor, dictionary, block->content()); !decoded.ok()) {
    return failed(decoded);
  }
  return cache_.insert(wanted.table->cache_id, wanted.handle.offset, *std::move(block), priority);
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
  tools->stored.clear();  // The next one reads another file, and looks into its bytes by offset alone.
  if (tools->stored.memory_bytes() > kBufferBytesKept) return;
  const io::MutexGuard guard(mutex_);
  if (tools_.size() < kToolsKept) tools_.push_back(std::move(tools));  // Room was reserved.
}

}  // namespace varve::engine
