// Owns: the steps of an in-memory log segment.
// Must never: let a fill overlap a write after the first sector, or let two writes overlap. A real segment could then
// contain the bytes of either.

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "io/aligned_buffer.h"
#include "io/os_error.h"
#include "io/simulated/crash_image.h"
#include "io/simulated/memory_file.h"

namespace varve::io {

namespace {

/// Limit of the bytes that a fill still writes after it was asked to stop.
constexpr std::uint64_t kFillStepBytes = std::uint64_t{64} << 10;

}  // namespace

MemoryLogSegment::MemoryLogSegment(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name,
                                   std::uint64_t bytes, std::uint64_t prepared_bytes)
    : MemoryHandle(std::move(hold), std::move(session), name),
      allocated_bytes_(bytes),
      prepared_bytes_(prepared_bytes),
      fill_mutex_(hold_.state().scheduler()),
      fill_ended_(hold_.state().scheduler()) {}

Status MemoryLogSegment::fill_to(std::uint64_t end) {
  const DeviceScope device;
  if (Status usable = check_writable("fill"); !usable.ok()) return usable;
  {
    const MutexGuard guard(fill_mutex_);
    while (is_filling_) fill_ended_.wait(fill_mutex_);
    if (is_stopped_.load(std::memory_order_acquire) || prepared_bytes() >= end) return Status();
    is_filling_ = true;
  }
  const Status filled = pass_to(std::min(end, allocated_bytes_));
  {
    const MutexGuard guard(fill_mutex_);
    is_filling_ = false;
    fill_ended_.notify_all();
  }
  return filled.ok() ? filled : guard_.fail(filled);
}

// The space reads as zeros from the start, so a fill only takes time, in which others run.
Status MemoryLogSegment::pass_to(std::uint64_t end) {
  const std::uint64_t begin = prepared_bytes();
  Operation filling = operation(OperationKind::kFill);
  filling.offset = begin;
  filling.size_bytes = end - begin;
  Step step(hold_.state(), filling);
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;
  step.during();
  if (outcome.is_short) end = begin + filling.size_bytes / 2;
  std::uint64_t position = begin;
  while (position < end && !is_stopped_.load(std::memory_order_acquire)) {
    const std::uint64_t passed = std::min(end - position, kFillStepBytes);
    position += passed;
    filled_bytes_.fetch_add(passed, std::memory_order_release);
    prepared_bytes_.store(position, std::memory_order_release);
    hold_.state().scheduler().yield();
  }
  return outcome.answer;
}

void MemoryLogSegment::stop_filling() noexcept {
  const DeviceScope device;
  is_stopped_.store(true, std::memory_order_release);
  const MutexGuard guard(fill_mutex_);
  while (is_filling_) fill_ended_.wait(fill_mutex_);
}

Status MemoryLogSegment::write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) {
  const DeviceScope device;
  if (Status usable = check_writable("write"); !usable.ok()) return usable;
  assert(is_sector_multiple(offset));
  assert(is_sector_multiple(bytes.size()));
  assert(is_sector_aligned(bytes.data()));
  assert(offset <= allocated_bytes_);
  assert(bytes.size() <= allocated_bytes_ - offset);
  if (offset + bytes.size() > kSectorBytes) {
    const MutexGuard guard(fill_mutex_);
    assert(!is_filling_);  // Zeros would overwrite records.
  }
  if (bytes.empty()) return Status();
  const Status written = write_once(offset, bytes, point);
  return written.ok() ? written : guard_.fail(written);
}

Status MemoryLogSegment::write_once(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) {
  Operation writing = operation(OperationKind::kLogWrite, point);
  writing.offset = offset;
  writing.size_bytes = bytes.size();
  Step step(hold_.state(), writing);
  const WriteOutcome outcome = write_outcome(step.fault());
  const SyncOutcome sync = sync_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;
  if (outcome.is_short) bytes = bytes.first(bytes.size() / 2 / kDeviceSectorBytes * kDeviceSectorBytes);

  PendingWrite write;
  write.offset = offset;
  write.bytes = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  write.is_lost = outcome.is_lost;
  write.misdirected_to = misdirection(outcome, offset);
  const auto taken = write.bytes;
  const std::string path = session_->directory + "/" + name_;
  std::uint64_t sequence = 0;
  const Status begun = hold_.state().with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("write", name_); !owned.ok()) return owned;
    if (Status late = hold_.state().take_late_error(path); !late.ok()) return late;
    FileState& file = hold_.file(state);
    assert(!overlaps_flight(file, offset, bytes.size()));
    sequence = begin_write(state, file, std::move(write));
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  // The device may have read the buffer at any moment until now.
  assert(std::equal(bytes.begin(), bytes.end(), taken->begin(), taken->end()));
  return hold_.state().with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable("write", name_);
    end_write(hold_.file(state), sequence, owned.ok() ? sync.fate : Fate::kReverted);
    if (!owned.ok()) return owned;
    hold_.state().keep_late_error(path, sync.late_error);
    return sync.answer.ok() ? check_place(state, "write") : sync.answer;
  });
}

Status MemoryLogSegment::cut(std::uint64_t size_bytes, SyncPoint point) {
  const DeviceScope device;
  if (Status usable = check_writable("cut"); !usable.ok()) return usable;
  assert(size_bytes <= allocated_bytes_);
  if (const Status cut = cut_once(size_bytes, point); !cut.ok()) return guard_.fail(cut);
  // A write past the end would make the file grow again, unnoticed.
  (void)guard_.fail(call_error(Code::kClosed, {"write", guard_.path()},
                               {"the segment was cut at ", std::to_string(size_bytes), " bytes"}));
  return Status();
}

Status MemoryLogSegment::cut_once(std::uint64_t size_bytes, SyncPoint point) {
  Operation cutting = operation(OperationKind::kCut, point);
  cutting.offset = size_bytes;
  Step step(hold_.state(), cutting);
  const SyncOutcome outcome = sync_outcome(step.fault());
  // A plain error means that the file was not cut. The other faults concern the sync after the cut.
  if (!write_outcome(step.fault()).is_done) return outcome.answer;
  std::uint64_t sequence = 0;
  const std::string path = session_->directory + "/" + name_;
  const Status begun = hold_.state().with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("cut", name_); !owned.ok()) return owned;
    if (Status late = hold_.state().take_late_error(path); !late.ok()) return late;
    FileState& file = hold_.file(state);
    assert(std::none_of(file.pending.begin(), file.pending.end(),
                        [](const PendingWrite& write) { return write.in_flight; }));
    PendingWrite cut;
    cut.offset = size_bytes;
    cut.resize_to = size_bytes;
    sequence = begin_write(state, file, std::move(cut));
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return hold_.state().with_disk([&](MemoryDisk::State& state) {
    FileState& file = hold_.file(state);
    const Status owned = session_->check_writable("cut", name_);
    end_write(file, sequence, owned.ok() ? Fate::kPending : Fate::kReverted);
    if (!owned.ok()) return owned;
    file.reserved_bytes = size_bytes;
    sync_file(file, sequence + 1, outcome.fate);
    hold_.state().keep_late_error(path, outcome.late_error);
    return outcome.answer;
  });
}

}  // namespace varve::io
