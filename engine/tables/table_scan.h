// Owns: reading a table file from start to end, or a span of its keys, one run at a time, without the cache. Compactions
// use it. While one run is scanned, the next one is read.
// Must never: put a block into the cache, or show an entry of a block that was not verified.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/entry_cursor.h"
#include "engine/base/key_span.h"
#include "engine/tables/run_reads.h"
#include "engine/tables/table_file.h"
#include "format/block/data_block.h"
#include "format/table/index_cursor.h"
#include "io/posix/page_memory.h"

namespace varve::engine {

class TableScan final : public EntryStream {
 public:
  /// Begins at the file's first entry in the span. `file` and the span's keys outlive the scan. The scan adds the bytes
  /// that it reads to `read_bytes`. It reads ahead by `reads`, unless that is null.
  TableScan(const TableFile& file, std::atomic<std::uint64_t>& read_bytes, KeySpan span = {},
            RunReads* reads = nullptr);

  bool valid() const noexcept override { return valid_; }
  Entry entry() const noexcept override { return {data_.key(), data_.version(), data_.kind(), data_.value()}; }
  void next() override;
  Status status() const override { return status_; }
  bool is_in_memory() const noexcept override { return block_is_cached_; }
  std::optional<format::RunSource> whole_run() const override;
  void show_cached(const ShowCachedBlock& show) const override;
  void pass_run() override;

 private:
  void begin();
  bool open_run(std::size_t run);
  Status read_run(const format::RunEntry& run);
  void read_ahead() noexcept;
  bool reread_run(const Status& damage) noexcept;
  Result<std::string> decode_index(const format::RunEntry& run);
  Status decode_block(const format::BlockHandle& handle);
  bool open_block();
  void settle();
  bool fail(const Status& status);
  std::string_view frame_at(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  const TableFile& file_;
  std::atomic<std::uint64_t>& read_bytes_;
  const KeySpan span_;
  RunReads* const reads_;
  RunReads::Ahead ahead_;     // of the next run
  bool wants_ahead_ = false;  // once an entry of the present run was used
  const OpenTable* table_ = nullptr;
  std::size_t run_ = 0;
  io::PageMemory run_memory_;   // room for the largest run so far
  std::string_view run_bytes_;  // in run_memory_: the whole run, as it is in the file
  bool is_reread_ = false;      // the run was read a second time, because of damage
  std::string index_content_;
  format::IndexCursor index_;
  format::Decompressor decompressor_;
  std::string block_content_;
  format::DataBlockCursor data_;
  bool block_is_cached_ = false;
  bool valid_ = false;
  bool at_run_start_ = false;
  bool run_ends_inside_ = false;  // the span has the rest of the run
  Status status_;
};

}  // namespace varve::engine
