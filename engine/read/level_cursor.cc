// Owns: the step from one file of a level to the next (level_cursor.h).
// Must never: continue after a file that failed.
#include "engine/read/level_cursor.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace varve::engine {

std::size_t LevelCursor::first_not_below(std::string_view sort_key) const noexcept {
  return files_.index_of_first(
      [sort_key](const LevelFilePtr& file) { return std::string_view(file->entry.largest_key) < sort_key; });
}

void LevelCursor::open(std::size_t file) {
  if (cursor_ && file_ == file) return;
  file_ = file;
  cursor_.emplace(*files_[file]->table, blocks_, cost_, entries_expected_);
  if (rule_ != nullptr) cursor_->pass_by(*rule_);
}

void LevelCursor::settle() {
  while (!cursor_->valid() && cursor_->status().ok() && file_ + 1 < files_.size()) {
    open(file_ + 1);
    cursor_->seek(files_[file_]->entry.smallest_key, format::kCommitVersionMax);
  }
}

void LevelCursor::settle_backward() {
  while (!cursor_->valid() && cursor_->status().ok() && file_ > 0) {
    open(file_ - 1);
    cursor_->seek_to_last();
  }
}

void LevelCursor::seek(std::string_view sort_key, CommitVersion at_most) {
  const std::size_t file = first_not_below(sort_key);
  if (file == files_.size()) {
    cursor_.reset();
    return;
  }
  std::string kept;  // The key may point into the present entry, in a file that is left.
  if (cursor_ && file != file_) sort_key = kept.assign(sort_key);
  open(file);
  cursor_->seek(sort_key, at_most);
  settle();
}

void LevelCursor::seek_before(std::string_view sort_key) {
  const std::string target(sort_key);
  const std::size_t file = first_not_below(target);
  if (file == files_.size()) return seek_to_last();
  open(file);
  cursor_->seek_before(target);
  settle_backward();
}

void LevelCursor::seek_to_last() {
  if (files_.empty()) {
    cursor_.reset();
    return;
  }
  open(files_.size() - 1);
  cursor_->seek_to_last();
}

bool LevelCursor::pass_deletes(std::string_view bound) {
  assert(valid());
  if (!cursor_->pass_deletes(bound)) return false;
  settle();
  return true;
}

bool LevelCursor::pass_deletes_backward(std::string_view bound) {
  assert(valid());
  if (!cursor_->pass_deletes_backward(bound)) return false;
  settle_backward();
  return true;
}

void LevelCursor::next() {
  assert(valid());
  cursor_->next();
  if (!cursor_->valid()) settle();
}

/// No key is in two files of a level.
void LevelCursor::pass_key(std::string_view sort_key) {
  assert(valid());
  cursor_->pass_key(sort_key);
  if (!cursor_->valid()) settle();
}

void LevelCursor::previous() {
  assert(valid());
  cursor_->previous();
  settle_backward();
}

}  // namespace varve::engine
