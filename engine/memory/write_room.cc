// Owns: the account of the stores that hold room, the order of waiting commits, and the choice of stores to ask
// (write_room.h).
// Must never: free a memtable under its mutex, or give room back there by the budget's own call.
#include "engine/memory/write_room.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cinttypes>
#include <cstdio>

#include "engine/memory/memtable.h"
#include "io/probe.h"

namespace varve::engine {

namespace {

/// If no room has come to a commit for this long, it asks one more store.
constexpr std::chrono::milliseconds kPatience{100};

Status larger_than_buffer(std::uint64_t need_bytes, std::uint64_t bytes_max) noexcept {
  std::array<char, 160> text;
  const int length = std::snprintf(text.data(), text.size(),
                                   "the commit needs %" PRIu64 " bytes of the write buffer, which has %" PRIu64
                                   " for all commits; make the commit smaller or the buffer larger",
                                   need_bytes, bytes_max);
  assert(length > 0);
  return Status::no_space({text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)});
}

}  // namespace

WriteRoom::WriteRoom(WriteBudget& budget, io::Scheduler& scheduler) noexcept
    : budget_(budget), simulation_(scheduler.simulation()), mutex_(scheduler), changed_(scheduler) {}

std::uint64_t WriteRoom::held_bytes(const Holder& holder) noexcept {
  return holder.active->used_bytes() + holder.sealed_bytes;
}

bool WriteRoom::is_stuck(const Holder& holder, const Moment& at) noexcept {
  if (holder.has_ended) return true;
  if (holder.failure.ok()) return false;
  return holder.failure_number > at.failures_before || at.now - holder.failed_at < kFailureIsFresh;
}

/// Returns the bytes that the store would give back if asked. After a failure, those are the sealed bytes of the next
/// attempt.
std::uint64_t WriteRoom::bytes_to_give(const Holder& holder) noexcept {
  const bool retries = !holder.failure.ok() && holder.sealed_bytes > 0;
  return retries ? holder.sealed_bytes : holder.active->used_bytes();
}

bool WriteRoom::can_be_asked(const Holder& holder, const Moment& at) noexcept {
  return !holder.was_asked && !holder.is_closing && !is_stuck(holder, at) && bytes_to_give(holder) > 0;
}

/// Returns the bytes that will come back without asking again.
std::uint64_t WriteRoom::bytes_to_come(const Holder& holder, const Moment& at) noexcept {
  if (holder.is_closing || is_stuck(holder, at)) return 0;
  const std::uint64_t asked = holder.was_asked ? bytes_to_give(holder) : 0;
  return holder.failure.ok() ? holder.sealed_bytes + asked : asked;
}

// ---------------------------------------------------------------------------------------------- reports of the stores

void WriteRoom::join(Holder& holder) {
  const io::MutexGuard guard(mutex_);
  holders_.push_back(&holder);
  holder.has_joined = true;
  holder_count_.store(holders_.size(), std::memory_order_relaxed);
}

void WriteRoom::leave(Holder& holder) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!holder.has_joined) return;
  holder.has_joined = false;
  std::erase(holders_, &holder);
  holder_count_.store(holders_.size(), std::memory_order_relaxed);
  budget_.stuck_bytes_.fetch_sub(holder.stuck_bytes.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  if (std::exchange(holder.awaits_room, false)) budget_.attention_.fetch_sub(1, std::memory_order_seq_cst);
  changed_.notify_all();
}

void WriteRoom::count_stuck(Holder& holder) noexcept {
  const bool is_stuck = holder.has_ended || !holder.failure.ok();
  const std::uint64_t now = is_stuck ? held_bytes(holder) : 0;
  const std::uint64_t before = holder.stuck_bytes.exchange(now, std::memory_order_relaxed);
  budget_.stuck_bytes_.fetch_add(now - before, std::memory_order_relaxed);  // Modulo 2^64, as unsigned numbers are.
}

void WriteRoom::note_sealed(Holder& holder, const Memtable& next) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!holder.has_joined) return;
  holder.sealed_bytes += holder.active->used_bytes();
  holder.active = &next;
  holder.was_asked = false;
  relieve_locked(holder);
}

void WriteRoom::note_flushed(Holder& holder, std::uint64_t bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!holder.has_joined) return;
  assert(holder.sealed_bytes >= bytes);
  holder.sealed_bytes -= bytes;
  const bool has_failed = !holder.failure.ok();
  holder.failure = Status();
  count_stuck(holder);
  if (!has_failed) return;
  for (Holder* const other : holders_) {  // Its own pause ends with this flush.
    if (other != &holder) tell_if_room_is_there(*other);
  }
}

void WriteRoom::note_failed(Holder& holder, const Status& failure, bool for_good) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!holder.has_joined) return;
  holder.failure = failure;
  holder.failure_number = ++failures_;
  holder.failed_at = holder.clock->monotonic();
  holder.was_asked = false;
  holder.has_ended = for_good;
  count_stuck(holder);
  changed_.notify_all();
}

void WriteRoom::note_answered(Holder& holder) noexcept {
  const io::MutexGuard guard(mutex_);
  holder.was_asked = false;
}

void WriteRoom::note_closing(Holder& holder) noexcept {
  const io::MutexGuard guard(mutex_);
  holder.is_closing = true;
  changed_.notify_all();
}

void WriteRoom::tell_of_room() noexcept {
  const io::MutexGuard guard(mutex_);
  for (Holder* const holder : holders_) tell_if_room_is_there(*holder);
  changed_.notify_all();
}

/// Returns the bytes that stores hold and would flush if a commit asked for them.
std::uint64_t WriteRoom::flushable_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Holder* const holder : holders_) {
    if (holder->failure.ok() && !holder->has_ended && !holder->is_closing) bytes += held_bytes(*holder);
  }
  return bytes;
}

/// Notifies the store if the commit that it awaits would get its room now. Otherwise, a later call checks again.
void WriteRoom::tell_if_room_is_there(Holder& holder) noexcept {
  if (!holder.awaits_room) return;
  const std::uint64_t used = budget_.used_bytes_.load(std::memory_order_seq_cst);
  const std::uint64_t kept = used - std::min(used, flushable_bytes());
  const std::uint64_t bound = budget_.bytes_for(holder.awaited.part);
  if (kept > bound || bound - kept < holder.awaited.in_fresh) return;
  holder.awaits_room = false;
  budget_.attention_.fetch_sub(1, std::memory_order_seq_cst);
  holder.giver->room_came();
}

void WriteRoom::tell_when_room_comes(Holder& own, const RoomNeed& need) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!own.has_joined) return;
  own.awaited = need;
  if (!std::exchange(own.awaits_room, true)) budget_.attention_.fetch_add(1, std::memory_order_seq_cst);
  tell_if_room_is_there(own);
}

// ------------------------------------------------------------------------------------------- the choice of stores to
// ask

std::uint64_t WriteRoom::stuck_bytes(const Moment& at) const noexcept {
  std::uint64_t bytes = 0;
  for (const Holder* const holder : holders_) {
    if (is_stuck(*holder, at)) bytes += held_bytes(*holder);
  }
  return bytes;
}

std::uint64_t WriteRoom::coming_bytes(const Moment& at) const noexcept {
  std::uint64_t bytes = 0;
  for (const Holder* const holder : holders_) bytes += bytes_to_come(*holder, at);
  return bytes;
}

bool WriteRoom::is_any_coming(const Moment& at) const noexcept {
  return std::any_of(holders_.begin(), holders_.end(), [&at](const Holder* holder) {
    return !holder->is_closing && !is_stuck(*holder, at) && held_bytes(*holder) > 0;
  });
}

/// Asks the stores that hold most, until `bytes` bytes are coming. Each asked store writes a table, so it asks the
/// fewest.
void WriteRoom::ask_for(std::uint64_t bytes, const Moment& at, const Holder* except) noexcept {
  std::uint64_t coming = coming_bytes(at);
  while (coming < bytes) {
    Holder* most = nullptr;
    for (Holder* const holder : holders_) {
      if (holder == except || !can_be_asked(*holder, at)) continue;
      if (most == nullptr || bytes_to_give(*holder) > bytes_to_give(*most)) most = holder;
    }
    if (most == nullptr) return;
    io::probe("a store was asked for room in the write buffer");
    coming += bytes_to_give(*most);
    most->was_asked = true;
    most->giver->make_room();
  }
}

void WriteRoom::relieve(const Holder& own) noexcept {
  if (holder_count_.load(std::memory_order_relaxed) < 2) return;  // W3
  const io::MutexGuard guard(mutex_);
  relieve_locked(own);
}

/// Commits are held back from half of the buffer on. This asks other stores for the bytes above half. The store itself
/// seals its memtable when that is due.
void WriteRoom::relieve_locked(const Holder& own) noexcept {
  if (holders_.size() < 2) return;  // W3
  const Moment at{own.clock->monotonic(), failures_};
  const std::uint64_t stuck = stuck_bytes(at);
  const std::uint64_t used = budget_.used_bytes();
  if (used <= stuck || budget_.bytes_max() <= stuck) return;
  const std::uint64_t half = (budget_.bytes_max() - stuck) / 2;
  if (used - stuck > half) ask_for(used - stuck - half, at, &own);
}

// ---------------------------------------------------------------------------------------------------- waiting commits

void WriteRoom::enter(Waiter& me, bool is_first) noexcept {
  Waiter** place = &first_;
  while (!is_first && *place != nullptr) place = &(*place)->next;
  me.next = *place;
  *place = &me;
  budget_.attention_.fetch_add(1, std::memory_order_seq_cst);
}

void WriteRoom::exit(const Waiter& me) noexcept {
  Waiter** place = &first_;
  while (*place != &me) place = &(*place)->next;
  *place = me.next;
  budget_.attention_.fetch_sub(1, std::memory_order_seq_cst);
  changed_.notify_all();
}

void WriteRoom::put_back(RoomGrant& grant) noexcept {
  if (grant.bytes_ == 0) return;
  budget_.give_back_untold(std::exchange(grant.bytes_, 0));
  changed_.notify_all();
}

WriteRoom::Refusal WriteRoom::refusal_by_stuck(const Holder& own, const RoomNeed& need,
                                               const Moment& at) const noexcept {
  const std::uint64_t bound = budget_.bytes_for(need.part);
  if (need.in_fresh > bound) return {Refusal::Why::kTooLarge, Status()};
  if (need.in_fresh <= bound - std::min(bound, stuck_bytes(at))) return Refusal();
  if (is_stuck(own, at)) return {Refusal::Why::kOwnFailure, own.failure};
  const Holder* most = nullptr;
  for (const Holder* const holder : holders_) {
    if (!is_stuck(*holder, at)) continue;
    if (most == nullptr || held_bytes(*holder) > held_bytes(*most)) most = holder;
  }
  return {Refusal::Why::kNeighbour, most->failure.in_file(most->name)};
}

WriteRoom::Refusal WriteRoom::refusal_by_quiet(const Holder& own) const noexcept {
  for (const Holder* const holder : holders_) {
    if (holder == &own || !holder->is_closing || held_bytes(*holder) == 0) continue;
    return {Refusal::Why::kClosingNeighbour, Status::no_space("the store is closed").in_file(holder->name)};
  }
  return {Refusal::Why::kReaders, Status()};
}

/// Returns the bytes to gather. The index of a memtable with many entries may have to grow by more than the budget can
/// ever give. Then the successor, which is empty, takes the commit.
std::uint64_t WriteRoom::wanted_bytes(const RoomNeed& need, const Moment& at) const noexcept {
  const std::uint64_t bound = budget_.bytes_for(need.part);
  const std::uint64_t hoped = bound - std::min(bound, stuck_bytes(at));
  return std::max(need.in_fresh, std::min(need.in_active, hoped));
}

/// Takes free room for the need, and returns whether any was taken.
bool WriteRoom::take_for(const RoomNeed& need, const Moment& at, RoomGrant& grant) noexcept {
  const std::uint64_t wanted = wanted_bytes(need, at);
  if (grant.bytes_ >= wanted) return false;
  const std::uint64_t taken = budget_.take_up_to(wanted - grant.bytes_, need.part);
  grant.bytes_ += taken;
  return taken > 0;
}

WriteRoom::Refusal WriteRoom::gather(Holder& own, const RoomNeed& need, RoomGrant& grant, Waiter& me) noexcept {
  std::chrono::nanoseconds quiet_since = own.clock->monotonic();
  std::chrono::nanoseconds quiet{0};  // A test's clock may not move.
  std::uint64_t one_more = 0;
  for (;;) {
    const Moment at{own.clock->monotonic(), me.failures_before};
    if (own.is_closing) return {Refusal::Why::kClosing, Status()};
    if (Refusal refusal = refusal_by_stuck(own, need, at); refusal.why != Refusal::Why::kNone) return refusal;
    bool hopes = true;
    if (first_ == &me) {
      hopes = take_for(need, at, grant);
      const std::uint64_t wanted = wanted_bytes(need, at);
      if (grant.bytes_ >= wanted) return Refusal();
      ask_for(std::max(wanted - grant.bytes_, std::exchange(one_more, 0)), at, nullptr);
      hopes |= is_any_coming(at);
    } else {
      put_back(grant);  // W2
    }
    if (hopes) {
      quiet_since = at.now;
      quiet = std::chrono::nanoseconds(0);
    }
    if (std::max(quiet, at.now - quiet_since) >= kQuietMax) return refusal_by_quiet(own);
    if (changed_.wait_for(mutex_, kPatience)) continue;
    quiet += kPatience;
    one_more = coming_bytes(at) + 1;  // The stores asked so far may be slow.
  }
}

RoomAnswer WriteRoom::wait_for(Holder& own, const RoomNeed& need, RoomGrant& grant) noexcept {
  io::probe("a commit waited for room in the write buffer");
  grant.budget_ = &budget_;
  Refusal refusal;
  {
    const io::MutexGuard guard(mutex_);
    Waiter me;
    me.failures_before = failures_;
    enter(me, grant.bytes_ > 0);
    refusal = gather(own, need, grant, me);
    if (refusal.why != Refusal::Why::kNone) put_back(grant);
    exit(me);
  }
  return told(refusal, need);
}

RoomAnswer WriteRoom::told(const Refusal& refusal, const RoomNeed& need) const noexcept {
  using Writers = RoomAnswer::Pause;
  switch (refusal.why) {
    case Refusal::Why::kNone: return {};
    case Refusal::Why::kTooLarge: return {larger_than_buffer(need.in_fresh, budget_.bytes_max()), Writers::kNone};
    case Refusal::Why::kClosing: return {Status(Code::kClosed, "the store is closing"), Writers::kNone};
    case Refusal::Why::kOwnFailure: return {refusal.cause, Writers::kOwn};
    case Refusal::Why::kNeighbour:
      return {refusal.cause.in_file("the write buffer is full, and a store that shares it cannot write its memtables")
                  .with_code(Code::kNoSpace),
              Writers::kOthers};
    case Refusal::Why::kClosingNeighbour:
      return {refusal.cause.in_file("the write buffer is full, and a closed store that shares it is still in use"),
              Writers::kOthers};
    case Refusal::Why::kReaders: break;
  }
  return {Status::no_space("the write buffer is full of flushed memtables that are still read; end old scans"),
          Writers::kOthers};
}

// ----------------------------------------------------------------------------------------------------------- a share

WriteShare::WriteShare(std::shared_ptr<WriteBudget> budget, const io::Env& env, std::string_view name)
    : budget_(std::move(budget)), room_(budget_->room(env.scheduler)) {
  holder_.name = name;
  holder_.clock = &env.clock;
}

void WriteShare::join(RoomGiver& giver, const Memtable& active) {
  holder_.giver = &giver;
  holder_.active = &active;
  if (room_) room_->join(holder_);
}

void WriteShare::leave() noexcept {
  if (room_) room_->leave(holder_);
}

RoomAnswer WriteShare::wait_for(const RoomNeed& need, RoomGrant& grant) noexcept {
  if (room_) return room_->wait_for(holder_, need, grant);
  return {Status::no_space("the write buffer is full, and shared with stores on another scheduler"),
          RoomAnswer::Pause::kNone};
}

}  // namespace varve::engine
