// Owns: how a change passes from flight to the cache to the device of an in-memory disk, and what a fault makes of it.
// Must never: take locks; its callers hold the one that guards the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "io/simulated/fault_plan.h"
#include "io/simulated/memory_disk.h"

namespace varve::io {

/// Where a change ends.
enum class Fate : std::uint8_t {
  kDurable,
  kPending,    // in the cache, and a later sync makes it durable
  kForgotten,  // in the cache, which calls it clean: no sync ever makes it durable
  kReverted,   // nowhere
};

/// What a step that makes durable does and says.
struct SyncOutcome {
  Fate fate = Fate::kDurable;
  Status answer;
  Status late_error;  // for the next sync of the same thing
};
SyncOutcome sync_outcome(const std::optional<Fault>& fault);

/// What a step that adds or changes bytes, names or space does and says.
struct WriteOutcome {
  bool is_done = true;          // false: nothing at all happens
  bool is_short = false;        // only a part of it happens
  bool is_lost = false;         // the device never gets the bytes
  bool is_misdirected = false;  // but at another place
  Status answer;
};
WriteOutcome write_outcome(const std::optional<Fault>& fault);
/// Where a misdirected write goes that was meant for `offset`.
std::optional<std::uint64_t> misdirection(const WriteOutcome& outcome, std::uint64_t offset) noexcept;

/// Enters a change as in flight and returns its sequence number.
std::uint64_t begin_write(MemoryDisk::State& state, FileState& file, PendingWrite write);
/// Ends its flight. A durable one takes with it what else must be durable for its bytes to be found: the file's size,
/// and earlier changes of the same bytes.
void end_write(FileState& file, std::uint64_t sequence, Fate fate);
bool overlaps_flight(const FileState& file, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

/// Ends the waiting of the changes below `sequence_end` that are not in flight. kPending leaves them as they are.
void sync_file(FileState& file, std::uint64_t sequence_end, Fate fate);

/// The same three for names. `file` zero takes the name away.
std::uint64_t begin_name(MemoryDisk::State& state, DirectoryState& directory, std::string_view name, FileId file);
/// kPending or kReverted.
void end_name(DirectoryState& directory, std::uint64_t sequence, Fate fate = Fate::kPending);
void sync_names(DirectoryState& directory, std::uint64_t sequence_end, Fate fate,
                const std::function<bool(std::string_view name)>& is_meant);

/// What a read that goes past the cache finds: the durable bytes and those on their way to the device.
MemoryContent device_content(const FileState& file);

}  // namespace varve::io
