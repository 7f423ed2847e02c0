// Owns: the bytes of a table file while it is made, front to back: those not taken yet, where the next one goes, and
// the hash of all of them.
// Must never: change a byte that stands in a file, or hash one out of order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/block/block_observer.h"
#include "format/bytes/content_hasher.h"

namespace varve::format {

/// Whether the bytes are those of a file, whose content is hashed as it goes, or are to be passed on to one.
enum class OutputUse : std::uint8_t { kFile, kApart };

class TableOutput {
 public:
  explicit TableOutput(std::uint64_t seed, OutputUse use = OutputUse::kFile) : seed_(seed), use_(use) {}

  /// Shows it each block from now on; null: nobody. It outlives the output, or the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { observer_ = observer; }

  std::uint64_t seed() const noexcept { return seed_; }
  /// Where the next byte stands in the file.
  std::uint64_t offset() const noexcept { return offset_; }
  FilePlace place() const noexcept { return {seed_, offset_}; }

  void append(std::string_view bytes);
  /// As append(), but the bytes do not become pending: who has them writes them behind what is.
  void pass(std::string_view bytes);
  /// A block at place(), filled as format::append_block() says. `made`, unless null, is told what became of it.
  BlockHandle append_block(BlockType type, std::string_view content, Compressor* compressor, DictionaryUse dictionary,
                           Filling filling = {}, BlockMade* made = nullptr);

  std::string_view pending() const noexcept { return bytes_; }
  /// The same, to be stamped for the place where they go.
  std::span<char> pending_to_stamp() noexcept { return bytes_; }
  void discard_pending() noexcept { bytes_.clear(); }
  /// Of what is made apart: nothing is pending any more, and the next byte stands at that offset.
  void begin_again(std::uint64_t offset) noexcept;
  /// Of everything appended, if it is for a file.
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
