// Owns: the operations of an in-memory file system's handles, step by step.
// Must never: report a change as durable if a fault or a fence intervened.

#include "io/simulated/memory_file.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>
#include <vector>

#include "io/aligned_buffer.h"
#include "io/os_error.h"
#include "io/simulated/crash_image.h"

namespace varve::io {

namespace {

/// The bit that a fault flips, in the middle byte of the read range.
constexpr std::byte kFlippedBit{0x10};

std::shared_ptr<const std::vector<std::byte>> copy_of(std::span<const std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

/// Returns the part of `bytes` that a short transfer moves.
std::span<const std::byte> short_part(std::span<const std::byte> bytes) {
  const std::size_t half = bytes.size() / 2;
  return bytes.first(half < kDeviceSectorBytes ? half : half / kDeviceSectorBytes * kDeviceSectorBytes);
}

void flip_in(MemoryContent& content, std::uint64_t offset) {
  if (offset >= content.size_bytes()) return;
  std::byte changed{};
  content.read(offset, std::span(&changed, 1));
  changed ^= kFlippedBit;
  content.write(offset, std::span(&changed, 1));
}

}  // namespace

// -- MemoryHandle -----------------------------------------------------------------------------------------------------

MemoryHandle::MemoryHandle(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name)
    : hold_(std::move(hold)),
      session_(std::move(session)),
      name_(name),
      guard_(session_->path_of(name), session_->owner) {}

Status MemoryHandle::check_writable(std::string_view call) const {
  if (Status usable = guard_.check(call); !usable.ok()) return usable;
  return session_->check_writable(call, name_);
}

Operation MemoryHandle::operation(OperationKind kind, SyncPoint point) const noexcept {
  Operation operation;
  operation.kind = kind;
  operation.directory = session_->directory;
  operation.name = name_;
  operation.sync_point = point.name;
  return operation;
}

Status MemoryHandle::no_space(std::string_view call, std::uint64_t offset) const {
  return call_error(Code::kNoSpace, {call, guard_.path(), offset}, {"No space left on device"});
}

Status MemoryHandle::check_place(MemoryDisk::State& state, std::string_view call) const {
  const auto directory = state.directories.find(session_->directory);
  if (directory != state.directories.end()) {
    const auto found = directory->second.cached.find(name_);
    if (found != directory->second.cached.end() && found->second == hold_.id()) return Status();
  }
  return call_error(Code::kFenced, {call, guard_.path()},
                    {"another file has taken the name of this one, or it was removed"});
}

Status MemoryHandle::sync_as(OperationKind kind, SyncPoint point) {
  Step step(hold_.state(), operation(kind, point));
  const SyncOutcome outcome = sync_outcome(step.fault());
  const std::string path = session_->directory + "/" + name_;
  std::uint64_t sequence_end = 0;
  Status late = hold_.state().with_disk([&](MemoryDisk::State& state) {
    sequence_end = state.next_sequence;
    return hold_.state().take_late_error(path);
  });
  if (!late.ok()) return late;
  step.during();
  return hold_.state().with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("sync", name_); !owned.ok()) return owned;
    sync_file(hold_.file(state), sequence_end, outcome.fate);
    hold_.state().keep_late_error(path, outcome.late_error);
    return outcome.answer.ok() ? check_place(state, "sync") : outcome.answer;
  });
}

// -- MemoryWritableFile -----------------------------------------------------------------------------------------------

Status MemoryWritableFile::append(std::span<const std::byte> bytes) {
  const DeviceScope device;
  if (Status usable = check_writable("append"); !usable.ok()) return usable;
  if (bytes.empty()) return Status();
  const Status appended = append_once(bytes);
  return appended.ok() ? appended : guard_.fail(appended);
}

Status MemoryWritableFile::append_once(std::span<const std::byte> bytes) {
  Operation appending = operation(OperationKind::kAppend);
  appending.offset = size_bytes_;
  appending.size_bytes = bytes.size();
  Step step(hold_.state(), appending);
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;

  PendingWrite write;
  write.offset = size_bytes_;
  write.bytes = copy_of(outcome.is_short ? short_part(bytes) : bytes);
  write.is_lost = outcome.is_lost;
  write.misdirected_to = misdirection(outcome, size_bytes_);
  const std::uint64_t new_size = write.end_offset();
  std::uint64_t sequence = 0;
  const Status begun = hold_.state().with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("append", name_); !owned.ok()) return owned;
    FileState& file = hold_.file(state);
    if (!hold_.state().has_room(state, file, new_size)) return no_space("append", size_bytes_);
    sequence = begin_write(state, file, std::move(write));
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return hold_.state().with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable("append", name_);
    end_write(hold_.file(state), sequence, owned.ok() ? Fate::kPending : Fate::kReverted);
    if (!owned.ok()) return owned;
    size_bytes_ = new_size;
    return outcome.answer;
  });
}

Status MemoryWritableFile::sync(SyncPoint point) {
  const DeviceScope device;
  if (Status usable = check_writable("sync"); !usable.ok()) return usable;
  const Status synced = sync_as(OperationKind::kSync, point);
  return synced.ok() ? synced : guard_.fail(synced);
}

// -- MemoryReadableFile -----------------------------------------------------------------------------------------------

namespace {

std::uint64_t readable_size(const FileHold& hold, ReadMode mode) {
  return hold.state().with_disk([&](MemoryDisk::State& state) -> std::uint64_t {
    const FileState& file = hold.file(state);
    if (file.mapped != nullptr) return file.mapped->bytes().size();
    if (hold.state().has_object_rules()) return file.durable.size_bytes();
    return mode == ReadMode::kCached ? file.cached.size_bytes() : device_content(file).size_bytes();
  });
}

bool has_name(const MemoryDisk::State& state, FileId id) {
  return std::any_of(state.directories.begin(), state.directories.end(), [id](const auto& directory) {
    const auto& names = directory.second.cached;
    return std::any_of(names.begin(), names.end(), [id](const auto& name) { return name.second == id; });
  });
}

MemoryContent readable_content(const FileState& file, ReadMode mode) {
  if (file.mapped != nullptr) return file.mapped->capture(file.durable);
  // A direct read of a shared-memory file sees its whole content too, because it exists nowhere else.
  return mode == ReadMode::kCached || file.is_shared_memory ? file.cached : device_content(file);
}

}  // namespace

MemoryReadableFile::MemoryReadableFile(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name,
                                       ReadMode mode)
    : MemoryHandle(std::move(hold), std::move(session), name), mode_(mode), size_bytes_(readable_size(hold_, mode)) {}

Status MemoryReadableFile::read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const {
  const DeviceScope device;
  Operation reading = operation(OperationKind::kRead);
  reading.offset = offset;
  reading.size_bytes = bytes.size();
  const Step step(hold_.state(), reading);
  const std::optional<FaultEffect> effect =
      step.fault().has_value() ? std::optional(step.fault()->effect) : std::nullopt;
  const bool lies = effect == FaultEffect::kFlipBitOnce || effect == FaultEffect::kFlipBitPersistently ||
                    effect == FaultEffect::kStaleRead;
  if (effect.has_value() && !lies) return step.fault()->status;

  const std::uint64_t middle = offset + bytes.size() / 2;
  const Status read = hold_.state().with_disk([&](MemoryDisk::State& state) {
    FileState& file = hold_.file(state);
    if (effect == FaultEffect::kFlipBitPersistently) {
      flip_in(file.cached, middle);
      flip_in(file.durable, middle);
    }
    if (hold_.state().has_object_rules() && !has_name(state, hold_.id())) {
      return os_error(ENOENT, {"read", guard_.path(), offset});
    }
    const MemoryContent content = hold_.state().has_object_rules() ? file.durable : readable_content(file, mode_);
    if (offset > content.size_bytes() || bytes.size() > content.size_bytes() - offset) {
      return call_error(Code::kCorruption, {"read", guard_.path(), offset},
                        {"the file ends at ", std::to_string(content.size_bytes()), ", before the end of the ",
                         std::to_string(bytes.size()), " requested bytes"});
    }
    content.read(offset, bytes);
    return Status();
  });
  if (read.ok() && effect == FaultEffect::kFlipBitOnce && !bytes.empty()) bytes[bytes.size() / 2] ^= kFlippedBit;
  if (read.ok() && effect == FaultEffect::kStaleRead) std::ranges::fill(bytes, std::byte{0});
  return read;
}

// -- MemorySharedMemory -----------------------------------------------------------------------------------------------

MemorySharedMemory::MemorySharedMemory(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name)
    : MemoryHandle(std::move(hold), std::move(session), name) {
  pages_ = hold_.state().with_disk([&](MemoryDisk::State& state) { return hold_.file(state).mapped; });
}

MemorySharedMemory::~MemorySharedMemory() {
  const DeviceScope device;
  hold_.state().with_disk([&](MemoryDisk::State& state) {
    FileState& file = hold_.file(state);
    file.cached = pages_->capture(file.samples.empty() ? file.durable : file.samples.back());
    file.mapped.reset();
  });
}

std::span<std::byte> MemorySharedMemory::bytes() noexcept {
  return session_->owner.is_this_process() ? pages_->bytes() : std::span<std::byte>();
}

}  // namespace varve::io
