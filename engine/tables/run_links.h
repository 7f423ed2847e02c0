// Owns: the links to the cached filter and index partitions of one table's runs.
// Must never: outlive the table's index, or keep a block in the cache.
//
// Every point read needs both partitions of a run. A run of the table is about 1 MiB, so the links take 16 bytes for each
// MiB. The partitions themselves are blocks of the cache as before: they count in its budget, and it may evict them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cache/block_cache.h"
#include "format/block/block.h"
#include "format/table/table_entries.h"

namespace varve::engine {

/// Thread-safe.
class RunLinks {
 public:
  /// Both arguments must outlive the object. Throws std::bad_alloc.
  RunLinks(BlockCache& cache, std::uint64_t cache_id, const std::vector<format::RunEntry>& runs)
      : cache_(cache), cache_id_(cache_id), runs_(runs), links_(std::make_unique<OfRun[]>(runs.size())) {}
  /// No reader uses the links any more.
  ~RunLinks() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      cache_.unlink(cache_id_, runs_[run].filter().offset, links_[run].filter);
      cache_.unlink(cache_id_, runs_[run].index().offset, links_[run].index);
    }
  }
  RunLinks(const RunLinks&) = delete;
  RunLinks& operator=(const RunLinks&) = delete;

  /// Returns the link of a partition of the run, or null for a block of another type.
  CacheLink* of(std::size_t run, format::BlockType type) const noexcept {
    if (type == format::BlockType::kFilterPartition) return &links_[run].filter;
    return type == format::BlockType::kIndexPartition ? &links_[run].index : nullptr;
  }

 private:
  struct OfRun {
    CacheLink filter;
    CacheLink index;
  };

  BlockCache& cache_;
  const std::uint64_t cache_id_;
  const std::vector<format::RunEntry>& runs_;
  const std::unique_ptr<OfRun[]> links_;
};

}  // namespace varve::engine
