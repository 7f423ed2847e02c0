// Owns: the place of the next log record (segment, offset, and buffer slot or separate write), and sealing segments.
// Must never: interpret a record's payload, rewrite an acknowledged sector, or use a position before it was reserved.
//
// A leader's turn: prepare() reserves space, and may wait or fail without effect on the log's content. Then frame() and
// end_turn(), which cannot fail, return the place for the payload and the device writes that the turn owes. The leader
// passes the lead on and then performs the writes with write(), concurrently with other leaders.
//
// If the log buffer has an open slot with room, a record goes there: the slot gathers buffered commits, and a `sync`
// commit writes them too. Otherwise, the record of a `sync` group is a separate write from private memory.
//
// The writes of a turn without a `sync` commit, which are full slots, are *deferred*: no thread waits for them, so the
// log's timer performs them, two neighbours at once. A thread that must wait for writes performs deferred writes first,
// because the timer's thread may be waiting as well. For a free slot it waits no longer than for the first one.
//
// A1  offsets are assigned in order, and each only once; a closed slot is filled with zeros to a whole sector.
// A2  a segment always has room for its footer.
// A3  the log leaves a segment only when no write is in flight. The segment's footer is durable and its file is cut
//     before the first record of the next segment is framed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/entry.h"
#include "engine/log/log_memory.h"
#include "engine/log/log_slots.h"
#include "engine/log/segment_supply.h"
#include "engine/log/write_tracker.h"
#include "format/log/log_record.h"
#include "varve/result.h"

namespace varve::engine {

/// One device write. The thread that closed it performs it.
struct LogWrite {
  std::shared_ptr<io::LogSegment> segment;
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
  LogPosition end = 0;
  CommitVersion ceiling = 0;
  std::optional<std::size_t> slot;  // given back after the write
  LogMemory memory;                 // of a separate write
};

/// The device writes that a turn owes, in order of position: at most a closed slot and a separate record.
class LogWrites {
 public:
  void add(LogWrite write) noexcept { writes_[count_++] = std::move(write); }
  std::size_t size() const noexcept { return count_; }
  LogWrite& operator[](std::size_t index) noexcept { return writes_[index]; }

 private:
  std::array<LogWrite, 2> writes_;
  std::size_t count_ = 0;
};

class LogWriteRow;

struct WalFigures {
  std::atomic<std::uint64_t> writes{0};  // each slot counts, also if a row of them is written at once
  std::atomic<std::uint64_t> bytes{0};
};

/// Only the leader calls these functions, except write(), the figures, and the functions marked "any thread".
class Wal {
 public:
  Wal(const io::Env& env, SegmentFile first, BufferFile buffer, Manifest& manifest, SegmentSupply& supply,
      CommitVersion durable_ceiling);

  /// Returns whether a record with a payload of this size fits into the present segment.
  bool has_room(std::size_t payload_bytes) const noexcept;
  /// Ensures that a record with a payload of `payload_bytes` has its place. `write_now` means that the turn will end
  /// with a write. Errors: kNoSpace, kOutOfMemory and other refusals, with nothing changed; any error after which
  /// failed() is true.
  Status prepare(std::size_t payload_bytes, bool write_now, bool may_use_ballast);

  /// Returns whether the prepared record will be a separate write. It must then be durable before it is published.
  bool record_stands_alone() const noexcept { return private_bytes_ > 0; }

  /// Frames the prepared record. Returns the address for exactly payload_bytes of payload.
  char* frame(format::RecordType type, CommitVersion first, CommitVersion last, std::size_t payload_bytes) noexcept;
  /// Returns the place in the log of a byte of the record that is being framed.
  LogPlace place_in_record(const char* at) const noexcept {
    return {number_, record_offset_ + static_cast<std::uint64_t>(at - record_)};
  }
  /// Seals the record, after the caller has stored the payload.
  void seal_record() noexcept;

  /// Makes the framed records of the open slot survive the death of the process from now on. A turn that ends without a
  /// write calls it before its records are published. Errors: those of io::SharedMemory::keep(); the log is then in
  /// doubt.
  Status keep_framed() noexcept;
  /// After a failure that ended the log, when no thread leads any more: writes the acknowledged records again to a log
  /// buffer that was cut.
  void restore_buffer() noexcept { slots_.restore(); }

  /// Ends the turn, even if nothing was framed. Returns the owed writes, which the tracker counts as begun. With
  /// `write_now`, an open slot is closed too; without it, the owed writes are deferred.
  LogWrites end_turn(bool write_now) noexcept;

  /// Performs one write and reports it to the tracker. Any thread may call it. Errors: those of the device, and those
  /// of io::SharedMemory::check() after the write of a slot; the log, or the buffer of buffered commits, is then in
  /// doubt.
  Status write(LogWrite& write, io::SyncPoint point) noexcept;

  /// Any thread may call it.
  bool has_deferred() const noexcept { return deferred_count_.load(std::memory_order_acquire) > 0; }
  /// Performs deferred writes until none is left. Any thread may call it. Errors: the first one of write().
  Status write_deferred() noexcept;

  /// See SegmentSupply::begin_small(). Any thread except the leader may call it.
  void begin_small() noexcept { supply_.begin_small(); }
  /// See SegmentSupply::may_have_room().
  bool may_have_room() const { return supply_.may_have_room(); }
  /// Ends the present segment, if it contains a commit, and begins the next one. Every record framed so far is then
  /// durable, in segments that do not change any more. Errors: see prepare().
  Status close_segment();

  /// Ends the log: writes the open slot, and seals and cuts the segment. Errors: see prepare().
  Status close();

  /// Returns the position after the last framed record.
  LogPosition position() const noexcept { return base_ + next_offset_in_use(); }
  bool has_open_slot() const noexcept { return slot_.has_value() && slot_used_ > 0; }
  /// Returns WriteTracker::in_flight() without the deferred writes, which no thread performs yet. The timer performs them,
  /// and may itself wait for a group, so they must not keep that group from the lead. Any thread may call it.
  std::size_t writes_in_flight() const noexcept {
    const std::size_t deferred = deferred_count_.load(std::memory_order_acquire);
    const std::size_t all = tracker_.in_flight();
    return all - std::min(all, deferred);
  }

  WriteTracker& tracker() noexcept { return tracker_; }
  const WalFigures& figures() const noexcept { return figures_; }
  /// Returns whether a write, a footer or a cut failed. The device's content is then in doubt, and the store must stop.
  bool failed() const noexcept { return failed_ || tracker_.failed_above().has_value(); }
  /// Any thread may call it.
  bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t next_offset_in_use() const noexcept;
  std::uint64_t end_if_placed(std::size_t record_bytes) const noexcept;
  format::FilePlace record_place() const noexcept { return {seed_, record_offset_}; }
  bool fits_open_slot(std::size_t record_bytes) const noexcept;
  Status place(std::size_t record_bytes, bool write_now);
  Status roll(std::size_t record_bytes, bool may_use_ballast);
  Status flush_open_slot();
  Status seal_segment(LogMemory memory);
  void begin_segment(SegmentFile next) noexcept;
  Status write_alone(LogWrite write, io::SyncPoint point) noexcept;
  void close_slot() noexcept;
  void defer(LogWrites& writes) noexcept;
  LogWriteRow take_deferred() noexcept;
  Status write_deferred_row() noexcept;
  Status write(LogWriteRow& row, io::SyncPoint point) noexcept;
  Status write_each(std::span<LogWrite> writes, io::SyncPoint point) noexcept;
  Status end_write(LogWrite& write, Status written) noexcept;
  Result<std::optional<LogSlots::Slot>> open_slot(std::uint64_t offset) noexcept;
  bool wait_for_a_write() noexcept;
  void wait_for_writes() noexcept;
  Result<LogMemory> take_memory(std::size_t bytes);
  void give_memory_back(LogMemory memory) noexcept;
  Result<LogMemory> take_row_memory();
  void give_row_memory_back(LogMemory memory) noexcept;
  format::RecordHeader header(format::RecordType type, CommitVersion first, CommitVersion last) const noexcept;

  Manifest& manifest_;
  SegmentSupply& supply_;
  LogSlots slots_;
  WriteTracker tracker_;
  WalFigures figures_;

  // The segment in use.
  std::shared_ptr<io::LogSegment> segment_;
  bool is_reserved_ = false;  // the segment is for commits that release space
  std::uint64_t number_;
  std::uint64_t seed_;
  LogPosition base_ = 0;                            // position of the segment's first byte
  std::uint64_t next_offset_ = kFirstRecordOffset;  // end of everything closed; a multiple of a sector
  CommitVersion last_version_ = 0;                  // of this segment's records
  CommitVersion ceiling_ = 0;                       // of the last record framed
  std::uint64_t previous_offset_ = 0;               // of this segment's last framed record; the next record names it
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
  LogMemory private_;              // memory for framing a separate record
  std::size_t private_bytes_ = 0;  // its filled length; zero if the record goes to the slot
  char* record_ = nullptr;
  std::uint64_t record_offset_ = 0;

  io::Mutex deferred_mutex_;
  std::array<LogWrite, kLogBufferSlots> deferred_ VARVE_GUARDED_BY(deferred_mutex_);  // a ring in order of position
  std::size_t deferred_first_ VARVE_GUARDED_BY(deferred_mutex_) = 0;
  std::atomic<std::size_t> deferred_count_{0};  // changed under the mutex

  io::Mutex memory_mutex_;
  std::vector<LogMemory> memory_ VARVE_GUARDED_BY(memory_mutex_);

  /// For rows of deferred writes: of the timer's thread, and of one that waits for it.
  std::array<LogMemory, 2> row_memory_ VARVE_GUARDED_BY(memory_mutex_);
};

}  // namespace varve::engine
