// Owns: placing, framing, writing and sealing (wal.h).
// Must never: fail between prepare() and end_turn().
#include "engine/log/wal.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "engine/base/sync_points.h"
#include "engine/log/version_clock.h"
#include "engine/log/write_depth.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

constexpr std::size_t kMemoryKeptMax = 2 * kLogWritesInFlightFirst;
constexpr std::size_t kMemoryBytesMin = 64 << 10;
/// Limits of a row of deferred writes.
constexpr std::size_t kRowWritesMax = kLogBufferSlots / 2;
constexpr std::size_t kRowBytesMax = kRowWritesMax * kLogBufferSlotBytes;
/// Enough for the record of one part of a content, whose value has 1 MiB and a head.
constexpr std::size_t kMemoryBytesKeptMax = (1 << 20) + (64 << 10);
/// Writes of at least this many bytes are mostly transfer time. Into zeros, they are half as fast again (64 KiB) to
/// twice as fast (1 MiB, which is then faster than writing zeros), but every byte is written twice.
constexpr std::size_t kLargeWriteBytes = 64 << 10;

/// Returns the limit in bytes of a record with a payload of this size, for any header.
std::size_t record_bytes_max(std::size_t payload_bytes) noexcept {
  constexpr std::size_t kChecksumAndFilling = 2 * 8;
  return format::kGroupHeaderBytesMax + payload_bytes + kChecksumAndFilling;
}

char* as_chars(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<char*>(bytes.data());
}

}  // namespace

/// Writes whose bytes follow one another in one segment. They have at most half of the slots, so that the leader fills
/// the other half meanwhile.
class LogWriteRow {
 public:
  bool takes(const LogWrite& write) const noexcept {
    if (count_ == 0) return true;
    const LogWrite& last = writes_[count_ - 1];
    return count_ < writes_.size() && last.segment == write.segment && last.offset + last.bytes.size() == write.offset;
  }
  void add(LogWrite write) noexcept { writes_[count_++] = std::move(write); }
  std::span<LogWrite> all() noexcept { return {writes_.data(), count_}; }

 private:
  std::array<LogWrite, kRowWritesMax> writes_;
  std::size_t count_ = 0;
};

Wal::Wal(const io::Env& env, SegmentFile first, BufferFile buffer, Manifest& manifest, SegmentSupply& supply,
         CommitVersion durable_ceiling)
    : manifest_(manifest),
      supply_(supply),
      slots_(std::move(buffer)),
      tracker_(env.scheduler, kFirstRecordOffset, durable_ceiling),
      segment_(std::move(first.file)),
      is_reserved_(first.is_reserved),
      number_(first.number),
      seed_(first.seed),
      ceiling_(durable_ceiling),
      deferred_mutex_(env.scheduler),
      memory_mutex_(env.scheduler) {
  direct_.store(segment_->direct(), std::memory_order_relaxed);
  supply_.begin_use(number_, segment_->allocated_bytes());
  memory_.reserve(kMemoryKeptMax);
}

std::uint64_t Wal::next_offset_in_use() const noexcept {
  return slot_ ? slot_offset_ + slot_used_ : next_offset_;
}

bool Wal::fits_open_slot(std::size_t record_bytes) const noexcept {
  return slot_ && record_bytes <= slot_->bytes.size() - slot_used_;
}

std::uint64_t Wal::end_if_placed(std::size_t record_bytes) const noexcept {
  if (fits_open_slot(record_bytes)) return io::round_up_to_sector(next_offset_in_use() + record_bytes);
  return io::round_up_to_sector(next_offset_in_use()) + io::round_up_to_sector(record_bytes);
}

bool Wal::has_room(std::size_t payload_bytes) const noexcept {
  constexpr std::uint64_t kFooterBytes = io::kSectorBytes;
  return end_if_placed(record_bytes_max(payload_bytes)) + kFooterBytes <= segment_->allocated_bytes();  // A2
}

Status Wal::prepare(std::size_t payload_bytes, bool write_now, bool may_use_ballast) {
  const std::size_t bytes = record_bytes_max(payload_bytes);
  if (!has_room(payload_bytes) || (is_reserved_ && !may_use_ballast)) {
    if (Status rolled = roll(bytes, may_use_ballast); !rolled.ok()) return rolled;
  }
  return place(bytes, write_now);
}

Status Wal::place(std::size_t record_bytes, bool write_now) {
  private_bytes_ = 0;
  if (fits_open_slot(record_bytes)) return Status();

  const std::uint64_t offset = io::round_up_to_sector(next_offset_in_use());
  if (!write_now && record_bytes <= kLogBufferSlotBytes) {
    const Result<std::optional<LogSlots::Slot>> next = open_slot(offset);
    if (!next.ok()) {
      failed_ = true;
      return next.status();
    }
    if (!*next) return Status(Code::kPoisoned, "a write to the log buffer failed");
    close_slot();
    slot_ = *next;
    slot_offset_ = offset;
    slot_used_ = 0;
    slot_kept_ = 0;
    return Status();
  }

  Result<LogMemory> memory = take_memory(io::round_up_to_sector(record_bytes));
  if (!memory.ok()) return memory.status();
  close_slot();
  private_ = *std::move(memory);
  private_bytes_ = private_.size_bytes();
  return Status();
}

/// Returns nothing if every slot is closed and its write failed.
Result<std::optional<LogSlots::Slot>> Wal::open_slot(std::uint64_t offset) noexcept {
  for (bool may_wait = true;;) {
    Result<std::optional<LogSlots::Slot>> next = slots_.open(number_, seed_, offset);
    if (!next.ok() || *next || !may_wait) return next;
    may_wait = wait_for_a_write();
  }
}

format::RecordHeader Wal::header(format::RecordType type, CommitVersion first, CommitVersion last) const noexcept {
  format::RecordHeader header;
  header.type = type;
  header.file_number = number_;
  header.first_version = first;
  header.last_version = last;
  header.ceiling = ceiling_;
  header.durable_upto = tracker_.durable() - base_;
  const ManifestMark mark = manifest_.mark();
  header.manifest_number = mark.number;
  header.manifest_durable_bytes = mark.durable_bytes;
  header.previous_offset = previous_offset_;
  return header;
}

char* Wal::frame(format::RecordType type, CommitVersion first, CommitVersion last, std::size_t payload_bytes) noexcept {
  if (last > 0) {
    assert(last > last_version_);
    last_version_ = last;
    ceiling_ = std::max(ceiling_, last + kCeilingTicks);
  }
  const format::RecordHeader framed = header(type, first, last);
  record_ = private_bytes_ > 0 ? private_.begin() : as_chars(slot_->bytes) + slot_used_;
  record_offset_ = private_bytes_ > 0 ? next_offset_ : slot_offset_ + slot_used_;
  previous_offset_ = record_offset_;
  return format::begin_record(record_, framed, payload_bytes, record_place());
}

void Wal::seal_record() noexcept {
  const char* end = format::seal_record(record_, record_place());
  const auto bytes = static_cast<std::size_t>(end - record_);
  if (private_bytes_ == 0) {
    assert(bytes <= slot_->bytes.size() - slot_used_);
    slot_used_ += bytes;
    return;
  }
  assert(bytes <= private_bytes_);
  const std::span<const std::byte> sectors = private_.end_at(bytes);
  private_bytes_ = sectors.size();
  if (private_bytes_ >= kLargeWriteBytes) large_write_bytes_ += private_bytes_;
  LogWrite write;
  write.segment = segment_;
  write.offset = next_offset_;
  write.bytes = sectors;
  next_offset_ += private_bytes_;
  write.end = base_ + next_offset_;
  write.ceiling = ceiling_;
  write.memory = std::move(private_);  // The move does not change the memory's address.
  owed_.add(std::move(write));
  private_bytes_ = 0;
}

void Wal::close_slot() noexcept {
  if (!slot_) return;
  if (slot_used_ == 0) {
    slots_.give_back(slot_->index);
    slot_.reset();
    return;
  }
  const std::size_t bytes = io::round_up_to_sector(slot_used_);
  std::memset(as_chars(slot_->bytes) + slot_used_, 0, bytes - slot_used_);
  if (bytes >= kLargeWriteBytes) large_write_bytes_ += bytes;
  LogWrite write;
  write.segment = segment_;
  write.offset = slot_offset_;
  write.bytes = slot_->bytes.first(bytes);
  next_offset_ = slot_offset_ + bytes;
  write.end = base_ + next_offset_;
  write.ceiling = ceiling_;
  write.slot = slot_->index;
  slot_.reset();
  slot_used_ = 0;
  owed_.add(std::move(write));
}

Status Wal::keep_framed() noexcept {
  if (!slot_ || slot_kept_ == slot_used_) return Status();
  const std::size_t from = std::exchange(slot_kept_, slot_used_);
  Status kept = slots_.keep(slot_->index, from, slot_used_ - from);
  if (!kept.ok()) failed_ = true;
  return kept;
}

LogWrites Wal::end_turn(bool write_now) noexcept {
  if (private_bytes_ > 0) give_memory_back(std::move(private_));  // Prepared, but never framed.
  private_bytes_ = 0;
  if (write_now) close_slot();
  supply_.used(next_offset_);
  for (std::size_t i = 0; i < owed_.size(); ++i) tracker_.begin(owed_[i].end, owed_[i].ceiling);
  LogWrites owed = std::exchange(owed_, LogWrites());
  if (write_now || owed.size() == 0) return owed;
  defer(owed);
  return LogWrites();
}

/// Defers a turn's writes. Such a turn owes only slots, and no more slots can wait than exist.
void Wal::defer(LogWrites& writes) noexcept {
  const io::MutexGuard guard(deferred_mutex_);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    assert(writes[i].slot.has_value());
    const std::size_t count = deferred_count_.load(std::memory_order_relaxed);
    assert(count < deferred_.size());
    deferred_[(deferred_first_ + count) % deferred_.size()] = std::move(writes[i]);
    deferred_count_.store(count + 1, std::memory_order_release);
  }
}

/// Takes the oldest deferred write, and those that continue it.
LogWriteRow Wal::take_deferred() noexcept {
  LogWriteRow row;
  const io::MutexGuard guard(deferred_mutex_);
  std::size_t count = deferred_count_.load(std::memory_order_relaxed);
  for (; count > 0 && row.takes(deferred_[deferred_first_]); --count) {
    row.add(std::move(deferred_[deferred_first_]));
    deferred_first_ = (deferred_first_ + 1) % deferred_.size();
  }
  deferred_count_.store(count, std::memory_order_release);
  return row;
}

Status Wal::write_deferred() noexcept {
  Status first;
  while (has_deferred()) {
    if (Status written = write_deferred_row(); !written.ok() && first.ok()) first = written;
  }
  return first;
}

Status Wal::write_deferred_row() noexcept {
  LogWriteRow row = take_deferred();
  return write(row, sync_points::kLogBuffer);
}

/// Performs deferred writes, or waits until a write ends. Returns false if there was none.
bool Wal::wait_for_a_write() noexcept {
  if (!has_deferred()) return tracker_.wait_for_end();
  (void)write_deferred_row();  // The tracker knows whether it succeeded.
  return true;
}

/// Waits for all writes. The tracker knows whether they succeeded.
void Wal::wait_for_writes() noexcept {
  (void)write_deferred();
  tracker_.wait_until_idle();
}

Status Wal::write(LogWrite& write, io::SyncPoint point) noexcept {
  Status written = write.segment->write(write.offset, write.bytes, point);
  return end_write(write, std::move(written));
}

/// Performs a row of writes as one, from a copy of their bytes. A write of few sectors is mostly latency. Another thread
/// may have taken the writes, so the row may be empty.
Status Wal::write(LogWriteRow& row, io::SyncPoint point) noexcept {
  const std::span<LogWrite> writes = row.all();
  if (writes.empty()) return Status();
  if (writes.size() == 1) return write(writes.front(), point);
  std::size_t size_bytes = 0;
  for (const LogWrite& write : writes) size_bytes += write.bytes.size();
  Result<LogMemory> memory = take_row_memory();
  if (!memory.ok()) return write_each(writes, point);
  char* end = memory->begin();
  for (const LogWrite& write : writes) {
    std::memcpy(end, write.bytes.data(), write.bytes.size());
    end += write.bytes.size();
  }
  const LogWrite& first = writes.front();
  const Status written = first.segment->write(first.offset, memory->end_at(size_bytes), point);
  give_row_memory_back(*std::move(memory));
  Status failed;
  for (LogWrite& write : writes) {
    if (Status ended = end_write(write, written); !ended.ok() && failed.ok()) failed = ended;
  }
  return failed;
}

Status Wal::write_each(std::span<LogWrite> writes, io::SyncPoint point) noexcept {
  Status failed;
  for (LogWrite& one : writes) {
    if (Status written = write(one, point); !written.ok() && failed.ok()) failed = written;
  }
  return failed;
}

Status Wal::end_write(LogWrite& write, Status written) noexcept {
  figures_.writes.fetch_add(1, std::memory_order_relaxed);
  figures_.bytes.fetch_add(write.bytes.size(), std::memory_order_relaxed);
  // A slot whose write failed keeps the only copy of acknowledged records, and is never reused.
  const bool is_durable = written.ok();
  if (!is_durable) io::probe("a log write failed");
  if (is_durable && write.slot) {
    slots_.give_back(*write.slot);
    written = slots_.check();  // The slot's own records are safe; those of the next slot would not be.
    if (!written.ok()) io::probe("the log buffer was damaged");
  }
  if (write.memory.size_bytes() > 0) give_memory_back(std::move(write.memory));
  tracker_.complete(write.end, is_durable);
  return written;
}

Status Wal::write_alone(LogWrite write, io::SyncPoint point) noexcept {
  tracker_.begin(write.end, write.ceiling);
  return this->write(write, point);
}

Status Wal::flush_open_slot() {
  close_slot();
  LogWrites owed = std::exchange(owed_, LogWrites());
  for (std::size_t i = 0; i < owed.size(); ++i) {
    if (Status written = write_alone(std::move(owed[i]), sync_points::kLogBuffer); !written.ok()) {
      failed_ = true;
      return written;
    }
  }
  return Status();
}

Status Wal::roll(std::size_t record_bytes, bool may_use_ballast) {
  const std::uint64_t bytes_min = kFirstRecordOffset + io::round_up_to_sector(record_bytes) + io::kSectorBytes;
  Result<LogMemory> memory = take_memory(io::kSectorBytes);
  if (!memory.ok()) return memory.status();
  supply_.expect_large_writes(large_write_bytes_ >= next_offset_ / 2);
  Result<SegmentFile> next = supply_.take(bytes_min, may_use_ballast);
  if (!next.ok()) return next.status();
  if (Status flushed = flush_open_slot(); !flushed.ok()) return flushed;
  if (Status sealed = seal_segment(*std::move(memory)); !sealed.ok()) return sealed;
  begin_segment(*std::move(next));
  return Status();
}

Status Wal::seal_segment(LogMemory memory) {
  wait_for_writes();  // A3
  if (tracker_.failed_above()) return Status(Code::kPoisoned, "a write to the log failed");

  record_ = memory.begin();
  record_offset_ = next_offset_;
  const format::RecordHeader footer = header(format::RecordType::kFooter, 0, last_version_);
  format::begin_record(record_, footer, 0, record_place());
  const char* end = format::seal_record(record_, record_place());

  LogWrite write;
  write.segment = segment_;
  write.offset = next_offset_;
  write.bytes = memory.end_at(static_cast<std::size_t>(end - record_));
  next_offset_ += io::kSectorBytes;
  write.end = base_ + next_offset_;
  write.ceiling = ceiling_;
  write.memory = std::move(memory);
  if (Status written = write_alone(std::move(write), sync_points::kLogFooter); !written.ok()) return written;
  if (Status cut = segment_->cut(next_offset_, sync_points::kLogCut); !cut.ok()) {
    failed_ = true;
    return cut;
  }
  supply_.closed({number_, next_offset_, last_version_, {}});
  return Status();
}

void Wal::begin_segment(SegmentFile next) noexcept {
  base_ += next_offset_;
  segment_ = std::move(next.file);
  is_reserved_ = next.is_reserved;
  number_ = next.number;
  seed_ = next.seed;
  next_offset_ = kFirstRecordOffset;
  previous_offset_ = 0;
  large_write_bytes_ = 0;
  last_version_ = 0;
  tracker_.move_to(base_ + kFirstRecordOffset);
  supply_.begin_use(number_, segment_->allocated_bytes());
  direct_.store(segment_->direct(), std::memory_order_relaxed);
}

Status Wal::close_segment() {
  // Without a commit in it, the segment adds nothing to the earlier segments, which are all sealed.
  return last_version_ == 0 ? Status() : roll(0, false);
}

Status Wal::close() {
  if (Status flushed = flush_open_slot(); !flushed.ok()) return flushed;
  if (next_offset_ == kFirstRecordOffset) {
    supply_.unused(number_);
    return Status();
  }
  Result<LogMemory> memory = take_memory(io::kSectorBytes);
  if (!memory.ok()) return memory.status();
  return seal_segment(*std::move(memory));
}

Result<LogMemory> Wal::take_memory(std::size_t bytes) {
  {
    const io::MutexGuard guard(memory_mutex_);
    for (LogMemory& kept : memory_) {
      if (kept.size_bytes() < bytes) continue;
      std::swap(kept, memory_.back());
      LogMemory taken = std::move(memory_.back());
      memory_.pop_back();
      return taken;
    }
  }
  Result<io::AlignedBuffer> zeros = io::AlignedBuffer::allocate(std::max(bytes, kMemoryBytesMin));
  if (!zeros.ok()) return zeros.status();
  return LogMemory(*std::move(zeros));
}

/// Memory of rows is not that of separate records, because a small record would have to clear what a row left there.
Result<LogMemory> Wal::take_row_memory() {
  {
    const io::MutexGuard guard(memory_mutex_);
    for (LogMemory& kept : row_memory_) {
      if (kept.size_bytes() > 0) return std::exchange(kept, LogMemory());
    }
  }
  Result<io::AlignedBuffer> zeros = io::AlignedBuffer::allocate(kRowBytesMax);
  if (!zeros.ok()) return zeros.status();
  return LogMemory(*std::move(zeros));
}

void Wal::give_row_memory_back(LogMemory memory) noexcept {
  const io::MutexGuard guard(memory_mutex_);
  for (LogMemory& kept : row_memory_) {
    if (kept.size_bytes() == 0) return std::swap(kept, memory);
  }
}

void Wal::give_memory_back(LogMemory memory) noexcept {
  if (memory.size_bytes() > kMemoryBytesKeptMax) return;
  const io::MutexGuard guard(memory_mutex_);
  if (memory_.size() < kMemoryKeptMax) memory_.push_back(std::move(memory));  // Capacity was reserved.
}

}  // namespace varve::engine
