// Owns: making runs apart from the file that they will stand in, so that several are made at once.
// Must never: know that file: who appends a run to it stamps its blocks for their place there.
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
#include "format/table/run_builder.h"
#include "format/table/table_options.h"
#include "format/table/table_output.h"
#include "varve/result.h"

namespace varve::format {

struct MadeRun {
  /// Its offset is the maker's own.
  RunEntry entry;
  /// Sizes of its blocks and partitions, one behind the other.
  std::vector<std::uint32_t> blocks;
};

/// One thread at a time.
class RunMaker final : private BlockObserver {
 public:
  /// Data blocks are compressed with the dictionary of the options; none is learned. Errors: as TableBuilder::make().
  static Result<std::unique_ptr<RunMaker>> make(const TableOptions& options);
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;

  /// Puts of one table, in the order of their keys (asserted), each with a framed sort key. As many runs come of them
  /// as their blocks fill. Errors: kTooLarge (kTableEntryBytesMax).
  Status add(const DataEntry& entry);
  /// Ends the last run. Nothing may be added then until clear().
  void finish();
  /// Those that are ended.
  const std::vector<MadeRun>& runs() const noexcept { return runs_; }
  /// Forgets the runs. Their memory is used again.
  void clear() noexcept;

  /// The bytes of one of runs(), now for that place: once for each. Valid until the next call.
  std::string_view stamp(const MadeRun& run, FilePlace to) noexcept;

 private:
  RunMaker(const TableOptions& options, std::optional<Compressor> compressor);
  void take(BlockType type, BlockHandle place, std::string_view content) noexcept override;
  void end_run();

  std::optional<Compressor> compressor_;
  const std::uint64_t dictionary_hash_;
  TableOutput output_;
  RunBuilder run_;
  std::vector<std::uint32_t> blocks_;  // of the open run
  std::vector<MadeRun> runs_;
};

}  // namespace varve::format
