// Owns: the measures of a load.
// Must never: be a choice of users: the right values do not depend on what is loaded. Tests make them small.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/levels/tree_shape.h"

namespace varve::engine {

struct LoadOptions {
  /// What may be held in memory to be sorted, beside the write buffer.
  std::size_t sort_buffer_bytes = std::size_t{64} << 20;
  /// How many sorted rows of files are merged at once, at least 2. Each takes a file handle and one run, about a MiB.
  std::size_t merge_width = 32;
  /// A load's files go to the last level.
  std::uint64_t file_bytes = file_bytes_at(kLastLevel);
  /// What is handed to a thread that writes at once, of keys and values, at most: as much as fills a run, 2 MiB of what
  /// compresses to half. Five are under way beside the one that is filled, three of them with what is made of them.
  std::size_t chunk_bytes_max = std::size_t{4} << 20;
  /// Two make what one brings. One more works while another waits for the disk at the end of a file: on two processors
  /// that is a seventh more entities a second.
  std::size_t write_threads = 3;
};

/// What a load has done so far.
struct LoadFigures {
  std::uint64_t entries = 0;
  /// Of keys and values, as given.
  std::uint64_t bytes = 0;
  /// Of those, what came out of order and had to be sorted.
  std::uint64_t sorted_entries = 0;
  /// Bytes of files, those of sorting included.
  std::uint64_t written_bytes = 0;
};

}  // namespace varve::engine
