// Owns: the bytes of a table file while it is built, front to back: the pending bytes, the offset of the next byte, and
// the hash of all bytes.
// Must never: change a byte that is already in the file, or hash bytes out of order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/block/block_observer.h"
#include "format/bytes/content_hasher.h"

namespace varve::format {

/// Whether the bytes are those of a file, whose content is hashed, or are made apart and added to a file later.
enum class OutputUse : std::uint8_t { kFile, kApart };

class TableOutput {
 public:
  explicit TableOutput(std::uint64_t seed, OutputUse use = OutputUse::kFile) : seed_(seed), use_(use) {}

  /// Shows each later block to `observer`. Null ends that. The observer must outlive the output or the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { observer_ = observer; }

  std::uint64_t seed() const noexcept { return seed_; }
  /// Returns the offset of the next byte in the file.
  std::uint64_t offset() const noexcept { return offset_; }
  FilePlace place() const noexcept { return {seed_, offset_}; }

  void append(std::string_view bytes);
  /// Counts and hashes bytes like append(), but does not make them pending: the caller writes them after the pending
  /// bytes.
  void pass(std::string_view bytes);
  /// Appends a block at place(), filled as format::append_block() describes. `made`, unless null, receives the result.
  BlockHandle append_block(BlockType type, std::string_view content, Compressor* compressor, DictionaryUse dictionary,
                           Filling filling = {}, BlockMade* made = nullptr);

  std::string_view pending() const noexcept { return bytes_; }
  /// Returns the pending bytes for stamping them for another place.
  std::span<char> pending_to_stamp() noexcept { return bytes_; }
  void discard_pending() noexcept { bytes_.clear(); }
  /// Prepares memory for as many pending bytes.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  /// For bytes that are made apart: discards the pending bytes, and continues at `offset`.
  void begin_again(std::uint64_t offset) noexcept;
  /// Returns the hash of all appended bytes, if they are for a file.
  std::uint64_t content_hash() const noexcept { return hasher_.digest(); }

 private:
  std::uint64_t seed_;
  OutputUse use_;
  std::uint64_t offset_ = 0;
  std::string bytes_;
  ContentHasher hasher_;
  BlockObserver* observer_ = nullptr;
};

}  // namespace varve::format
