// Owns: the path of a change from flight to the cache to the device of an in-memory disk, and the effect of faults on
// it.
// Must never: take locks. Its callers hold the lock of the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "io/simulated/fault_plan.h"
#include "io/simulated/memory_disk.h"

namespace varve::io {

/// The place where a change ends.
enum class Fate : std::uint8_t {
  kDurable,
  kPending,    // in the cache, and a later sync makes it durable
  kForgotten,  // in the cache, which marks it clean: no sync ever makes it durable
  kReverted,   // nowhere
};

/// The effect and the result of a step that makes durable.
struct SyncOutcome {
  Fate fate = Fate::kDurable;
  Status answer;
  Status late_error;  // for the next sync of the same file or directory
};
SyncOutcome sync_outcome(const std::optional<Fault>& fault);

/// The effect and the result of a step that adds or changes bytes, names or space.
struct WriteOutcome {
  bool is_done = true;          // false: nothing happens
  bool is_short = false;        // only a part of it happens
  bool is_lost = false;         // the device never gets the bytes
  bool is_misdirected = false;  // the device puts the bytes at another place
  Status answer;
};
WriteOutcome write_outcome(const std::optional<Fault>& fault);
/// Returns the offset of a misdirected write that was meant for `offset`.
std::optional<std::uint64_t> misdirection(const WriteOutcome& outcome, std::uint64_t offset) noexcept;

/// Records a change as in flight and returns its sequence number.
std::uint64_t begin_write(MemoryDisk::State& state, FileState& file, PendingWrite write);
/// Ends the flight of a change. A durable change also makes durable the other changes that its bytes need: the file's
/// size, and earlier changes of the same bytes.
void end_write(FileState& file, std::uint64_t sequence, Fate fate);
bool overlaps_flight(const FileState& file, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

/// Applies `fate` to the changes below `sequence_end` that are not in flight. kPending leaves them unchanged.
void sync_file(FileState& file, std::uint64_t sequence_end, Fate fate);

/// The functions below do the same for names. If `file` is zero, the name is removed.
std::uint64_t begin_name(MemoryDisk::State& state, DirectoryState& directory, std::string_view name, FileId file);
/// `fate` is kPending or kReverted.
void end_name(DirectoryState& directory, std::uint64_t sequence, Fate fate = Fate::kPending);
void sync_names(DirectoryState& directory, std::uint64_t sequence_end, Fate fate,
                const std::function<bool(std::string_view name)>& is_meant);

/// Returns the content that a read past the cache finds: the durable bytes and the bytes in flight to the device.
MemoryContent device_content(const FileState& file);

}  // namespace varve::io
