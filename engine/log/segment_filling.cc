// Owns: the zeros in the spare and in the segment in use (segment_supply.h).
// Must never: hold the mutex while it fills, or fill what the log has taken.
#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/log/segment_supply.h"
#include "io/probe.h"

namespace varve::engine {

void SegmentSupply::begin_use(std::uint64_t number, std::shared_ptr<io::LogSegment> file) noexcept {
  const io::MutexGuard guard(mutex_);
  assert(!in_use_);
  current_bytes_ = file->allocated_bytes();
  in_use_ = std::move(file);
  released_.begin(number, current_bytes_);
  pace_ = FillPace(current_bytes_);
  used_bytes_ = 0;
  used_now_.store(0, std::memory_order_seq_cst);
  plan_filling();
}

void SegmentSupply::end_use() noexcept {
  const io::MutexGuard guard(mutex_);
  end_filling_in_use();
}

void SegmentSupply::end_filling_in_use() {
  if (!in_use_) return;
  const std::shared_ptr<io::LogSegment> file = std::move(in_use_);
  plan_filling();
  file->stop_filling();
  while (filling_ == file.get()) changed_.wait(mutex_);
}

/// Waits until no step in the segment in use goes on below `bytes`.
void SegmentSupply::await_step(std::uint64_t bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  if (bytes > step_begin_.load(std::memory_order_relaxed)) io::probe("the log reached the zeros ahead of it");
  while (bytes > step_begin_.load(std::memory_order_relaxed)) changed_.wait(mutex_);
}

bool SegmentSupply::must_fill() const {
  return must_fill_ahead() || (spare_ && used_bytes_ >= spare_due_at_);
}

bool SegmentSupply::must_fill_ahead() const {
  return in_use_ && used_now_.load(std::memory_order_relaxed) >= ahead_due_at_;
}

void SegmentSupply::wake_filling(std::uint64_t used_bytes) noexcept {
  const io::MutexGuard guard(mutex_);
  used_bytes_ = used_bytes;
  if (must_fill()) changed_.notify_all();
}

/// Sets the uses at which the next steps are due.
void SegmentSupply::plan_filling() {
  spare_due_at_ = kNoFill;
  if (spare_ && filling_pays()) {
    const std::uint64_t bytes = spare_->file->allocated_bytes();
    const std::uint64_t prepared = spare_->file->prepared_bytes();
    if (prepared < bytes) spare_due_at_ = pace_.use_at(prepared, bytes);
  }
  ahead_due_at_ = kNoFill;
  if (in_use_ && expected_ == UsualWrites::kBesideOthers && in_use_->prepared_bytes() < in_use_->allocated_bytes()) {
    ahead_due_at_ = FillPace::ahead_at(in_use_->prepared_bytes());
  }
  fill_due_at_.store(std::min(spare_due_at_, ahead_due_at_), std::memory_order_relaxed);
}

/// Fills by one step, so that edits need not wait for more.
void SegmentSupply::fill() {
  FillStep step;
  {
    const io::MutexGuard guard(mutex_);
    step = must_fill_ahead() ? next_step_ahead() : next_step();
    filling_ = step.file.get();
  }
  if (!step.file) return;
  const std::uint64_t bytes_before = step.file->filled_bytes();
  const std::uint64_t prepared_before = step.file->prepared_bytes();
  const Status filled = step.file->fill_between(step.begin, step.end);
  filled_bytes_.fetch_add(step.file->filled_bytes() - bytes_before, std::memory_order_relaxed);
  const io::MutexGuard guard(mutex_);
  filling_ = nullptr;
  step_begin_.store(kNoFill, std::memory_order_relaxed);
  changed_.notify_all();
  end_step(step, filled, step.file->prepared_bytes() > prepared_before);
}

/// Returns the spare's step, if one is due.
SegmentSupply::FillStep SegmentSupply::next_step() {
  if (!spare_ || !must_fill()) return {};
  spare_due_at_ = kNoFill;  // It stays so if there is no memory.
  fill_due_at_.store(ahead_due_at_, std::memory_order_relaxed);
  removed_.reserve(removed_.size() + kEditRoom + 1);  // for a spare that must be discarded
  const std::uint64_t prepared = spare_->file->prepared_bytes();
  const std::uint64_t due = pace_.due(used_bytes_, spare_->file->allocated_bytes());
  return {spare_->file, prepared, std::min(due, FillPace::step_end(prepared)), false};
}

/// Returns the due step in the segment in use. Returns none if the log has come too near meanwhile (F1); the next one
/// begins farther ahead.
SegmentSupply::FillStep SegmentSupply::next_step_ahead() {
  const std::uint64_t used = used_now_.load(std::memory_order_relaxed);
  const std::uint64_t begin = FillPace::ahead_begin(used, in_use_->prepared_bytes());
  const std::uint64_t end = std::min(FillPace::step_end(begin), in_use_->allocated_bytes());
  if (begin >= end) {
    in_use_.reset();  // No room is left for a step.
    plan_filling();
    return {};
  }
  step_begin_.store(begin, std::memory_order_seq_cst);
  if (used_now_.load(std::memory_order_seq_cst) > begin) {
    step_begin_.store(kNoFill, std::memory_order_relaxed);
    changed_.notify_all();
    return {};
  }
  ahead_due_at_ = kNoFill;  // It stays so if there is no memory.
  fill_due_at_.store(spare_due_at_, std::memory_order_relaxed);
  return {in_use_, begin, end, true};
}

/// Plans the next step. If a step failed, its segment is filled no more: a write to it would fail too. So a spare is
/// discarded.
void SegmentSupply::end_step(const FillStep& step, const Status& filled, bool has_gone_on) {
  const bool has_failed = !filled.ok() && filled.code() != Code::kOutOfMemory;
  if (step.is_in_use) {
    if (in_use_ != step.file) return;
    if (has_failed) in_use_.reset();
    if (has_failed || has_gone_on) plan_filling();
    return;
  }
  if (!spare_ || spare_->file != step.file) return;
  if (has_failed) {
    io::probe("a segment could not be filled");
    discard_spare();
    last_failure_ = filled;
    retry_later_ = true;
  } else if (has_gone_on) {
    plan_filling();
  }
}

/// Waits until no step of the spare goes on. Another spare, or none, may be there after a wait.
void SegmentSupply::await_filling() {
  while (filling_ != nullptr) changed_.wait(mutex_);
}

}  // namespace varve::engine
