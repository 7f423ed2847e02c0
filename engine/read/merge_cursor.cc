// Owns: the moves of a merge (merge_cursor.h).
// Must never: continue after a source has failed.
#include "engine/read/merge_cursor.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace varve::engine {

MergeCursor::MergeCursor(std::vector<std::unique_ptr<EntryCursor>> sources, const Wanted& wanted)
    : judge_(wanted.judge), lower_(wanted.lower), upper_(wanted.upper), sources_(std::move(sources)) {
  forward_.reserve(sources_.size());
  backward_.reserve(sources_.size());
  if (judge_ == nullptr) return;
  rules_.reserve(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i]->pass_by(rules_.emplace_back(*this, i));
}

/// The present entries of older sources are the first that this source's entries might hide.
std::string_view MergeCursor::Rule::pass_below() const noexcept {
  std::string_view bound = merge_.upper_;
  for (std::size_t older = source_ + 1; older < merge_.sources_.size(); ++older) {
    const EntryCursor& source = *merge_.sources_[older];
    if (source.valid() && (bound.empty() || source.entry().sort_key < bound)) bound = source.entry().sort_key;
  }
  return bound;
}

std::string_view MergeCursor::Rule::pass_above() const noexcept {
  std::string_view bound = merge_.lower_;
  for (std::size_t older = source_ + 1; older < merge_.sources_.size(); ++older) {
    const EntryCursor& source = *merge_.sources_[older];
    if (source.valid()) bound = std::max(bound, source.entry().sort_key);
  }
  return bound;
}

void MergeCursor::clear() noexcept {
  forward_.clear();
  backward_.clear();
}

bool MergeCursor::take_status(const EntryStream& source) {
  Status ended = source.status();
  if (ended.ok()) return true;
  status_ = std::move(ended);
  clear();
  return false;
}

bool MergeCursor::is_wanted(const MergeHeap& /*heap*/, const Entry& entry) const noexcept {
  return upper_.empty() || entry.sort_key < upper_;
}

bool MergeCursor::is_wanted(const DirectedMergeHeap<Direction::kBackward>& /*heap*/,
                            const Entry& entry) const noexcept {
  return entry.sort_key >= lower_;
}

template <typename Heap>
void MergeCursor::gather(Heap& heap) {
  clear();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i]->valid()) {
      if (const Entry entry = sources_[i]->entry(); is_wanted(heap, entry)) heap.add(entry, i);
    } else if (!take_status(*sources_[i])) {
      return;
    }
  }
  heap.order();
}

template <typename Heap>
void MergeCursor::settle(Heap& heap, const EntryStream& source) {
  if (source.valid()) {
    heap.replace_top(source.entry());
  } else if (take_status(source)) {
    heap.remove_top();
  }
}

void MergeCursor::seek(std::string_view sort_key, CommitVersion at_most) {
  status_ = Status();
  const std::string target(sort_key);  // It may point into an entry that a source is about to leave.
  for (const auto& source : sources_) source->seek(target, at_most);
  gather(forward_);
}

void MergeCursor::next() {
  assert(!forward_.empty());
  EntryCursor& source = *sources_[forward_.top().walk];
  source.next();
  settle(forward_, source);
}

/// Sources that hold the key are at the top, one after another. The others are at their place already.
void MergeCursor::pass_key(std::string_view sort_key) {
  assert(!forward_.empty() && forward_.top().entry.sort_key == sort_key);
  for (;;) {
    const std::size_t at = forward_.top().walk;
    EntryCursor& source = *sources_[at];
    source.pass_key(sort_key);
    settle(forward_, source);
    if (forward_.empty() || forward_.top().walk == at || forward_.top().entry.sort_key != sort_key) return;
  }
}

/// While one source alone has the key, the others are at their place already.
bool MergeCursor::step_to_next_key(KeyStep& step) {
  assert(!forward_.empty());
  if (!forward_.is_key_alone()) return false;
  const std::size_t at = forward_.top().walk;
  if (!sources_[at]->step_to_next_key(step)) return false;
  forward_.replace_top(step.entry);
  if (forward_.top().walk != at) step = {forward_.top().entry, 0};
  return true;
}

void MergeCursor::seek_ahead(std::string_view sort_key, CommitVersion at_most) {
  while (!forward_.empty()) {
    const MergeHeap::Head& top = forward_.top();
    if (!is_before(top.entry.sort_key, top.entry.version, sort_key, at_most)) return;
    EntryCursor& source = *sources_[top.walk];
    source.seek_ahead(sort_key, at_most);
    settle(forward_, source);
  }
}

/// The first source that has such a version has the newest one, since the sources go from the newest to the oldest. The
/// others of the key only move.
bool MergeCursor::show_newest(std::string_view sort_key, CommitVersion at_most, const ShowEntry& show) {
  assert(!backward_.empty() && backward_.top().entry.sort_key == sort_key);
  const auto* const other = backward_.second();
  if (other == nullptr || other->entry.sort_key != sort_key) {
    EntryCursor& source = *sources_[backward_.top().walk];
    const bool is_shown = source.show_newest(sort_key, at_most, show);
    settle(backward_, source);
    return is_shown;
  }
  bool is_shown = false;
  for (const auto& source : sources_) {
    if (!source->valid() || source->entry().sort_key != sort_key) continue;
    if (is_shown) {
      source->seek_before(sort_key);
    } else {
      is_shown = source->show_newest(sort_key, at_most, show);
    }
  }
  gather(backward_);
  return is_shown;
}

/// The present entries of the other sources are the first that a delete might hide.
bool MergeCursor::pass_deletes(std::string_view bound) {
  assert(!forward_.empty());
  const MergeHeap::Head* const other = forward_.second();
  if (other != nullptr && (bound.empty() || other->entry.sort_key < bound)) bound = other->entry.sort_key;
  EntryCursor& source = *sources_[forward_.top().walk];
  if (!source.pass_deletes(bound)) return false;
  settle(forward_, source);
  return true;
}

void MergeCursor::seek_before(std::string_view sort_key) {
  status_ = Status();
  const std::string bound(sort_key);
  for (const auto& source : sources_) source->seek_before(bound);
  gather(backward_);
}

void MergeCursor::seek_to_last() {
  status_ = Status();
  for (const auto& source : sources_) source->seek_to_last();
  gather(backward_);
}

void MergeCursor::previous() {
  assert(!backward_.empty());
  EntryCursor& source = *sources_[backward_.top().walk];
  source.previous();
  settle(backward_, source);
}

/// The present entries of the other sources are the last that a delete might hide.
bool MergeCursor::pass_deletes_backward(std::string_view bound) {
  assert(!backward_.empty());
  const auto* const other = backward_.second();
  if (other != nullptr && other->entry.sort_key > bound) bound = other->entry.sort_key;
  EntryCursor& source = *sources_[backward_.top().walk];
  if (!source.pass_deletes_backward(bound)) return false;
  settle(backward_, source);
  return true;
}

MergeStream::MergeStream(std::vector<std::unique_ptr<EntryStream>> sources) : sources_(std::move(sources)) {
  heap_.reserve(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i]->valid()) {
      heap_.add(sources_[i]->entry(), i);
    } else if (!take_status(*sources_[i])) {
      return;
    }
  }
  heap_.order();
}

bool MergeStream::take_status(const EntryStream& source) {
  Status ended = source.status();
  if (ended.ok()) return true;
  status_ = std::move(ended);
  heap_.clear();
  return false;
}

void MergeStream::settle(const EntryStream& source) {
  if (source.valid()) {
    heap_.replace_top(source.entry());
  } else if (take_status(source)) {
    heap_.remove_top();
  }
}

void MergeStream::next() {
  assert(valid());
  EntryStream& source = *sources_[heap_.top().walk];
  source.next();
  settle(source);
}

std::optional<format::RunSource> MergeStream::whole_run() const {
  if (!valid()) return std::nullopt;
  const std::optional<format::RunSource> run = sources_[heap_.top().walk]->whole_run();
  if (!run) return std::nullopt;
  const MergeHeap::Head* const other = heap_.second();
  if (other != nullptr && other->entry.sort_key <= run->run->largest_key) return std::nullopt;
  return run;
}

void MergeStream::show_cached(const ShowCachedBlock& show) const {
  sources_[heap_.top().walk]->show_cached(show);
}

void MergeStream::pass_run() {
  EntryStream& source = *sources_[heap_.top().walk];
  source.pass_run();
  settle(source);
}

}  // namespace varve::engine
