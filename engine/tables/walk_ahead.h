// Owns: the blocks that long scans need next. A thread of the store reads and decompresses them while the scans use
// earlier blocks, or before a client has asked for the next page.
// Must never: decide what a scan sees. A block that fails here is read again by the scan, which reports the error at
// its place. It also must not exceed its bound, or keep a file in use once it rests.
//
// A *stream* is the sequence of blocks ahead of one scan. It is found by its position only, so the scan of the next
// page continues the stream of the page before. The scan and the thread share the decompression: the scan decodes the
// blocks that it reaches first, the thread decodes later blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/read_queues.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/stored_bytes.h"
#include "engine/tables/table_file.h"
#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Thread-safe. The mutex is a leaf, except for the mutexes of the cache.
class WalkAhead {
 public:
  enum class Way : std::uint8_t { kForward, kBackward };

  /// Holds about `bytes_max` bytes at most, stored and decompressed together. If the bound is small, it does nothing.
  /// `blocks` and `queues` outlive it. The first scan that is worth it starts the thread. May throw std::bad_alloc.
  WalkAhead(BlockReader& blocks, ReadQueues& queues, std::uint64_t bytes_max)
      : blocks_(blocks),
        queues_(queues),
        bytes_max_(bytes_max),
        read_bytes_max_(
            std::min<std::uint64_t>(queues.good_read_bytes(), std::max(bytes_max / kStoredPart, kReadBytesMin))),
        mutex_(queues.scheduler()),
        wake_(queues.scheduler()),
        changed_(queues.scheduler()) {}
  ~WalkAhead() { stop(); }
  WalkAhead(const WalkAhead&) = delete;
  WalkAhead& operator=(const WalkAhead&) = delete;

  /// A block, or the stored bytes to decode it from. If both are missing, the scan reads the block itself.
  struct Brought {
    PinnedBlock block;
    std::shared_ptr<const StoredBytes> stored;
    bool is_known = false;  // the scan has a stream
  };
  /// Returns a data block for a scan in the direction `way`. Waits while the block is being read. `file` is the file of
  /// `wanted`.
  Brought next(const TableFile& file, const BlockWanted& wanted, Way way) noexcept;
  /// Reports that a scan has read up to `edge` by itself, and will probably take about `bytes` bytes more. `edge` is in
  /// the run of `wanted`.
  void go_on_from(const TableFile& file, const BlockWanted& wanted, std::uint64_t edge, Way way,
                  std::uint64_t bytes) noexcept;
  /// Ends the thread and frees everything. From now on no block is read ahead.
  void stop() noexcept;

 private:
  /// Number of streams: as many scans as are likely to run at once. Other scans have no stream.
  static constexpr std::size_t kStreams = 4;
  /// The stored bytes ahead of a scan are at most this part of the bound, since decompressed bytes take more.
  static constexpr std::uint64_t kStoredPart = 4;
  /// Largest bytes of one read of the device, if the bound is small.
  static constexpr std::uint64_t kReadBytesMin = io::kGoodReadBytes;

  /// The progress of a block. Its bytes are being read or have arrived; the thread or the scan decodes it; it is ready;
  /// or its read failed.
  enum class Stage : std::uint8_t { kOnTheWay, kStored, kAtThread, kAtWalk, kReady, kFailed };
  struct Piece {
    std::size_t run = 0;
    format::BlockHandle handle;
    std::shared_ptr<const StoredBytes> stored;  // until it is ready
    PinnedBlock block;                          // once it is ready
    Stage stage = Stage::kOnTheWay;

    std::uint64_t bytes() const noexcept { return block ? block->memory_bytes() : handle.bytes; }
  };
  /// The position of the next read: its start, or, for a backward scan, its end.
  struct Place {
    std::size_t run = 0;
    std::uint64_t edge = 0;
    bool is_end = false;  // of the file, or the index failed there
  };
  struct Stream {
    std::uint64_t cache_id = 0;  // zero: unused
    Way way = Way::kForward;
    std::deque<Piece> pieces;  // in the order of the scan
    Place place;
    std::uint64_t walk_offset = 0;   // of the block that the scan reached last
    std::uint64_t window_bytes = 0;  // the thread keeps this many bytes ahead of it
    bool is_planned = false;         // the thread is looking for the next blocks
    std::uint64_t last_use = 0;
    std::shared_ptr<const TableFile> file;  // while there is work to do
  };
  /// Number of blocks left by scans from which the thread takes them over to free them.
  static constexpr std::size_t kLeftMax = 16;
  /// The next work of the thread.
  struct Work {
    enum class Kind : std::uint8_t { kEnd, kRead, kTakeOut, kReap, kLetGo };
    Kind kind = Kind::kEnd;
    Stream* stream = nullptr;
    std::shared_ptr<const TableFile> file;
    Way way = Way::kForward;
    Place place;
    std::uint64_t bytes = 0;  // bytes to read
    format::BlockHandle handle;
    std::shared_ptr<const StoredBytes> stored;
    std::array<std::shared_ptr<const TableFile>, kStreams> idle;
    std::vector<PinnedBlock> left;
  };
  /// Number of reads in flight. This many reads of a few hundred KiB keep a device busy.
  static constexpr std::size_t kReadsMax = 6;
  /// A read in flight. The place is free if it has no file.
  struct Reading {
    Stream* stream = nullptr;
    std::shared_ptr<const TableFile> file;
    std::shared_ptr<StoredBytes> stored;
    FilePin pin;  // released before the file
  };
  /// Objects that only the thread uses.
  struct Hands {
    std::unique_ptr<io::ReadQueue> queue;
    std::unique_ptr<BlockReader::Tools> tools;
    std::array<Reading, kReadsMax> readings;
  };
  /// Number of blocks that the thread leaves to the scan. The scan will probably decode them itself meanwhile, and
  /// should not have to wait for the thread.
  static constexpr std::size_t kPiecesLeftToWalk = 8;

  static std::uint64_t edge_of(const BlockWanted& wanted, Way way) noexcept;
  static bool covers(const Stream& stream, std::uint64_t offset) noexcept;
  Stream* stream_at(std::uint64_t cache_id, Way way, std::uint64_t offset) noexcept VARVE_REQUIRES(mutex_);
  Stream* stream_for(std::uint64_t cache_id, Way way, std::uint64_t offset) noexcept VARVE_REQUIRES(mutex_);
  void clear(Stream& stream) noexcept VARVE_REQUIRES(mutex_);
  void pop(Stream& stream) noexcept VARVE_REQUIRES(mutex_);
  Piece* piece_at(Stream& stream, std::uint64_t offset) noexcept VARVE_REQUIRES(mutex_);
  bool wants_more(const Stream& stream) const noexcept VARVE_REQUIRES(mutex_);
  bool start_thread() noexcept VARVE_REQUIRES(mutex_);

  void run() noexcept;
  Work next_work(std::size_t in_flight) noexcept VARVE_EXCLUDES(mutex_);
  std::optional<Work> reading() noexcept VARVE_REQUIRES(mutex_);
  std::optional<Work> taking_out() noexcept VARVE_REQUIRES(mutex_);
  std::optional<Work> letting_go() noexcept VARVE_REQUIRES(mutex_);
  void take_left(std::vector<PinnedBlock>& left) noexcept VARVE_REQUIRES(mutex_);
  void read(Work& work, Hands& hands) noexcept VARVE_EXCLUDES(mutex_);
  /// Returns the next blocks of the file that are not cached, and moves `place` after them. Errors: as
  /// BlockReader::get.
  Result<std::vector<Piece>> plan(const Work& work, Place& place);
  Status submit(const Work& work, Hands& hands, std::vector<Piece>& pieces);
  Status show(Stream& stream, std::vector<Piece>& pieces, const std::shared_ptr<const StoredBytes>& stored) noexcept
      VARVE_EXCLUDES(mutex_);
  void reap(Hands& hands, std::size_t wait_count) noexcept VARVE_EXCLUDES(mutex_);
  void end(Reading& reading, bool is_here) noexcept VARVE_EXCLUDES(mutex_);
  void take_out(const Work& work, Hands& hands) noexcept VARVE_EXCLUDES(mutex_);

  BlockReader& blocks_;
  ReadQueues& queues_;
  const std::uint64_t bytes_max_;
  const std::uint64_t read_bytes_max_;  // of one read of the device; larger reads gain little
  io::Mutex mutex_;
  io::Condition wake_;     // wakes the thread
  io::Condition changed_;  // wakes scans that wait for the thread
  std::array<Stream, kStreams> streams_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t used_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // of all pieces
  /// Blocks that scans have left. The thread frees their memory, which it allocated. A scan that freed it would have to
  /// wait for that. The last blocks may still be in use.
  std::vector<PinnedBlock> left_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t uses_ VARVE_GUARDED_BY(mutex_) = 0;
  bool has_thread_ VARVE_GUARDED_BY(mutex_) = false;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
  io::Thread thread_;
};

}  // namespace varve::engine
