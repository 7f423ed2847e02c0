// Owns: the reads of runs ahead of the scans of one merge, in flight while the merge uses the runs before them.
// Must never: be needed. A scan whose run is not here reads it by itself, and reports the error then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/read_queues.h"
#include "engine/tables/open_files.h"
#include "io/posix/page_memory.h"
#include "io/read_queue.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by the one thread that merges. It outlives the scans.
class RunReads {
 public:
  /// One read ahead. It stays at its address. The object that it was given to outlives it.
  class Ahead {
   public:
    Ahead() noexcept = default;
    ~Ahead();
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;

    /// Begins to read the bytes, unless a read is in flight, or there is no room for one. The earlier bytes leave.
    void begin(RunReads& reads, const HeldFile& file, std::uint64_t offset, std::size_t bytes) noexcept;
    /// Waits for the read of these bytes, if it was begun. If it succeeded, exchanges the memory that has them with
    /// `memory`, and returns true.
    bool take(std::uint64_t offset, std::size_t bytes, io::PageMemory& memory) noexcept;

   private:
    friend class RunReads;
    enum class State : std::uint8_t { kNone, kInFlight, kHere };

    RunReads* reads_ = nullptr;  // while in flight
    FilePin pin_;
    io::PageMemory memory_;
    std::uint64_t offset_ = 0;
    std::size_t bytes_ = 0;
    State state_ = State::kNone;
  };

  /// `queues` outlives this object.
  explicit RunReads(ReadQueues& queues) noexcept : queues_(queues) {}
  ~RunReads();
  RunReads(const RunReads&) = delete;
  RunReads& operator=(const RunReads&) = delete;

  /// Returns how many runs were read ahead and used.
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  /// Enough for the sources of most merges.
  static constexpr std::size_t kReadsMax = std::min<std::size_t>(kReadsInFlightMax, 32);

  bool take_queue() noexcept;
  void await(const Ahead& ahead) noexcept;
  void reap(std::size_t wait_count) noexcept;

  ReadQueues& queues_;
  std::unique_ptr<io::ReadQueue> queue_;
  bool has_no_queue_ = false;  // None can be had.
  std::array<Ahead*, kReadsMax> in_flight_{};
  std::uint64_t taken_ = 0;
};

}  // namespace varve::engine
