// Owns: where the next log record goes: segment, offset, buffer slot or a write of its own; and sealing segments.
// Must never: know what a record's payload means, rewrite an acknowledged sector, or use a position before it was
// reserved.
//
// A turn of the lead: prepare() reserves and may wait or fail, with nothing changed that matters; then frame() and
// end_turn(), which cannot fail, say where to write the payload and which device writes the turn owes. The leader hands
// the lead on and then performs them by write(), beside other leaders.
//
// A record goes to the open slot of the log buffer if one is open and has room: buffered commits gather there, and a
// `sync` commit takes them along. Without one, a `sync` group's record is a write of its own, from private memory.
//
// What a turn without a `sync` commit owes, a full slot, is *deferred*: nobody waits for it, so that it is left to the
// log's timer. Who does wait for writes performs the deferred ones first, for that thread may be waiting as well.
//
// A1  offsets are handed out in order and each once; a closed slot is filled with zeros to a whole sector.
// A2  a segment always has room for its footer.
// A3  a segment is left when no write is under way; its footer is durable and the file cut before the next one's first
//     record is framed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/entry.h"
#include "engine/log/log_slots.h"
#include "engine/log/segment_supply.h"
#include "engine/log/write_tracker.h"
#include "format/log/log_record.h"
#include "io/aligned_buffer.h"
#include "varve/result.h"

namespace varve::engine {

/// One device write, performed by whoever closed it.
struct LogWrite {
  std::shared_ptr<io::LogSegment> segment;
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
  LogPosition end = 0;
  CommitVersion ceiling = 0;
  std::optional<std::size_t> slot;  // given back after the write
  io::AlignedBuffer memory;         // of a write of its own
};

/// What a turn owes the device, in order of position: at most a closed slot and a record of its own.
class LogWrites {
 public:
  void add(LogWrite write) noexcept { writes_[count_++] = std::move(write); }
  std::size_t size() const noexcept { return count_; }
  LogWrite& operator[](std::size_t index) noexcept { return writes_[index]; }

 private:
  std::array<LogWrite, 2> writes_;
  std::size_t count_ = 0;
};

struct WalFigures {
  std::atomic<std::uint64_t> writes{0};
  std::atomic<std::uint64_t> bytes{0};
};

/// Everything but write() and the figures: by the holder of the lead alone.
class Wal {
 public:
  Wal(const io::Env& env, SegmentFile first, BufferFile buffer, Manifest& manifest, SegmentSupply& supply,
      CommitVersion durable_ceiling);

  /// Makes sure that a record with a payload of `payload_bytes` has its place. `write_now` says that the turn will end
  /// with a write. Errors: kNoSpace, kOutOfMemory and other refusals, nothing changed; any error after which failed()
  /// holds.
  Status prepare(std::size_t payload_bytes, bool write_now, bool may_use_ballast);

  /// The record prepared will be a write of its own, so it must be durable before it is published.
  bool record_stands_alone() const noexcept { return private_bytes_ > 0; }

  /// Frames the record that was prepared; returns where exactly payload_bytes of payload belong.
  char* frame(format::RecordType type, CommitVersion first, CommitVersion last, std::size_t payload_bytes) noexcept;
  /// Where a byte of the record that is being framed will stand.
  LogPlace place_in_record(const char* at) const noexcept {
    return {number_, record_offset_ + static_cast<std::uint64_t>(at - record_)};
  }
  /// The payload stands: seals the record.
  void seal_record() noexcept;

  /// What was framed in the open slot survives the death of the process from now on; for a turn that ends without a
  /// write, before it is published. Errors: those of io::SharedMemory::keep; the log is in doubt then.
  Status keep_framed() noexcept;
  /// Behind a failure that ended the log, when nobody leads any more: a log buffer that was cut holds again what was
  /// acknowledged.
  void restore_buffer() noexcept { slots_.restore(); }

  /// Ends the turn, framed or not: the writes owed, begun in the tracker. With `write_now` an open slot is closed too;
  /// without it, what is owed is deferred.
  LogWrites end_turn(bool write_now) noexcept;

  /// Performs one write and tells the tracker. Any thread. Errors: those of the device, and of io::SharedMemory::check
  /// behind the write of a slot; the log, or what buffered commits rest on, is in doubt then.
  Status write(LogWrite& write, io::SyncPoint point) noexcept;

  /// Any thread.
  bool has_deferred() const noexcept { return deferred_count_.load(std::memory_order_acquire) > 0; }
  /// Performs deferred writes until none is left. Any thread. Errors: as write(), the first one.
  Status write_deferred() noexcept;

  /// As SegmentSupply::begin_small(). Any thread but the holder of the lead.
  void begin_small() noexcept { supply_.begin_small(); }
  /// As SegmentSupply::may_have_room().
  bool may_have_room() const { return supply_.may_have_room(); }
  /// Ends the segment in use, if it holds a commit, and begins the next one: everything framed so far is durable then,
  /// in segments that do not change any more. Errors: as prepare().
  Status close_segment();

  /// Ends the log: what is open is written, the segment sealed and cut. Errors: as prepare().
  Status close();

  /// Behind the last record framed.
  LogPosition position() const noexcept { return base_ + next_offset_in_use(); }
  bool has_open_slot() const noexcept { return slot_.has_value() && slot_used_ > 0; }

  WriteTracker& tracker() noexcept { return tracker_; }
  const WriteTracker& tracker() const noexcept { return tracker_; }
  const WalFigures& figures() const noexcept { return figures_; }
  /// A write, a footer or a cut failed: what is on the device is in doubt, and the store must stop.
  bool failed() const noexcept { return failed_ || tracker_.failed_above().has_value(); }
  /// Any thread.
  bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t next_offset_in_use() const noexcept;
  std::uint64_t end_if_placed(std::size_t record_bytes) const noexcept;
  format::FilePlace record_place() const noexcept { return {seed_, record_offset_}; }
  bool fits_open_slot(std::size_t record_bytes) const noexcept;
  Status place(std::size_t record_bytes, bool write_now);
  Status roll(std::size_t record_bytes, bool may_use_ballast);
  Status flush_open_slot();
  Status seal_segment(io::AlignedBuffer memory);
  void begin_segment(SegmentFile next) noexcept;
  Status write_alone(LogWrite write, io::SyncPoint point) noexcept;
  void close_slot() noexcept;
  void defer(LogWrites& writes) noexcept;
  std::optional<LogWrite> take_deferred() noexcept;
  void wait_for_writes() noexcept;
  Result<io::AlignedBuffer> take_memory(std::size_t bytes);
  void give_memory_back(io::AlignedBuffer memory) noexcept;
  format::RecordHeader header(format::RecordType type, CommitVersion first, CommitVersion last) const noexcept;

  Manifest& manifest_;
  SegmentSupply& supply_;
  LogSlots slots_;
  WriteTracker tracker_;
  WalFigures figures_;

  // The segment in use.
  std::shared_ptr<io::LogSegment> segment_;
  bool is_reserved_ = false;  // of the segment: for commits that give space back
  std::uint64_t number_;
  std::uint64_t seed_;
  LogPosition base_ = 0;                            // position of the segment's first byte
  std::uint64_t next_offset_ = kFirstRecordOffset;  // behind everything closed; a multiple of a sector
  CommitVersion last_version_ = 0;                  // of this segment's records
  CommitVersion ceiling_ = 0;                       // of the last record framed
  std::uint64_t previous_offset_ = 0;               // of this segment's last record framed; the next one names it
  std::uint64_t large_write_bytes_ = 0;             // to this segment

  // The open slot.
  std::optional<LogSlots::Slot> slot_;
  std::uint64_t slot_offset_ = 0;
  std::size_t slot_used_ = 0;
  std::size_t slot_kept_ = 0;

  bool failed_ = false;
  std::atomic<bool> direct_{false};

  // This turn.
  LogWrites owed_;
  io::AlignedBuffer private_;      // where a record of its own is framed
  std::size_t private_bytes_ = 0;  // its filled length; zero when the record goes to the slot
  char* record_ = nullptr;
  std::uint64_t record_offset_ = 0;

  io::Mutex deferred_mutex_;
  std::array<LogWrite, kLogBufferSlots> deferred_ VARVE_GUARDED_BY(deferred_mutex_);  // a ring in order of position
  std::size_t deferred_first_ VARVE_GUARDED_BY(deferred_mutex_) = 0;
  std::atomic<std::size_t> deferred_count_{0};  // changed under the mutex

  io::Mutex memory_mutex_;
  std::vector<io::AlignedBuffer> memory_ VARVE_GUARDED_BY(memory_mutex_);
};

}  // namespace varve::engine
