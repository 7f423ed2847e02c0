// Owns: the heap of a merge (merge_cursor.h).
// Must never: compare entries of a source that has moved since it was read.
#include "engine/read/merge_cursor.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace varve::engine {

MergeCursor::MergeCursor(std::vector<std::unique_ptr<EntryCursor>> sources) : sources_(std::move(sources)) {
  heap_.reserve(sources_.size());
}

bool MergeCursor::comes_later(const Head& a, const Head& b) noexcept {
  if (const int compared = a.entry.sort_key.compare(b.entry.sort_key); compared != 0) return compared > 0;
  if (a.entry.version != b.entry.version) return a.entry.version < b.entry.version;
  return a.source > b.source;
}

bool MergeCursor::take_status(const EntryCursor& source) {
  Status ended = source.status();
  if (ended.ok()) return true;
  status_ = std::move(ended);
  heap_.clear();
  return false;
}

void MergeCursor::gather() {
  heap_.clear();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i]->valid()) {
      heap_.push_back({sources_[i]->entry(), i});
    } else if (!take_status(*sources_[i])) {
      return;
    }
  }
  std::make_heap(heap_.begin(), heap_.end(), comes_later);
}

void MergeCursor::seek(std::string_view sort_key, CommitVersion at_most) {
  status_ = Status();
  const std::string target(sort_key);  // It may point into an entry that a source is about to leave.
  for (const auto& source : sources_) source->seek(target, at_most);
  gather();
}

void MergeCursor::next() {
  assert(valid());
  EntryCursor& source = *sources_[heap_.front().source];
  source.next();
  if (source.valid()) {
    heap_.front().entry = source.entry();
    if (heap_.size() == 1) return;
  } else if (!take_status(source)) {
    return;
  }
  std::pop_heap(heap_.begin(), heap_.end(), comes_later);
  if (!source.valid()) {
    heap_.pop_back();
    return;
  }
  std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

void MergeCursor::seek_before(std::string_view sort_key) {
  status_ = Status();
  const std::string bound(sort_key);
  for (const auto& source : sources_) source->seek_before(bound);
  keep_last();
}

void MergeCursor::seek_to_last() {
  status_ = Status();
  for (const auto& source : sources_) source->seek_to_last();
  keep_last();
}

void MergeCursor::keep_last() {
  gather();
  if (heap_.empty()) return;
  const auto last = std::max_element(heap_.begin(), heap_.end(),
                                     [](const Head& a, const Head& b) { return comes_later(b, a); });
  // The others stand before it; so that next() goes on from here, they come to the first entry not before it.
  const std::string sort_key(last->entry.sort_key);
  const CommitVersion version = last->entry.version;
  seek(sort_key, version);
}

}  // namespace varve::engine
