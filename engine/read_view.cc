// Owns: the reads of a view: each as a call of the room that performs it, and the time at which ends are judged.
// Must never: show an entity that has ended, or one answer twice differently.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/entry_cursor.h"
#include "engine/engine.h"
#include "engine/engine_state.h"
#include "engine/levels/levels.h"
#include "engine/read/batch_read.h"
#include "engine/read/external_values.h"
#include "engine/read/state_cursor.h"

namespace varve::engine {

Status ReadView::may_answer() const noexcept {
  if (!state_->lease) [[likely]]
    return Status();
  return check_lease();
}

Status ReadView::check_lease() const noexcept {
  if (is_confirmed_.load(std::memory_order_relaxed)) return state_->lease->check();
  Status confirmed = state_->lease->confirm();
  if (confirmed.ok()) is_confirmed_.store(true, std::memory_order_relaxed);
  return confirmed;
}

Result<std::optional<FoundEntry>> ReadView::get(std::string_view sort_key, ReadCost* cost) const {
  return read(sort_key, cost, nullptr);
}

Result<std::optional<FoundEntry>> ReadView::get(std::string_view sort_key, ValueRoom& room, ReadCost* cost,
                                                Expects expects) const {
  return read(sort_key, cost, &room, expects);
}

Result<std::vector<std::optional<FoundEntry>>> ReadView::get_many(std::span<const std::string_view> sort_keys,
                                                                  ReadCost* cost) const {
  return read_many(sort_keys, cost, nullptr);
}

Result<std::vector<std::optional<FoundEntry>>> ReadView::get_many(std::span<const std::string_view> sort_keys,
                                                                  ValueRoom& room) const {
  return read_many(sort_keys, nullptr, &room);
}

Result<std::optional<FoundEntry>> ReadView::read(std::string_view sort_key, ReadCost* cost, ValueRoom* room,
                                                 Expects expects) const {
  Result<std::optional<FoundEntry>> found =
      read_point(*pin_, *state_->blocks, sort_key, version_, {cost, EntryPart::kAll, room, expects});
  if (!found.ok()) return found;
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  if (!*found) return found;
  if ((*found)->kind != Kind::kPut || !is_live((*found)->end)) return std::optional<FoundEntry>();
  return found;
}

Result<std::vector<std::optional<FoundEntry>>> ReadView::read_many(std::span<const std::string_view> sort_keys,
                                                                   ReadCost* cost, ValueRoom* room) const {
  Result<std::vector<std::optional<FoundEntry>>> found =
      read_points(*pin_, *state_->blocks, *state_->read_queues, {sort_keys, version_, EntryPart::kAll, cost, room});
  if (!found.ok()) return found;
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  keep_live(*found);
  return found;
}

Result<std::optional<FoundPlace>> ReadView::locate(std::string_view sort_key, ReadCost* cost) const {
  Result<std::optional<FoundPlace>> found = locate_point(*pin_, *state_->blocks, sort_key, version_, cost);
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  if (found.ok() && *found && !is_live((*found)->end)) return std::optional<FoundPlace>();
  return found;
}

Status ReadView::read_part(const FoundPlace& place, std::uint64_t offset, std::span<char> out, ReadCost* cost) const {
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  return read_found_part(*pin_, *state_->blocks, place, {offset, out}, cost);
}

Status ReadView::read_pair(const FoundPlace& place, const WantedPair& parts, ReadCost* cost) const {
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  return read_found_pair(*pin_, *state_->blocks, *state_->read_queues, place, parts, cost);
}

CommitVersion ReadView::time() const noexcept {
  CommitVersion time = time_.load(std::memory_order_relaxed);
  if (time != 0) return time;
  const CommitVersion now = state_->clock().time();
  // If two threads ask at once, the first one decides.
  return time_.compare_exchange_strong(time, now, std::memory_order_relaxed) ? now : time;
}

bool ReadView::has_ended(CommitVersion end) const noexcept {
  if (end > time()) return false;
  state_->clock().pass(end);
  return true;
}

Moment ReadView::moment() const noexcept {
  return {version_, state_->has_ends.load(std::memory_order_acquire) ? this->time() : 0};
}

void ReadView::keep_live(std::vector<std::optional<FoundEntry>>& found) const noexcept {
  for (std::optional<FoundEntry>& entry : found) {
    if (entry && (entry->kind != Kind::kPut || !is_live(entry->end))) entry.reset();
  }
}

Newest ReadView::newest_of(std::optional<FoundEntry> found) const noexcept {
  Newest newest;
  if (!found) return newest;
  newest.entry = std::move(*found);
  newest.version = newest.entry.version;
  if (newest.entry.kind == Kind::kPut && is_live(newest.entry.end)) newest.value = newest.entry.value;
  return newest;
}

Result<Newest> ReadView::newest(std::string_view sort_key, EntryPart part) const {
  Result<std::optional<FoundEntry>> found =
      read_point(*pin_, *state_->blocks, sort_key, format::kCommitVersionMax, {.part = part});
  if (!found.ok()) return found.status();
  return newest_of(*std::move(found));
}

Result<std::vector<Newest>> ReadView::newest_many(std::span<const std::string_view> sort_keys, EntryPart part) const {
  std::vector<Newest> newest;
  newest.reserve(sort_keys.size());
  if (sort_keys.size() == 1) {  // A read queue pays only for several keys.
    Result<Newest> one = this->newest(sort_keys.front(), part);
    if (!one.ok()) return one.status();
    newest.push_back(std::move(*one));
    return newest;
  }
  Result<std::vector<std::optional<FoundEntry>>> found =
      read_points(*pin_, *state_->blocks, *state_->read_queues, {sort_keys, format::kCommitVersionMax, part});
  if (!found.ok()) return found.status();
  for (std::optional<FoundEntry>& entry : *found) newest.push_back(newest_of(std::move(entry)));
  return newest;
}

Result<RangeState> ReadView::compare_range(std::string_view lower, std::string_view upper, const Moment& since,
                                           std::uint64_t entities_max) const {
  const std::unique_ptr<EntryCursor> entries = cursor_over(*pin_, *state_->blocks, nullptr, {nullptr, lower, upper});
  RangeState range;
  std::string key;
  entries->seek(lower, format::kCommitVersionMax);
  while (entries->valid() && entries->entry().sort_key < upper && range.entities <= entities_max) {
    const Entry newest = entries->entry();  // The newest entry of a key comes first.
    const CommitVersion end = newest.has_end() ? newest.end() : 0;
    const bool was_written = newest.version > since.version;
    range.has_ended = !was_written && end > since.time && has_ended(end);
    if (was_written || range.has_ended) {
      range.changed_key.assign(newest.sort_key);
      range.changed_at = newest.version;
      return range;
    }
    if (newest.is_put() && (end == 0 || end > since.time)) {
      ++range.entities;
      if (end != 0) range.first_end = range.first_end == 0 ? end : std::min(range.first_end, end);
    }
    key.assign(newest.sort_key);
    entries->pass_key(key);
  }
  if (Status walked = entries->status(); !walked.ok()) return walked;
  return range;
}

Result<std::optional<NewestKey>> ReadView::first_newest(std::string_view lower, std::string_view upper) const {
  const std::unique_ptr<EntryCursor> entries = cursor_over(*pin_, *state_->blocks, nullptr, {nullptr, lower, upper});
  std::string key;
  entries->seek(lower, format::kCommitVersionMax);
  while (entries->valid() && entries->entry().sort_key < upper) {
    const Entry newest = entries->entry();  // The newest entry of a key comes first.
    if (newest.is_put() && is_live(newest.has_end() ? newest.end() : 0)) {
      return std::optional(NewestKey{std::string(newest.sort_key), newest.version});
    }
    key.assign(newest.sort_key);
    entries->pass_key(key);
  }
  if (Status walked = entries->status(); !walked.ok()) return walked;
  return std::optional<NewestKey>();
}

Result<HeldRange> ReadView::held_range(std::string_view lower, std::string_view upper, ReadCost* cost) const {
  HeldRange held = look_at_range(*pin_, state_->blocks->cache(), {lower, upper}, version_, cost);
  if (Status fresh = may_answer(); !fresh.ok()) return fresh;
  if (held.has == HeldRange::Has::kOne && !is_live(held.end)) held.has = HeldRange::Has::kNothing;
  return held;
}

Cursor ReadView::cursor(std::string_view lower, std::string_view upper, ReadCost* cost, BlockJudge* judge,
                        std::uint64_t entries_expected) const {
  std::unique_ptr<EntryCursor> entries =
      cursor_over(*pin_, *state_->blocks, cost, {judge, lower, upper, entries_expected});
  const ExternalValues values(*state_->blocks, *pin_->tables, cost);
  Cursor cursor(pin_.again(), std::move(entries), lower, upper, version_, values);
  cursor.answer_under(state_->lease.get(), is_confirmed_.load(std::memory_order_relaxed));
  if (state_->has_ends.load(std::memory_order_acquire)) cursor.judge_ends(this->time(), state_->clock());
  if (state_->queue) {
    cursor.know(state_->queue->stretches(), judge == nullptr ? WalkSees::kAll : WalkSees::kWhatItWants);
  }
  return cursor;
}

}  // namespace varve::engine
