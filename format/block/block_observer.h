// Owns: the door through which the maker of a table file shows each block it has made.
// Must never: let who looks change what is written, or fail it.
#pragma once

#include <string_view>

#include "format/block/block.h"

namespace varve::format {

class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  /// A block now stands at `place` of the file; `content` is what its readers will see, valid during the call. Blocks
  /// of runs that were copied as they are do not come by here.
  virtual void take(BlockType type, BlockHandle place, std::string_view content) noexcept = 0;
};

}  // namespace varve::format
