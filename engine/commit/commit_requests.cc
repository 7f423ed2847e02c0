// Owns: requests to the commit queue without a batch: a flush, and the end of a memtable, of a segment and of the log.
// Also the timer's work, and the queue's figures and health.
// Must never: bypass the order of commits: each request is a member of a group like any commit.
#include <algorithm>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "engine/commit/commit_queue.h"
#include "format/keys/batch.h"
#include "format/keys/ends.h"
#include "format/keys/index_key.h"
#include "io/probe.h"

namespace varve::engine {

Status CommitQueue::flush(bool watermark) {
  Member member;
  member.watermark = watermark;
  const Result<CommitVersion> flushed = commit(member);
  return flushed.status();
}

Status CommitQueue::seal_memtable() {
  Member member;
  member.seals_memtable = true;
  const Result<CommitVersion> sealed = commit(member);
  return sealed.status();
}

Status CommitQueue::give_log_back() {
  wal_.begin_small();
  Member member;
  member.seals_memtable = true;
  member.gives_log_back = true;
  const Result<CommitVersion> sealed = commit(member);
  return sealed.status();
}

Result<CommitVersion> CommitQueue::close_segment() {
  Member member;
  member.closes_segment = true;
  const Result<CommitVersion> closed = commit(member);
  if (!closed.ok()) return closed;
  return member.closed_upto;
}

Status CommitQueue::await_published(CommitVersion version) {
  const io::MutexGuard guard(mutex_);
  ++awaiting_;
  while (visible() < version && poisoned_.ok()) changed_.wait(mutex_);
  --awaiting_;
  return visible() >= version ? Status() : poisoned_;
}

void CommitQueue::know_stretches() {
  stretches_.begin([this] {
    const io::MutexGuard guard(mutex_);
    return entered_version_;
  });
}

Status CommitQueue::close() {
  {
    const io::MutexGuard guard(mutex_);
    closed_ = true;
    timer_.notify_all();
    while (!waiting_.empty() || !flight_.empty() || lead_taken_) changed_.wait(mutex_);
    if (!poisoned_.ok()) return poisoned_;
    lead_taken_ = true;
  }
  const Status closed = wal_.close();
  const io::MutexGuard guard(mutex_);
  lead_taken_ = false;
  changed_.notify_all();
  return closed;
}

/// A leader may fill a slot, so this waits for it. No member joins a poisoned queue, so the lead then stays free.
void CommitQueue::restore_log_buffer() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    while (!waiting_.empty() || lead_taken_) changed_.wait(mutex_);
  }
  wal_.restore_buffer();
}

CommitQueue::TimerWork CommitQueue::wait_for_timer_work() {
  const io::MutexGuard guard(mutex_);
  for (;;) {
    if (!poisoned_.ok() && !std::exchange(buffer_restored_, true)) return TimerWork::kRestore;
    if (closed_) return TimerWork::kEnd;
    if (wal_.has_deferred()) return TimerWork::kDeferredWrites;
    if (poisoned_.ok() && slot_open_) {
      timer_sleep_ = TimerSleep::kForDeferredWrites;
      (void)timer_.wait_for(mutex_, kBufferedInterval);
      timer_sleep_ = TimerSleep::kNone;
      if (!closed_ && poisoned_.ok() && !wal_.has_deferred()) return TimerWork::kFlush;
    } else if (poisoned_.ok() && mark_due_) {
      const std::uint64_t seen = turns_;
      timer_sleep_ = TimerSleep::kForASlot;  // What comes to the buffer is due earlier than the mark.
      (void)timer_.wait_for(mutex_, kIdleInterval);
      timer_sleep_ = TimerSleep::kNone;
      if (!closed_ && poisoned_.ok() && turns_ == seen) return TimerWork::kWatermark;
    } else {
      timer_sleep_ = TimerSleep::kForAnything;
      timer_.wait(mutex_);
    }
  }
}

void CommitQueue::wake_timer() noexcept {
  const bool has_work = wal_.has_deferred() || (slot_open_ && timer_sleep_ != TimerSleep::kForDeferredWrites) ||
                        (mark_due_ && timer_sleep_ == TimerSleep::kForAnything);
  if (timer_sleep_ == TimerSleep::kNone || !has_work) return;
  timer_sleep_ = TimerSleep::kNone;
  timer_.notify_one();
}

std::vector<format::DeadId> CommitQueue::unsealed_drops() const {
  const io::MutexGuard guard(mutex_);
  return unsealed_drops_;
}

std::vector<format::DeadId> CommitQueue::unflushed_drops() const {
  // The order matters: a drop sealed between the two reads is found twice, and not missed. The manifest contains drops
  // that are flushed in between.
  std::vector<format::DeadId> drops = unsealed_drops();
  const std::vector<format::DeadId> sealed = memtables_.sealed_drops();
  drops.insert(drops.end(), sealed.begin(), sealed.end());
  return drops;
}

void CommitQueue::forget_drops(const Manifest& manifest) noexcept {
  try {
    if (retired_count() == 0 && recovered_dead_bytes() == 0) return;
    const FileSet files = manifest.files();
    if (files.flushed_version >= recovered_version_) recovered_dead_bytes_.store(0, std::memory_order_relaxed);
    const io::MutexGuard guard(mutex_);
    if (counted_drops_.empty()) return;
    std::set<std::string_view> kept;
    for (const format::DeadId& dead : files.dead_ids) kept.insert(dead.prefix);
    std::vector<format::DeadId> counted;
    std::vector<std::string> forgotten = forgotten_;
    for (const format::DeadId& dead : counted_drops_) {
      const bool may_remain = dead.drop_version > files.flushed_version || kept.contains(dead.prefix);
      if (may_remain) {
        counted.push_back(dead);
      } else {
        forgotten.push_back(dead.prefix);
      }
    }
    if (counted.size() == counted_drops_.size()) return;
    counted.reserve(counted_drops_.capacity());  // A commit in progress relies on the room.
    counted_drops_ = std::move(counted);
    forgotten_ = std::move(forgotten);
    retired_count_.store(counted_drops_.size(), std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    io::probe("a dropped id was forgotten later");  // with the next change of the files
  }
}

/// Makes room for the drops of a group. Drops are rare, so the lead also processes here which earlier drops to forget.
Status CommitQueue::make_room_for_drops(std::size_t retire_count) {
  std::vector<std::string> forgotten;
  {
    const io::MutexGuard guard(mutex_);
    forgotten = forgotten_;
  }
  if (!forgotten.empty()) {
    if (Status done = retired_.forget(forgotten); !done.ok()) return done;
  }
  if (Status room = retired_.reserve(retire_count); !room.ok()) return room;
  unsealed_adoptions_.reserve(unsealed_adoptions_.size() + retire_count);
  const io::MutexGuard guard(mutex_);
  forgotten_.erase(forgotten_.begin(), forgotten_.begin() + static_cast<std::ptrdiff_t>(forgotten.size()));
  unsealed_drops_.reserve(unsealed_drops_.size() + retire_count);
  counted_drops_.reserve(counted_drops_.size() + retire_count);
  return Status();
}

/// Counts a drop. Room was reserved; a prefix is short.
void CommitQueue::count_drop(std::string_view prefix, CommitVersion version) noexcept {
  const std::size_t known = retired_.size();
  retired_.add(prefix, version);
  if (retired_.size() == known) return;
  const io::MutexGuard guard(mutex_);
  counted_drops_.push_back({std::string(prefix), version, {}});
  retired_count_.store(counted_drops_.size(), std::memory_order_relaxed);
}

/// Writes into the batch what follows from the member's version.
void CommitQueue::complete_batch(Member& member) noexcept {
  for (const std::uint32_t place : member.timestamps) {
    format::set_index_timestamp(member.open_batch + place, member.version);
  }
  if (member.demand.age_count > 0) end_ages(member);
}

/// Replaces each age in the batch with the end that follows from the member's version. The batch was read before.
void CommitQueue::end_ages(Member& member) noexcept {
  Result<format::BatchReader> reader = format::BatchReader::open(member.batch, format::EndForms::kEndsAndAges);
  format::Operation operation;
  while (reader.ok()) {
    const Result<bool> more = reader->next(&operation);
    if (!more.ok() || !*more) return;
    if (operation.kind != Kind::kPutExpiring) continue;
    const std::uint64_t age = format::load_u64(operation.value.data());
    if (!format::is_age(age)) continue;
    const std::ptrdiff_t place = operation.value.data() - member.batch.data();
    format::store_u64(member.open_batch + place, format::end_of_age(age, member.version));
  }
}

std::optional<format::CommitTag> CommitQueue::last_tag() const {
  const io::MutexGuard guard(mutex_);
  return last_tag_;
}

std::size_t CommitQueue::writes_in_flight_max() const noexcept {
  const io::MutexGuard guard(mutex_);
  return depth_.limit();
}

std::size_t CommitQueue::retired_count() const noexcept {
  return retired_count_.load(std::memory_order_relaxed);
}

/// Closes the segment between two groups: the group's own commits are written to the next segment. Without room for the
/// next segment, only the members that asked are refused.
Status CommitQueue::close_segment_if_asked(CommitGroup& group) {
  if (!group.closes_segment) return Status();
  const Status closed = wal_.close_segment();
  if (!closed.ok() && wal_.failed()) return stop_after(closed);
  for (Member* member = group.first; member != nullptr; member = member->next) {
    if (!member->closes_segment) continue;
    member->status = closed;
    member->closed_upto = assigned_version_;
  }
  return Status();
}

bool CommitQueue::holds_mostly_values(std::uint64_t log_bytes) const {
  return memtables_.active().large_value_bytes() >= std::max<std::uint64_t>(1, log_bytes / 2);
}

/// Ends the log's segment with a memtable of mostly large values. Its segments can then stay as value files. This
/// happens before the sealing: the flush may begin at once, and it asks which segments are closed.
Status CommitQueue::end_log_with_values(std::uint64_t log_bytes) {
  // The last space of a full disk is not used for that. Without another segment, the values are written to a table like
  // small values.
  if (!holds_mostly_values(log_bytes) || !wal_.may_have_room()) return Status();
  const Status closed = wal_.close_segment();
  return wal_.failed() ? stop_after(closed) : Status();
}

/// Ends the log's segment before the memtable is sealed, for the reason above. Without room for another segment, the
/// current segment and its content stay.
Status CommitQueue::end_log_for_drops(bool asked, bool* ended) {
  if (!asked || !wal_.may_have_room()) return Status();
  const Status closed = wal_.close_segment();
  if (wal_.failed()) return stop_after(closed);
  *ended = closed.ok();
  return Status();
}

void CommitQueue::poison(const Status& cause) noexcept {
  bool is_first = false;
  {
    const io::MutexGuard guard(mutex_);
    is_first = poisoned_.ok();
    if (is_first) {
      health_.store(Health::kPoisoned, std::memory_order_relaxed);  // Set before any caller gets the error.
      const Code code = cause.code() == Code::kFenced ? Code::kFenced : Code::kPoisoned;
      poisoned_ = cause.with_code(code).in_file("a failure stopped the store; reopen it to write");
      unknown_ =
          cause.with_code(Code::kUnknown)
              .in_file("the log failed during this commit, which may or may not survive; reopen the store and read");
    }
    changed_.notify_all();
    timer_.notify_all();
  }
  if (is_first && events_ != nullptr) events_->on_health(Health::kPoisoned, cause);
  publish();
}

/// Poisons the queue and returns the error of later commits, after a failure of the log.
Status CommitQueue::stop_after(const Status& log_failure) {
  poison(log_failure);
  const io::MutexGuard guard(mutex_);
  return poisoned_;
}

/// A full disk makes the log and flushes fail, each at different files. It is one cause, so it has one message.
Status CommitQueue::pause(Pause why, const Status& cause) noexcept {
  Status told = cause.in_file(cause.code() == Code::kNoSpace ? "writes are refused until there is room"
                                                             : "writes are refused until files can be written");
  set_paused(why, true, told);
  return told;
}

void CommitQueue::set_paused(Pause why, bool is_paused, Status& told) noexcept {
  const auto bit = static_cast<std::uint8_t>(why);
  constexpr auto kOthers = static_cast<std::uint8_t>(Pause::kOthers);
  Health health = Health::kHealthy;
  {
    const io::MutexGuard guard(mutex_);
    const std::uint8_t before = pauses_;
    pauses_ = static_cast<std::uint8_t>(is_paused ? before | bit : before & ~bit);
    if (is_paused) {
      const bool is_same = ((before | bit) & kOthers) == 0 && told.code() == pause_cause_.code() &&
                           told.os_error() == pause_cause_.os_error();
      (is_same ? told : pause_cause_) = is_same ? pause_cause_ : told;
    } else if (pauses_ == 0) {
      pause_cause_ = Status();
    }
    if (!poisoned_.ok() || (before == 0) == (pauses_ == 0)) return;
    if (pauses_ != 0) health = Health::kWritePaused;
    health_.store(health, std::memory_order_relaxed);
  }
  if (events_ != nullptr) events_->on_health(health, told);
}

}  // namespace varve::engine
