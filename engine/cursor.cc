// Owns: which version of each key a walk shows, in either direction.
// Must never: step through all versions of a key where a search is cheaper.

#include "engine/cursor.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace varve::engine {

namespace {

/// So many entries are stepped over in a row; then the rest of the key at hand is skipped by a search, which costs
/// about as much. A key that is written all the time may have very many.
constexpr int kStepsMax = 8;

/// Below every version that is assigned, so that a search for it ends behind all entries of its key.
constexpr CommitVersion kBelowAll = 0;

}  // namespace

Cursor::Cursor(ReadStates::Pin pin, std::unique_ptr<EntryCursor> entries, std::string_view lower,
               std::string_view upper, CommitVersion version)
    : pin_(std::move(pin)), entries_(std::move(entries)), lower_(lower), upper_(upper), version_(version) {}

void Cursor::seek_to_first() {
  entries_->seek(lower_, version_);
  settle_forward(Passing::kNothing);
}

void Cursor::seek_to_last() {
  if (upper_.empty()) {
    entries_->seek_to_last();
  } else {
    entries_->seek_before(upper_);
  }
  settle_backward();
}

void Cursor::seek(std::string_view sort_key) {
  entries_->seek(std::max(sort_key, std::string_view(lower_)), version_);
  settle_forward(Passing::kNothing);
}

// After a move in either direction the entries' cursor is at the entry shown: of its key, the newest entry that is not
// above version_. Newer ones stand before it, older ones behind it.

void Cursor::next() {
  assert(valid_);
  entries_->next();
  settle_forward(Passing::kHidden);
}

void Cursor::previous() {
  assert(valid_);
  entries_->seek_before(key_);
  settle_backward();
}

void Cursor::settle_forward(Passing passing) {
  valid_ = false;
  int steps = 0;  // over entries of the key in key_
  while (entries_->valid()) {
    const Entry entry = entries_->entry();
    ++examined_;
    const bool same_key = passing != Passing::kNothing && entry.sort_key == key_;
    if (!same_key || passing == Passing::kTooNew) {
      if (!upper_.empty() && entry.sort_key >= upper_) return;
      const bool too_new = entry.version > version_;
      if (!too_new && entry.kind == Kind::kPut) return show(entry);
      passing = too_new ? Passing::kTooNew : Passing::kHidden;  // Deleted: what is older is hidden.
      if (entry.kind == Kind::kDelete && entries_->pass_deletes(upper_)) {
        passing = Passing::kNothing;
        continue;
      }
    }
    if (!same_key) {
      key_.assign(entry.sort_key);
      steps = 0;
    }
    if (++steps <= kStepsMax) {
      entries_->next();
    } else {
      entries_->seek(key_, passing == Passing::kHidden ? kBelowAll : version_);
      steps = 0;
    }
  }
}

void Cursor::settle_backward() {
  valid_ = false;
  while (entries_->valid()) {
    const Entry oldest = entries_->entry();
    ++examined_;
    if (oldest.sort_key < lower_) return;
    key_.assign(oldest.sort_key);
    if (oldest.version <= version_) {
      entries_->seek(key_, version_);
      if (!entries_->valid()) return;  // An error: the entry was there.
      const Entry newest = entries_->entry();
      ++examined_;
      if (newest.kind == Kind::kPut) return show(newest);
    }
    entries_->seek_before(key_);
  }
}

void Cursor::show(const Entry& entry) {
  key_.assign(entry.sort_key);
  value_ = entry.value;
  shown_version_ = entry.version;
  valid_ = true;
}

}  // namespace varve::engine
