// Owns: the leader's reservations: a memtable for its batches, log space, and memory for each batch.
// Must never: change anything that a refusal would have to undo.
#include <algorithm>
#include <new>
#include <utility>

#include "engine/commit/commit_queue.h"

namespace varve::engine {

Status CommitQueue::prepare(CommitGroup& group) {
  if (group.is_refused) {
    const io::MutexGuard guard(mutex_);
    return poisoned_;
  }
  try {
    return reserve_for(group);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

/// Begins a new memtable between two groups. The preceding leader has placed all its batches in the memtable that was
/// active then.
Status CommitQueue::begin_memtable_if_due(const CommitGroup& group, std::size_t payload_bytes) {
  const std::uint64_t log_bytes = wal_.position() - memtable_log_start_;
  const bool is_full = memtables_.must_seal(log_bytes) || ends_with_segment(log_bytes, payload_bytes);
  if (!is_full && !group.seals_memtable) return Status();
  const std::vector<format::DeadId> drops = unsealed_drops();
  if (!is_full && drops.empty() && !memtables_.holds_anything(log_bytes)) return Status();
  bool ends_segment = false;
  if (Status ended = end_log_for_drops(group.gives_log_back, &ends_segment); !ended.ok()) return ended;
  if (Status ended = end_log_with_values(log_bytes); !ended.ok()) return ended;
  std::optional<format::CommitTag> tag;
  if (assigned_tag_.version > 0) tag = assigned_tag_;
  if (Status sealed = memtables_.seal(assigned_version_, drops, std::move(tag), unsealed_adoptions_, ends_segment);
      !sealed.ok()) {
    return sealed;
  }
  memtable_log_start_ = wal_.position();
  unsealed_adoptions_.clear();
  const io::MutexGuard guard(mutex_);
  unsealed_drops_.clear();
  return Status();
}

/// Returns whether the active memtable ends together with the log's segment, which has no room for the next record. A
/// memtable of large values ends a segment anyway, so otherwise two segments would end one soon after the other. The log
/// waits for the device at each end.
bool CommitQueue::ends_with_segment(std::uint64_t log_bytes, std::size_t payload_bytes) const {
  return memtables_.is_nearly_full() && !wal_.has_room(payload_bytes) && holds_mostly_values(log_bytes);
}

Status CommitQueue::reserve_for(CommitGroup& group) {
  std::size_t payload_bytes = 0;
  std::size_t retire_count = 0;
  std::size_t reshape_count = 0;
  std::size_t tag_bytes = 0;
  CommitVersion delta = 0;
  for (const Member* member = group.first; member != nullptr; member = member->next) {
    if (member->batch.empty()) continue;
    payload_bytes += format::group_member_bytes(0, delta++, member->batch.size());
    retire_count += member->demand.other_count;
    if (member->reshapes != nullptr) ++reshape_count;
    tag_bytes = std::max(tag_bytes, member->tag.size());
  }
  if (Status begun = begin_memtable_if_due(group, payload_bytes); !begun.ok()) return begun;
  if (Status closed = close_segment_if_asked(group); !closed.ok()) return closed;
  group.memtable = &memtables_.active();
  if (retire_count > 0) {
    if (Status room = make_room_for_drops(retire_count); !room.ok()) return room;
  }
  if (reshape_count > 0) shapes_.reserve(reshape_count);
  group.tag.reserve(tag_bytes);
  if (group.batch_count == 0 && !group.wants_watermark) return Status();

  if (Status placed = wal_.prepare(payload_bytes, group.wants_durable, group.frees_space); !placed.ok()) {
    if (wal_.failed()) return stop_after(placed);
    // The disk may be full or the directory gone. No write is logged then, and each later write tries again.
    const bool is_the_machines = placed.code() == Code::kNoSpace || placed.os_error() != 0;
    return is_the_machines && group.batch_count > 0 ? pause(Pause::kLog, placed) : placed;
  }
  bool finds_room = false;
  for (Member* member = group.first; member != nullptr; member = member->next) {
    if (!member->batch.empty()) finds_room |= reserve_memory(*group.memtable, *member);
  }
  if (health() != Health::kHealthy) note_success(finds_room);
  return Status();
}

/// Ends the pauses: a store that accepts writes must not report that it refuses them.
void CommitQueue::note_success(bool finds_room) noexcept {
  resume(Pause::kLog);
  if (!finds_room) return;
  resume(Pause::kFlush);
  resume(Pause::kOthers);
}

/// Reserves memory for one member. A member without room is refused alone, since a smaller batch may still fit. Returns
/// whether it found room that all commits may use.
bool CommitQueue::reserve_memory(Memtable& memtable, Member& member) {
  const BudgetPart part = member.frees_space ? BudgetPart::kAll : BudgetPart::kCommon;
  const std::uint64_t promised = member.room == nullptr ? 0 : member.room->bytes();
  Result<Memtable::Reservation> room = memtable.reserve(member.demand, part, promised);
  if (room.ok()) {
    member.reservation = *room;
    if (member.room != nullptr) member.room->hand_over();
    return part == BudgetPart::kCommon && member.demand.entry_count > 0;
  }
  member.status = room.status();
  if (room.code() == Code::kNoSpace) {
    member.room_need = {memtable.needed_bytes(member.demand), Memtable::needed_bytes_at_first(member.demand), part};
  }
  return false;
}

}  // namespace varve::engine
