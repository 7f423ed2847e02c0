// Owns: the bytes of a table file while it is made, front to back: those not taken yet, where the next one goes, and
// the hash of all of them.
// Must never: change a byte it has given out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/block.h"
#include "format/block_observer.h"
#include "format/content_hasher.h"

namespace varve::format {

class TableOutput {
 public:
  explicit TableOutput(std::uint64_t seed) : seed_(seed) {}

  /// Shows it each block from now on; null: nobody. It outlives the output, or the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { observer_ = observer; }

  std::uint64_t seed() const noexcept { return seed_; }
  /// Where the next byte stands in the file.
  std::uint64_t offset() const noexcept { return offset_; }
  FilePlace place() const noexcept { return {seed_, offset_}; }

  void append(std::string_view bytes);
  /// A block at place(), filled as format::append_block() says. `made`, unless null, is told what became of it.
  BlockHandle append_block(BlockType type, std::string_view content, Compressor* compressor, DictionaryUse dictionary,
                           Filling filling = {}, BlockMade* made = nullptr);

  std::string_view pending() const noexcept { return bytes_; }
  void discard_pending() noexcept { bytes_.clear(); }
  /// Of everything appended.
  std::uint64_t content_hash() const noexcept { return hasher_.digest(); }

 private:
  std::uint64_t seed_;
  std::uint64_t offset_ = 0;
  std::string bytes_;
  ContentHasher hasher_;
  BlockObserver* observer_ = nullptr;
};

}  // namespace varve::format
