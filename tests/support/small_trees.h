// Owns: small dimensions of trees for a test, so that a few entries fill many files of several levels.
// Must never: be used while a store is open.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/levels/tree_shape.h"

namespace varve::test {

/// Gives the stores that this process opens from now on trees with files of about `file_bytes`.
inline void set_tree_size(std::uint64_t file_bytes) {
  constexpr engine::TreeShape kUsual;
  engine::TreeShape& shape = engine::tree_shape();
  const std::uint64_t divisor = kUsual.file_bytes / file_bytes;
  shape.file_bytes = file_bytes;
  shape.chunk_weight_max = std::min(kUsual.chunk_weight_max, file_bytes / 4);
  shape.grandparent_bytes_max = kUsual.grandparent_bytes_max / divisor;
  shape.base_bytes = kUsual.base_bytes / divisor;
}

/// Gives the stores that this process opens from now on trees that suit their write buffer: small ones if it is small.
inline void suit_tree_to(std::uint64_t write_buffer_bytes) {
  set_tree_size(write_buffer_bytes < (1 << 20) ? 4 << 10 : engine::TreeShape().file_bytes);
}

/// Makes trees small while it lives.
class SmallTrees {
 public:
  explicit SmallTrees(std::uint64_t file_bytes = 1024) : before_(engine::tree_shape()) { set_tree_size(file_bytes); }
  ~SmallTrees() { engine::tree_shape() = before_; }
  SmallTrees(const SmallTrees&) = delete;
  SmallTrees& operator=(const SmallTrees&) = delete;

 private:
  const engine::TreeShape before_;
};

}  // namespace varve::test
