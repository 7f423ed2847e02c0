// Owns: the interface through which the builder of a table file shows each block that it made.
// Must never: let an observer change or fail the write.
#pragma once

#include <string_view>

#include "format/block/block.h"

namespace varve::format {

class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  /// Called when a block is stored at `place` of the file. `content` is the content that readers will see, valid during
  /// the call. Blocks of runs that are copied unchanged are not reported.
  virtual void take(BlockType type, BlockHandle place, std::string_view content) noexcept = 0;
};

}  // namespace varve::format
