// Owns: sealing (memtables.h).
// Must never: flush a memtable before the readers' state has both it and its successor.
#include "engine/memory/memtables.h"

#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

Memtables::Memtables(io::Scheduler& scheduler, ReadStates& states, WriteShare& share, std::uint64_t memtable_bytes_max)
    : states_(states),
      share_(share),
      memtable_bytes_max_(memtable_bytes_max),
      active_(states.pin()->active),
      mutex_(scheduler),
      changed_(scheduler) {
  active_->join(share_.budget());
  share_.join(*this, *active_);
}

bool Memtables::must_seal(std::uint64_t log_bytes) const noexcept {
  const std::uint64_t bytes = active_->used_bytes();
  if (bytes >= memtable_bytes_max_ || log_bytes >= kLogBytesPerMemtable) return true;
  if (log_bytes >= kSparseLogBytes && log_bytes / kSparseLogParts >= bytes) return true;
  // Other stores share the write buffer: this store gives back its part.
  return bytes >= memtable_bytes_max_ / kPartsWorthSealing && is_crowded();
}

Status Memtables::seal(CommitVersion last_version, std::vector<format::DeadId> retired,
                       std::optional<format::CommitTag> tag, std::vector<format::TableId> adopted, bool ends_segment) {
  try {
    auto next = std::make_shared<Memtable>();
    next->join(share_.budget());
    SealedMemtable sealed{active_, last_version, std::move(retired), std::move(tag), std::move(adopted), ends_segment};
    {
      const io::MutexGuard guard(mutex_);
      sealed_.reserve(sealed_.size() + 1);
    }
    states_.update([&](ReadState& state) {
      state.sealed.insert(state.sealed.begin(), state.active);
      state.active = next;
    });
    share_.note_sealed(*next);
    {
      // A flush may begin only now, since it takes the memtable out of the readers' state.
      const io::MutexGuard guard(mutex_);
      sealed_.push_back(std::move(sealed));  // Room was reserved.
      seal_asked_ = false;
      changed_.notify_all();
      announce();
    }
    active_ = std::move(next);
    return Status();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

void Memtables::announce_work(std::function<void()> on_work) {
  const io::MutexGuard guard(mutex_);
  on_work_ = std::move(on_work);
  announce();
}

FlushWork Memtables::take_work() {
  const io::MutexGuard guard(mutex_);
  FlushWork work;
  if (stopping_) return work;
  if (std::exchange(room_came_, false)) {
    work.kind = FlushWork::Kind::kHeal;
  } else if (!sealed_.empty()) {
    ++attempts_;  // Counts before it can fail: a thread that waits for an attempt hears of one that lacks memory.
    work.oldest = sealed_.front();
    if (sealed_.size() > 1) work.next = sealed_[1];
    work.kind = FlushWork::Kind::kFlush;
  } else if (std::exchange(seal_asked_, false)) {
    work.kind = FlushWork::Kind::kSeal;
  }
  return work;
}

void Memtables::report_seal(const Status& sealed) noexcept {
  if (!sealed.ok()) return report_flush(sealed);
  share_.note_answered();
}

void Memtables::report_flush(const Status& flushed) noexcept {
  SealedMemtable done;      // Freed after the mutex: it may end the memtable, and other threads wait for its room.
  note_to_others(flushed);  // First: a thread that waits for the flush may ask for room at once.
  {
    const io::MutexGuard guard(mutex_);
    last_flush_ = flushed;
    if (flushed.ok()) {
      assert(!sealed_.empty());
      done = std::move(sealed_.front());
      sealed_.erase(sealed_.begin());
      ++flushed_;
    } else {
      failed_attempt_ = attempts_;
    }
    changed_.notify_all();
  }
}

void Memtables::note_to_others(const Status& flushed) noexcept {
  if (!flushed.ok()) return share_.note_failed(flushed, false);
  std::uint64_t bytes = 0;
  {
    const io::MutexGuard guard(mutex_);
    assert(!sealed_.empty());
    bytes = sealed_.front().memtable->used_bytes();
  }
  share_.note_flushed(bytes);
}

bool Memtables::take_retry_request() noexcept {
  const io::MutexGuard guard(mutex_);
  return std::exchange(retry_asked_, false);
}

void Memtables::end_flushing() noexcept {
  Status last;
  {
    const io::MutexGuard guard(mutex_);
    has_ended_ = true;
    last = last_flush_;
    changed_.notify_all();
  }
  share_.note_failed(last, true);
}

void Memtables::make_room() noexcept {
  const io::MutexGuard guard(mutex_);
  seal_asked_ = true;
  if (!last_flush_.ok()) retry_asked_ = true;
  announce();
}

void Memtables::room_came() noexcept {
  const io::MutexGuard guard(mutex_);
  room_came_ = true;
  announce();
}

bool Memtables::is_crowded() const noexcept {
  return share_.used_bytes() / kPartsUsedMax >= share_.bytes_max() / kBudgetParts;
}

void Memtables::wait_for_room() noexcept {
  if (!is_crowded()) return;
  const io::MutexGuard guard(mutex_);
  while (is_crowded() && !sealed_.empty() && last_flush_.ok() && !stopping_) changed_.wait(mutex_);
}

Status Memtables::wait_until_flushed() {
  const io::MutexGuard guard(mutex_);
  const std::uint64_t target = flushed_ + sealed_.size();
  // An earlier failure is no answer, since a retry may succeed. Only an attempt that begins from here on counts.
  const std::uint64_t begun = attempts_;
  retry_asked_ = true;
  announce();
  while (flushed_ < target && failed_attempt_ <= begun && !has_ended_ && !stopping_) changed_.wait(mutex_);
  if (flushed_ >= target) return Status();
  return stopping_ ? Status(Code::kClosed, "the store is closing") : last_flush_;
}

std::vector<format::DeadId> Memtables::sealed_drops() const {
  const io::MutexGuard guard(mutex_);
  std::vector<format::DeadId> drops;
  for (const SealedMemtable& sealed : sealed_) drops.insert(drops.end(), sealed.retired.begin(), sealed.retired.end());
  return drops;
}

void Memtables::stop_waiting() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    stopping_ = true;
    on_work_ = nullptr;
    changed_.notify_all();
  }
  share_.note_closing();
}

}  // namespace varve::engine
