// Owns: building one run: data blocks of about one sector in stored form, then their filter and index partitions.
// Must never: compress a block twice to find its size, or depend on where its file ends.
//
// The builder estimates a block's stored size from the compression of earlier blocks. It cuts the block before the
// entry that would cross the end of the sector. If the gap to the end of the sector is small, the block is filled, and
// the next block begins there. With entities of 300 bytes, nine of ten blocks lie in one sector, for a sixtieth more
// bytes. If entities are large or not compressed, a block continues in the next sector without any filling.
//
// Runs end at the offset within a sector at which a file's first run begins. A copied run then has the same position
// within a sector in every file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/block/data_block.h"
#include "format/block/dictionary_learner.h"
#include "format/block/filter.h"
#include "format/block/sorted_block_builder.h"
#include "format/block/statistics_builder.h"
#include "format/table/table_entries.h"
#include "format/table/table_output.h"
#include "varve/result.h"

namespace varve::format {

/// Limit in bytes of a block's raw content before its last entry, however well it compresses: reading one entry
/// decompresses the whole block.
inline constexpr std::uint64_t kDataBlockRawBytesTarget = 32u << 10;

struct FilterChoice {
  FilterKind kind = FilterKind::kBlockedBloom;
  /// Used only by a Bloom filter.
  double bits_per_key = 10;
};

/// Returns a short separator that is cheap to find: not below `last`, and below `next` unless it equals `last`.
std::string separator_between(std::string_view last, std::string_view next);

/// Builds runs one after another into `output`.
class RunBuilder {
 public:
  /// `filter` must be a choice that build_filter() accepts (asserted). If `compressor` is null, blocks are not
  /// compressed. Compressor and output must outlive the builder.
  RunBuilder(FilterChoice filter, Compressor* compressor, TableOutput* output) noexcept;

  /// Shows the content of each later block to `learner`. Null ends that. The learner must outlive the builder or the
  /// next call.
  void show_blocks_to(DictionaryLearner* learner) noexcept { learner_ = learner; }

  /// Returns true if no entry was added since the last run was finished.
  bool empty() const noexcept { return run_.entry_count == 0; }
  bool block_is_empty() const noexcept { return block_.empty(); }
  /// Returns true if the open block would be too large with this entry, so that the caller should cut it first. Always
  /// false for a block's first entry.
  bool would_overfill(const DataEntry& entry) const noexcept;
  /// Returns true if the run has the maximum number of blocks.
  bool is_full() const noexcept { return blocks_.size() == kRunBlocksMax; }

  /// Adds an entry, in the order of internal keys. The run must not be full, and an external value must have a
  /// valid pointer (asserted).
  void add(const DataEntry& entry);
  /// Writes the open block, which must exist (asserted).
  BlockHandle cut_block();
  /// Writes filter and index. No block may be open, and at least one must be cut (asserted). `dictionary_hash` names
  /// the compressor's dictionary.
  RunEntry finish(std::uint64_t dictionary_hash);

  /// Returns the stored bytes for each 1,024 estimated bytes, averaged over the previous blocks.
  std::uint64_t stored_per_1024() const noexcept { return stored_per_1024_; }
  /// Assumes that blocks compress like the blocks of the builder that returned this figure.
  void expect(std::uint64_t stored_per_1024) noexcept { stored_per_1024_ = stored_per_1024; }

  /// Returns the approximate number of bytes that finishing the run now would add to those already written.
  std::uint64_t estimated_unwritten_bytes() const noexcept;

 private:
  struct PendingBlock {
    std::string separator;
    BlockEntry entry;
  };

  void start_block(std::string_view key);
  void count_special(const DataEntry& entry);
  void count_external(std::string_view pointer);
  void learn_ratio(std::uint64_t estimated_bytes, std::uint64_t stored_bytes) noexcept;
  std::string_view index_content(const StatisticsBuilder::Fields& statistics);

  FilterChoice filter_;
  Compressor* compressor_;
  DictionaryLearner* learner_ = nullptr;
  TableOutput* output_;
  DataBlockBuilder block_;
  RunEntry run_;
  std::vector<PendingBlock> blocks_;
  std::vector<std::uint64_t> hashes_;
  StatisticsBuilder statistics_;
  SortedBlockBuilder index_;
  std::string last_key_;
  std::uint64_t last_key_hash_ = 0;
  std::uint64_t separator_bytes_ = 0;
  std::uint64_t stored_per_1024_;
  bool used_dictionary_ = false;
  std::uint64_t block_deletes_ = 0;  // of the open block
  bool last_block_only_deletes_ = false;
};

}  // namespace varve::format
