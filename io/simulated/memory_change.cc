// Owns: the transitions of pending changes.
// Must never: let an un-synced change reach `durable`.

#include "io/simulated/memory_change.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

namespace varve::io {

SyncOutcome sync_outcome(const std::optional<Fault>& fault) {
  if (!fault.has_value()) return {};
  switch (fault->effect) {
    case FaultEffect::kError:
    case FaultEffect::kShortThenError: return {Fate::kPending, fault->status, Status()};
    case FaultEffect::kErrorAfterwards:
    case FaultEffect::kNeverThenError: return {Fate::kDurable, fault->status, Status()};
    case FaultEffect::kSyncFailsCacheKept: return {Fate::kForgotten, fault->status, Status()};
    case FaultEffect::kSyncFailsCacheReverted: return {Fate::kReverted, fault->status, Status()};
    case FaultEffect::kSyncErrorLate: return {Fate::kForgotten, Status(), fault->status};
    case FaultEffect::kSyncErrorConsumed: return {Fate::kForgotten, Status(), Status()};
    case FaultEffect::kSyncLeftOut: return {Fate::kPending, Status(), Status()};
    case FaultEffect::kLostWrite:
    case FaultEffect::kMisdirectedWrite:
    case FaultEffect::kFlipBitOnce:
    case FaultEffect::kFlipBitPersistently:
    case FaultEffect::kStaleRead:
    case FaultEffect::kDelay:
    case FaultEffect::kNever: break;
  }
  return {};
}

WriteOutcome write_outcome(const std::optional<Fault>& fault) {
  WriteOutcome outcome;
  if (!fault.has_value()) return outcome;
  switch (fault->effect) {
    case FaultEffect::kError:
      outcome.is_done = false;
      outcome.answer = fault->status;
      break;
    case FaultEffect::kShortThenError:
      outcome.is_short = true;
      outcome.answer = fault->status;
      break;
    case FaultEffect::kErrorAfterwards:
    case FaultEffect::kNeverThenError: outcome.answer = fault->status; break;
    case FaultEffect::kLostWrite: outcome.is_lost = true; break;
    case FaultEffect::kMisdirectedWrite:
      outcome.is_lost = true;
      outcome.is_misdirected = true;
      break;
    case FaultEffect::kSyncFailsCacheKept:
    case FaultEffect::kSyncFailsCacheReverted:
    case FaultEffect::kSyncErrorLate:
    case FaultEffect::kSyncErrorConsumed:
    case FaultEffect::kSyncLeftOut:
    case FaultEffect::kFlipBitOnce:
    case FaultEffect::kFlipBitPersistently:
    case FaultEffect::kStaleRead:
    case FaultEffect::kDelay:
    case FaultEffect::kNever: break;  // They do not affect written bytes.
  }
  return outcome;
}

std::optional<std::uint64_t> misdirection(const WriteOutcome& outcome, std::uint64_t offset) noexcept {
  if (!outcome.is_misdirected) return std::nullopt;
  return offset >= kPageBytes ? offset - kPageBytes : offset + kPageBytes;
}

// -- Files ------------------------------------------------------------------------------------------------------------

std::uint64_t begin_write(MemoryDisk::State& state, FileState& file, PendingWrite write) {
  write.sequence = state.next_sequence++;
  write.in_flight = true;
  file.pending.push_back(std::move(write));
  return file.pending.back().sequence;
}

bool overlaps_flight(const FileState& file, std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  return std::any_of(file.pending.begin(), file.pending.end(), [&](const PendingWrite& write) {
    return write.in_flight && write.offset < offset + size_bytes && offset < write.end_offset();
  });
}

void end_write(FileState& file, std::uint64_t sequence, Fate fate) {
  const auto found = std::find_if(file.pending.begin(), file.pending.end(),
                                  [&](const PendingWrite& write) { return write.sequence == sequence; });
  assert(found != file.pending.end());
  assert(found->in_flight);
  if (fate == Fate::kReverted) {
    file.pending.erase(found);
    return;
  }
  found->in_flight = false;
  apply(*found, file.cached);
  if (fate == Fate::kPending) return;
  const PendingWrite ended = *found;
  file.pending.erase(found);
  if (fate == Fate::kForgotten) return;

  std::erase_if(file.pending, [&](const PendingWrite& write) {
    const bool overlaps = write.offset < ended.end_offset() && ended.offset < write.end_offset();
    if (write.in_flight || write.sequence > sequence) return false;
    if (!write.resize_to.has_value() && !overlaps) return false;
    apply(write, file.durable);
    return true;
  });
  apply(ended, file.durable);
}

void sync_file(FileState& file, std::uint64_t sequence_end, Fate fate) {
  if (fate == Fate::kPending) return;
  std::erase_if(file.pending, [&](const PendingWrite& write) {
    if (write.in_flight || write.sequence >= sequence_end) return false;
    if (fate == Fate::kDurable) apply(write, file.durable);
    return true;
  });
  if (fate == Fate::kReverted) file.cached = device_content(file);
}

MemoryContent device_content(const FileState& file) {
  MemoryContent content = file.durable;
  for (const PendingWrite& write : file.pending) {
    if (!write.in_flight) apply(write, content);
  }
  return content;
}

// -- Names ------------------------------------------------------------------------------------------------------------

namespace {

void set_name(std::map<std::string, FileId, std::less<>>& names, const std::string& name, FileId file) {
  if (file == 0) {
    names.erase(name);
  } else {
    names[name] = file;
  }
}

}  // namespace

std::uint64_t begin_name(MemoryDisk::State& state, DirectoryState& directory, std::string_view name, FileId file) {
  directory.pending.push_back({state.next_sequence, std::string(name), file, true});
  return state.next_sequence++;
}

void end_name(DirectoryState& directory, std::uint64_t sequence, Fate fate) {
  const auto found = std::find_if(directory.pending.begin(), directory.pending.end(),
                                  [&](const PendingName& pending) { return pending.sequence == sequence; });
  assert(found != directory.pending.end());
  assert(found->in_flight);
  if (fate == Fate::kReverted) {
    directory.pending.erase(found);
    return;
  }
  set_name(directory.cached, found->name, found->file);
  found->in_flight = false;
}

void sync_names(DirectoryState& directory, std::uint64_t sequence_end, Fate fate,
                const std::function<bool(std::string_view name)>& is_meant) {
  if (fate == Fate::kPending) return;
  std::erase_if(directory.pending, [&](const PendingName& pending) {
    if (pending.in_flight || pending.sequence >= sequence_end || !is_meant(pending.name)) return false;
    if (fate == Fate::kDurable) set_name(directory.durable, pending.name, pending.file);
    return true;
  });
  if (fate != Fate::kReverted) return;
  directory.cached = directory.durable;
  for (const PendingName& pending : directory.pending) {
    if (!pending.in_flight) set_name(directory.cached, pending.name, pending.file);
  }
}

}  // namespace varve::io
