// Owns: the blocks that long walks come to next, read and decompressed by a thread of the store while the walks are
// busy with those before, or while nobody has asked for the next page yet.
// Must never: decide what a walk sees: what fails here is read again by the walk, which tells of it where it stands.
// Nor hold more than its bound, or keep a file in use once it rests.
//
// A *stream* is what lies before one walk. It is found by its place alone, so that a page goes on with the stream of
// the page before it. The walk and the thread share the decompression: the walk takes out what it comes to first, the
// thread what lies a little further on.
#pragma once

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
#include "io/scheduler.h"

namespace varve::engine {

/// Any thread. The mutex is a leaf but for those of the cache.
class WalkAhead {
 public:
  enum class Way : std::uint8_t { kForward, kBackward };

  /// Holds at most about so many bytes, stored and decompressed ones; where that is little, nothing is done at all.
  /// Both outlive this. The thread is started by the first walk that is worth it. May throw std::bad_alloc.
  WalkAhead(BlockReader& blocks, ReadQueues& queues, std::uint64_t bytes_max)
      : blocks_(blocks),
        queues_(queues),
        bytes_max_(bytes_max),
        mutex_(queues.scheduler()),
        wake_(queues.scheduler()),
        changed_(queues.scheduler()) {}
  ~WalkAhead() { stop(); }
  WalkAhead(const WalkAhead&) = delete;
  WalkAhead& operator=(const WalkAhead&) = delete;

  /// A block, or the bytes that it is taken out of, or neither: then the walk finds it itself.
  struct Brought {
    PinnedBlock block;
    std::shared_ptr<const StoredBytes> stored;
    bool is_known = false;  // the walk has a stream
  };
  /// A walk that goes this way comes to a data block. Waits while it is on its way. `file` is that of `wanted`.
  Brought next(const TableFile& file, const BlockWanted& wanted, Way way) noexcept;
  /// A walk has read by itself up to `edge`, which lies in the run of `wanted`, and is likely to take about `bytes`
  /// more.
  void go_on_from(const TableFile& file, const BlockWanted& wanted, std::uint64_t edge, Way way,
                  std::uint64_t bytes) noexcept;
  /// Ends the thread, and lets go of everything; from now on nothing is brought.
  void stop() noexcept;

 private:
  /// As many walks as are likely to be under way at once; others do without.
  static constexpr std::size_t kStreams = 4;

  /// How far a block is: its bytes are on their way, or here; the thread, or the walk, takes it out; it is ready; or it
  /// could not be read.
  enum class Stage : std::uint8_t { kOnTheWay, kStored, kAtThread, kAtWalk, kReady, kFailed };
  struct Piece {
    std::size_t run = 0;
    format::BlockHandle handle;
    std::shared_ptr<const StoredBytes> stored;  // until it is ready
    PinnedBlock block;                          // once it is
    Stage stage = Stage::kOnTheWay;

    std::uint64_t bytes() const noexcept { return block ? block->memory_bytes() : handle.bytes; }
  };
  /// Where the next reading begins, or, of a walk backward, ends.
  struct Place {
    std::size_t run = 0;
    std::uint64_t edge = 0;
    bool is_end = false;  // of the file, or of what its index could tell
  };
  struct Stream {
    std::uint64_t cache_id = 0;  // zero: nobody's
    Way way = Way::kForward;
    std::deque<Piece> pieces;  // in the order of the walk
    Place place;
    std::uint64_t walk_offset = 0;   // of the block that the walk came to last
    std::uint64_t window_bytes = 0;  // so far before that is to be read
    bool is_planned = false;         // the thread looks for what comes next
    std::uint64_t last_use = 0;
    std::shared_ptr<const TableFile> file;  // while there is something to do
  };
  /// Blocks that walks have left are given back so many at a time.
  static constexpr std::size_t kLeftMax = 16;
  /// What the thread does next.
  struct Work {
    enum class Kind : std::uint8_t { kEnd, kRead, kTakeOut, kReap, kLetGo };
    Kind kind = Kind::kEnd;
    Stream* stream = nullptr;
    std::shared_ptr<const TableFile> file;
    Way way = Way::kForward;
    Place place;
    std::uint64_t bytes = 0;  // to be read
    format::BlockHandle handle;
    std::shared_ptr<const StoredBytes> stored;
    std::array<std::shared_ptr<const TableFile>, kStreams> idle;
    std::vector<PinnedBlock> left;
  };
  /// So many reads of a few hundred kilobytes keep a device busy.
  static constexpr std::size_t kReadsMax = 6;
  /// A read in flight. Free where there is no file.
  struct Reading {
    Stream* stream = nullptr;
    std::shared_ptr<const TableFile> file;
    std::shared_ptr<StoredBytes> stored;
    FilePin pin;  // goes before the file
  };
  /// What the thread alone has.
  struct Hands {
    std::unique_ptr<io::ReadQueue> queue;
    std::unique_ptr<BlockReader::Tools> tools;
    std::array<Reading, kReadsMax> readings;
  };
  /// The thread begins behind those that a walk is likely to take out itself meanwhile: it shall not have to wait.
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
  /// What comes next of the file, and where it goes on after that. Errors: as BlockReader::get.
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
  io::Mutex mutex_;
  io::Condition wake_;     // the thread
  io::Condition changed_;  // walks that wait for it
  std::array<Stream, kStreams> streams_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t used_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // of all pieces
  /// That walks have left, and whose memory the thread gives back: it took it, and a walk that did would wait for it.
  /// The last one may still be in use.
  std::vector<PinnedBlock> left_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t uses_ VARVE_GUARDED_BY(mutex_) = 0;
  bool has_thread_ VARVE_GUARDED_BY(mutex_) = false;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
  io::Thread thread_;
};

}  // namespace varve::engine
