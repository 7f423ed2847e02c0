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
constexpr int kVersionStepsMax = 8;

/// Below every version that is assigned, so that a search for it ends behind all entries of its key.
constexpr CommitVersion kBelowAll = 0;

}  // namespace

Cursor::Cursor(ReadStates::Pin pin, std::unique_ptr<EntryCursor> entries, std::string_view lower,
               std::string_view upper, CommitVersion version, ExternalValues values)
    : pin_(std::move(pin)),
      entries_(std::move(entries)),
      lower_(lower),
      upper_(upper),
      version_(version),
      values_(values) {}

void Cursor::seek_to_first() {
  backward_ = false;
  entries_->seek(lower_, version_);
  settle_forward(Passing::kNothing);
}

void Cursor::seek_to_last() {
  backward_ = true;
  if (upper_.empty()) {
    entries_->seek_to_last();
  } else {
    entries_->seek_before(upper_);
  }
  settle_backward();
}

void Cursor::seek(std::string_view sort_key) {
  backward_ = false;
  entries_->seek(std::max(sort_key, std::string_view(lower_)), version_);
  settle_forward(Passing::kNothing);
}

// After a move forward the entries' cursor is at the entry shown: of its key, the newest entry that is not above
// version_. Newer ones stand before it, older ones behind it. After a move backward it is before all entries of the key
// shown, since all of them had to be seen.

void Cursor::next() {
  assert(valid_);
  if (backward_) {
    backward_ = false;
    entries_->seek(key_, version_);
    valid_ = entries_->valid();  // Else an error: the entry was there.
    if (!valid_) return;
  }
  entries_->next();
  settle_forward(Passing::kHidden);
}

void Cursor::previous() {
  assert(valid_);
  if (!backward_) {
    backward_ = true;
    entries_->seek_before(key_);
  }
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
      if (!too_new && entry.is_put()) return show(entry);
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
    if (++steps <= kVersionStepsMax) {
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
    if (oldest.sort_key < lower_) return;
    if (oldest.kind == Kind::kDelete && entries_->pass_deletes_backward(lower_)) {
      ++examined_;
      continue;
    }
    const bool live = take_backward();
    if (!entries_->valid() && !entries_->status().ok()) return;
    if (!live) continue;
    value_ = kept_value_;
    valid_ = !kept_is_external_ || bring(kept_value_);
    return;
  }
}

bool Cursor::take_backward() {
  key_.assign(entries_->entry().sort_key);
  bool live = false;
  for (int steps = 0; entries_->valid(); entries_->previous()) {
    const Entry entry = entries_->entry();
    if (entry.sort_key != key_) return live;
    ++examined_;
    if (entry.version > version_ || ++steps > kVersionStepsMax) break;
    live = entry.is_put();
    if (live) keep(entry);
  }
  if (!entries_->valid()) return live;
  // The rest of the key is too new, or many: what is to be shown of it is searched for.
  if (entries_->entry().version <= version_) {
    entries_->seek(key_, version_);
    if (!entries_->valid()) return false;  // An error: the entry was there.
    live = entries_->entry().is_put();
    if (live) keep(entries_->entry());
  }
  entries_->seek_before(key_);
  return live;
}

/// It is left before it is shown.
void Cursor::keep(const Entry& entry) {
  kept_value_.assign(entry.value);
  kept_is_external_ = entry.kind == Kind::kPutExternal;
  shown_version_ = entry.version;
}

void Cursor::show(const Entry& entry) {
  key_.assign(entry.sort_key);
  value_ = entry.value;
  shown_version_ = entry.version;
  valid_ = entry.kind == Kind::kPut || bring(entry.value);
}

/// The value to be shown. False: the walk has failed.
bool Cursor::bring(std::string_view pointer) {
  Result<PinnedBlock> value = values_.read(pointer);
  if (!value.ok()) {
    failure_ = value.status();
    return false;
  }
  brought_ = *std::move(value);
  value_ = brought_->content();
  return true;
}

}  // namespace varve::engine
