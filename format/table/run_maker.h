// Owns: making runs separately from their file, so that several threads can make runs at once.
// Must never: know the file. The builder that appends a run to the file stamps its blocks for their place there.
//
//   RunMaker maker = *RunMaker::make(options);
//   for each entry: maker.add(...);
//   maker.finish();
//   for each run: write builder.pending(), then builder.append_made(maker, run), to the file
//   maker.clear();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "format/block/block_observer.h"
#include "format/table/directory_tally.h"
#include "format/table/run_builder.h"
#include "format/table/table_options.h"
#include "format/table/table_output.h"
#include "varve/result.h"

namespace varve::format {

struct MadeRun {
  /// The run's offset is its offset in the maker, not in a file.
  RunEntry entry;
  /// Sizes in bytes of the run's blocks and partitions, in order.
  std::vector<std::uint32_t> blocks;
  /// Its tables, with offsets in the maker.
  std::vector<DirectoryEntry> tables;
  /// The version of its last entry.
  CommitVersion last_version = 0;
};

/// Makes runs. One thread at a time may use a maker.
class RunMaker final : private BlockObserver {
 public:
  /// Data blocks are compressed with the options' dictionary. No dictionary is learned. Errors: see
  /// TableBuilder::make().
  static Result<std::unique_ptr<RunMaker>> make(const TableOptions& options);
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;

  /// Shows each block to `observer`, at its offset in the maker. Null ends that. The observer must outlive the maker or
  /// the next call.
  void show_blocks_to(BlockObserver* observer) noexcept { observer_ = observer; }
  /// Makes the next runs as if blocks that compress like this came before them (RunBuilder::expect()). If called after
  /// each clear(), equal entries give equal runs, whatever the maker made before.
  void expect(std::uint64_t stored_per_1024) noexcept { run_.expect(stored_per_1024); }
  std::uint64_t stored_per_1024() const noexcept { return run_.stored_per_1024(); }
  /// Returns the offset in the maker at which the next block begins.
  std::uint64_t offset() const noexcept { return output_.offset(); }

  /// Adds an entry, like TableBuilder::add(). A new run begins when a run is full. Errors: those of check_entry().
  Status add(const DataEntry& entry);
  /// Finishes the last run. The caller may not add entries until it calls clear().
  void finish();
  /// Returns the finished runs.
  const std::vector<MadeRun>& runs() const noexcept { return runs_; }
  /// Removes the runs, and keeps their memory for later runs.
  void clear() noexcept;

  /// Returns the bytes of one of runs(), stamped for the place `to`. The caller may call it once for each run. The
  /// bytes are valid until the next call.
  std::string_view stamp(const MadeRun& run, FilePlace to) noexcept;

 private:
  RunMaker(const TableOptions& options, std::optional<Compressor> compressor);
  void take(BlockType type, BlockHandle place, std::string_view content) noexcept override;
  void cut_block();
  void end_run();

  std::optional<Compressor> compressor_;
  const std::uint64_t dictionary_hash_;
  TableOutput output_;
  RunBuilder run_;
  BlockObserver* observer_ = nullptr;
  std::vector<std::uint32_t> blocks_;  // of the open run
  DirectoryTally tables_;              // of the open run
  CommitVersion last_version_ = 0;
  std::vector<MadeRun> runs_;
};

}  // namespace varve::format
