// Owns: WARM, the list of cached blocks: writing it from time to time and at a close, and reading the listed blocks
// back after an open.
// Must never: fail an open, a close or a read; evict a block for a listed one; read faster than foreground reads allow.
//
// W1  A list that is missing, damaged or stale does no harm. A damaged list is left for verify(). A block is found
//     through its file's index, and verified like any block that is read.
// W2  WARM is replaced whole, and only after the list of the open was read back. So it is at worst an older list.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/background_pool.h"
#include "engine/base/read_queues.h"
#include "engine/memory/read_states.h"
#include "engine/settings/options.h"
#include "engine/tables/block_reader.h"
#include "engine/warm/warm_blocks.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

/// Reads and checks WARM. It may be missing, and may name files that left. Errors: kCorruption (it is damaged, or names
/// another file of a live file's number), kUnsupported, kIoError; all name it.
Status check_warm_list(io::Directory& directory, const Levels& levels);

/// One thread at a time may use it, except for add_figures_to().
class Warmer {
 public:
  /// A list of fewer blocks is not written: they are read back in a few milliseconds anyway.
  static constexpr std::size_t kBlocksWorthListing = 64;
  /// Pause between two lists, and the reads of the device that make a new list worth it.
  static constexpr std::chrono::seconds kBetweenLists{60};
  static constexpr std::uint64_t kReadsWorthListing = 64;

  /// All arguments outlive it. `events` may be null.
  Warmer(const io::Env& env, io::Directory& directory, ReadStates& states, BlockReader& blocks, ReadQueues& queues,
         EventSink* events);
  ~Warmer();
  Warmer(const Warmer&) = delete;
  Warmer& operator=(const Warmer&) = delete;

  /// Does a small part of the work: reads back some blocks, about a megabyte, or writes the list if it is due. Returns
  /// the time after which the next part is due. Other threads' reads make that time longer.
  std::chrono::nanoseconds work() noexcept;
  /// Writes the list at a close. If the list of the open was not read back to its end, that list stays.
  void finish() noexcept;

  void add_figures_to(Statistics& figures) const noexcept;

 private:
  /// Blocks of one read.
  struct Span {
    std::shared_ptr<const TableFile> file;
    const format::RunEntry* run = nullptr;
    format::BlockType type = format::BlockType::kData;
    std::vector<format::BlockHandle> blocks;  // in the order of the file

    std::uint64_t begin() const noexcept { return blocks.front().offset; }
    std::uint64_t end() const noexcept { return blocks.back().offset + blocks.back().bytes; }
  };
  struct Reading;

  void begin();
  bool has_room() const noexcept;
  /// Fills spans_. Returns false at the end of the list.
  bool plan();
  void add_spans(const WarmRun& warm);
  void read_spans();
  void take(const Span& span, const StoredBytes& stored, BlockReader::Tools& tools) noexcept;
  void end_reading_back() noexcept;
  Status write_list();
  void note_failure(std::string_view what, const Status& status) noexcept;

  const io::Env& env_;
  io::Directory& directory_;
  ReadStates& states_;
  BlockReader& blocks_;
  ReadQueues& queues_;
  EventSink* const events_;

  enum class Stage : std::uint8_t { kNew, kReadsBack, kRests } stage_ = Stage::kNew;
  // While it reads back:
  std::deque<format::WarmBlocks> listed_;
  std::map<std::uint64_t, std::weak_ptr<const TableFile>> files_;  // by number; they may leave meanwhile
  std::deque<WarmRun> runs_;
  std::deque<Span> spans_;
  std::uint64_t own_reads_ = 0;
  std::uint64_t reads_before_ = 0;  // of other threads, when the last part ended

  std::chrono::nanoseconds last_list_{0};
  std::uint64_t reads_at_list_ = 0;

  std::atomic<std::uint64_t> blocks_read_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<std::uint64_t> lists_{0};
  std::atomic<std::uint64_t> failures_{0};
};

/// Does the work of a warmer on the threads of a pool, while they have no other.
class WarmingWork final : private BackgroundPool::Source {
 public:
  /// Both outlive it.
  WarmingWork(BackgroundPool& pool, Warmer& warmer) noexcept
      : warmer_(warmer), seat_(pool, *this, BackgroundPool::Kind::kSpare) {}

  void start() noexcept { seat_.wake(); }
  void stop() noexcept { seat_.leave(); }

 private:
  BackgroundPool::Pause work(bool /*is_due*/) noexcept override { return warmer_.work(); }

  Warmer& warmer_;
  BackgroundPool::Seat seat_;
};

}  // namespace varve::engine
