// Owns: the readable entries of one table file, in their order, and the losses between them.
// Must never: return an entry of a block that did not verify, or one out of order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/repair/block_scan.h"
#include "engine/repair/salvage.h"
#include "engine/repair/salvaged_index.h"
#include "format/block/data_block.h"

namespace varve::engine {

/// A block that does not verify is a gap. Its lost entries lie between the last key before it and the first key after
/// it. The gap's loss is recorded before the first key after the gap is returned. One thread at a time may use it.
class SalvagedTable final : public EntryStream {
 public:
  /// Moves to the first entry. Both arguments must outlive the table.
  SalvagedTable(const TableSource& source, Salvage& salvage);

  bool valid() const noexcept override { return valid_; }
  Entry entry() const noexcept override { return {data_.key(), data_.version(), data_.kind(), data_.value()}; }
  void next() override;
  Status status() const override { return status_; }

 private:
  /// A range of adjacent blocks: the data of a run, or a whole file that has no index.
  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::optional<std::string> smallest_key;
    std::optional<std::string> largest_key;
    CommitVersion smallest_version = 0;
    CommitVersion largest_version = format::kCommitVersionMax;
    const format::Dictionary* dictionary = nullptr;
  };

  /// A data block, as its run's index partition describes it.
  struct IndexedBlock {
    std::string separator;
    format::BlockHandle handle;
    format::BlockEntry entry;
  };

  bool open_region();
  Region region_of(const format::RunEntry& run) const;
  Region whole_region() const;
  bool read_partitions(const format::RunEntry& run);
  std::optional<std::string> read_partition(const format::BlockHandle& handle, format::BlockType type);
  void list_blocks(std::string_view index_content, const format::RunEntry& run);
  bool open_block();
  bool begin_block(const FoundBlock& block);
  bool accepts(std::string_view key, CommitVersion version) const noexcept;
  void settle();
  void open_gap(std::uint64_t offset, std::uint64_t bytes, const Status& why);
  enum class GapEnd : std::uint8_t { kNextKey, kRegion };
  void close_gap(const std::optional<std::string>& largest_key, GapEnd end);
  void bound_by_index(Loss& loss, GapEnd end) const;
  bool fail(const Status& status);
  void end();

  const TableSource& source_;
  Salvage& salvage_;
  std::optional<SalvagedIndex> table_;
  std::size_t next_run_ = 0;
  Region region_;
  std::vector<IndexedBlock> blocks_;  // of the run, if its index partition verifies
  std::optional<BlockScan> scan_;
  std::uint64_t scan_end_ = 0;  // the end of the last block found in the region
  std::optional<Loss> gap_;
  format::Decompressor decompressor_;
  std::string block_content_;
  format::BlockHandle block_;
  format::DataBlockCursor data_;
  std::string last_key_;
  CommitVersion last_version_ = 0;
  bool has_last_ = false;
  bool is_whole_ = true;
  bool valid_ = false;
  Status status_;
};

}  // namespace varve::engine
