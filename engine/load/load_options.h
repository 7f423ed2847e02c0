// Owns: the sizes and limits of a load.
// Must never: be an option for users: the right values do not depend on the loaded data. Tests use small values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/levels/tree_shape.h"

namespace varve::engine {

struct LoadOptions {
  /// Limit in bytes of the entries held in memory for sorting, in addition to the write buffer. A half of it is filled while
  /// the other half is written.
  std::size_t sort_buffer_bytes = std::size_t{64} << 20;
  /// Limit of sorted rows of files that are merged at once, at least 2. Each uses a file handle and one run, about a
  /// MiB.
  std::size_t merge_width = 32;
  /// Size of a load's files in bytes. They are installed in the last level.
  std::uint64_t file_bytes = TreeShape().file_bytes;
  /// Limit in bytes of the keys and values that a writing thread gets at once. It is enough to fill a run, which takes
  /// 2 MiB of data that compresses to half. Besides the chunk that is being filled, five are in progress, three of them
  /// together with the runs made from them.
  std::size_t chunk_bytes_max = std::size_t{4} << 20;
  /// Number of writing threads. Two keep up with one adding thread. The third works while another waits for the disk at
  /// the end of a file. On two processors, that loads a seventh more entities a second.
  std::size_t write_threads = 3;
};

}  // namespace varve::engine
