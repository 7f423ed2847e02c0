// Owns: making one run: data blocks of about a sector as stored, then their filter and index partitions.
// Must never: compress a block twice to find its size, or know where its file ends.
//
// A block is cut before the entry that would bring it over the end of its sector, by what blocks before it compressed
// to, and filled up to that end where little is missing: then the next one begins there. Of entities of 300 bytes nine
// blocks of ten lie in one sector, for a sixtieth more bytes. Where it does not come out, because entities are large or
// not compressed, a block goes on into the next sector and costs no byte.
//
// Runs end where the first run of a file begins, counted from a multiple of the sector's size, so that their blocks
// lie as well in every file that they are copied to.
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

/// However well it compresses, a block holds no more than this and an entry: reading one entry decompresses all.
inline constexpr std::uint64_t kDataBlockRawBytesTarget = 32u << 10;

struct FilterChoice {
  FilterKind kind = FilterKind::kBlockedBloom;
  /// Of a Bloom filter alone.
  double bits_per_key = 10;
};

/// The shortest separator found quickly: not below `last`, and below `next` unless that is `last` again.
std::string separator_between(std::string_view last, std::string_view next);

/// Builds one run after the other into `output`.
class RunBuilder {
 public:
  /// `filter` is a choice that build_filter() takes (asserted). `compressor` may be null: nothing is compressed. Both
  /// outlive the builder.
  RunBuilder(FilterChoice filter, Compressor* compressor, TableOutput* output) noexcept;

  /// Shows it the content of each block from now on; null: none. It outlives the builder, or the next call.
  void show_blocks_to(DictionaryLearner* learner) noexcept { learner_ = learner; }

  /// No entry since the last run was finished.
  bool empty() const noexcept { return run_.entry_count == 0; }
  bool block_is_empty() const noexcept { return block_.empty(); }
  /// True if a block with this entry too would be too large, so that it is better cut before. Never for a first entry.
  bool would_overfill(const DataEntry& entry) const noexcept;
  /// As many blocks as a run may have stand in it.
  bool is_full() const noexcept { return blocks_.size() == kRunBlocksMax; }

  /// In the order of internal keys; the run is not full, and the pointer of a kPutExternal is one (asserted).
  void add(const DataEntry& entry);
  /// Writes the block; there is one (asserted).
  BlockHandle cut_block();
  /// Writes filter and index; there is no block open, and one at least is cut (asserted).
  /// `dictionary_hash` names the compressor's dictionary.
  RunEntry finish(std::uint64_t dictionary_hash);

  /// About the bytes that would stand in the file if the run were finished now, above those already written.
  std::uint64_t estimated_unwritten_bytes() const noexcept;

 private:
  struct PendingBlock {
    std::string separator;
    BlockEntry entry;
  };

  void start_block(std::string_view key);
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
  /// Stored bytes for 1,024 estimated ones, of the blocks before.
  std::uint64_t stored_per_1024_;
  bool used_dictionary_ = false;
  std::uint64_t block_deletes_ = 0;  // of the open block
  bool last_block_only_deletes_ = false;
};

}  // namespace varve::format
