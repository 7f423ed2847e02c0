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
};

/// Makes runs. One thread at a time may use a maker.
class RunMaker final : private BlockObserver {
 public:
  /// Data blocks are compressed with the options' dictionary. No dictionary is learned. Errors: see
  /// TableBuilder::make().
  static Result<std::unique_ptr<RunMaker>> make(const TableOptions& options);
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;

  /// Adds a put. All puts are of one table, in the order of their keys (asserted), and each has a framed sort key. A
  /// new run begins when a run is full. Errors: kTooLarge (kTableEntryBytesMax).
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
  void end_run();

  std::optional<Compressor> compressor_;
  const std::uint64_t dictionary_hash_;
  TableOutput output_;
  RunBuilder run_;
  std::vector<std::uint32_t> blocks_;  // of the open run
  std::vector<MadeRun> runs_;
};

}  // namespace varve::format
