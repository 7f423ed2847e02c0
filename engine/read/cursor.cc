// Owns: choosing the version of each key to return, in either direction.
// Must never: step through all versions of a key if a search is cheaper.

#include "engine/read/cursor.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace varve::engine {

namespace {

/// Limit of consecutive steps over entries of one key. Then a search skips the key's rest, at about the same cost. A
/// key that is written all the time may have very many entries.
constexpr int kVersionStepsMax = 8;

/// Below every assigned version, so that a search for it ends after all entries of its key.
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
  seek(lower_);
}

void Cursor::seek_to_last() {
  if (!upper_.empty()) return seek_before(upper_);
  backward_ = true;
  has_stopped_ = false;
  is_key_passed_ = true;
  key_.clear();
  row_.begin_anywhere();
  entries_->seek_to_last();
  settle_backward();
}

void Cursor::seek(std::string_view sort_key) {
  backward_ = false;
  has_stopped_ = false;
  key_.assign(std::max(sort_key, std::string_view(lower_)));
  go_to(key_);
  settle_forward(Passing::kNothing);
}

void Cursor::seek_before(std::string_view sort_key) {
  backward_ = true;
  has_stopped_ = false;
  key_.assign(upper_.empty() ? sort_key : std::min(sort_key, std::string_view(upper_)));
  is_key_passed_ = true;
  go_before(key_);
  settle_backward();
}

void Cursor::go_on() {
  assert(!valid_);
  failure_ = Status();
  has_stopped_ = false;
  if (backward_) {
    if (key_.empty()) return seek_to_last();
    if (!is_key_passed_) key_.push_back('\0');  // the next key
    row_.end_at(key_);
    is_key_passed_ = true;
    go_before(key_);
    return settle_backward();
  }
  if (is_key_passed_) key_.push_back('\0');
  row_.end_before(key_);
  go_to(key_);
  settle_forward(Passing::kNothing);
}

void Cursor::go_to(std::string_view sort_key) {
  row_.begin_at(sort_key);
  if (!pass_stretch(sort_key)) entries_->seek(sort_key, version_);
}

void Cursor::go_before(std::string_view sort_key) {
  row_.begin_at(sort_key);
  if (!pass_stretch_backward(sort_key)) entries_->seek_before(sort_key);
}

bool Cursor::pass_stretch(std::string_view sort_key) {
  const std::optional<std::string> end = row_.end_of(sort_key);
  if (!end) return false;
  entries_->seek(*end, version_);
  return true;
}

bool Cursor::pass_stretch_backward(std::string_view sort_key) {
  const std::optional<std::string> begin = row_.begin_below(sort_key);
  if (!begin) return false;
  entries_->seek_before(*begin);
  return true;
}

// After a move forward, the entries' cursor is at the returned entry: the key's newest entry that is not above
// version_. Newer entries precede it, and older ones follow it. After a move backward, the entries' cursor is before
// all entries of the returned key, because all of them had to be read.

void Cursor::next() {
  assert(valid_);
  if (backward_) {
    backward_ = false;
    entries_->seek(key_, version_);
    valid_ = entries_->valid();  // False means an error: the entry existed.
    if (!valid_) {
      is_key_passed_ = true;
      return;
    }
  }
  row_.begin_anywhere();
  entries_->next();
  settle_forward(Passing::kHidden);
}

void Cursor::previous() {
  assert(valid_);
  is_key_passed_ = true;
  if (!backward_) {
    backward_ = true;
    go_before(key_);
  } else {
    row_.begin_anywhere();
  }
  settle_backward();
}

void Cursor::settle_forward(Passing passing) {
  valid_ = false;
  bool is_passed = passing == Passing::kHidden;  // the key in key_
  int steps = 0;                                 // over entries of the key in key_
  std::uint64_t dead_keys = 0;
  while (entries_->valid()) {
    const Entry entry = entries_->entry();
    ++examined_;
    const bool same_key = passing != Passing::kNothing && entry.sort_key == key_;
    if (!same_key || passing == Passing::kTooNew) {
      if (!upper_.empty() && entry.sort_key >= upper_) return row_.end_before(upper_);
      const bool too_new = entry.version > version_;
      if (!too_new && entry.is_put()) return show_forward(entry);
      passing = too_new ? Passing::kTooNew : Passing::kHidden;  // Deleted: older entries are hidden.
      if (!same_key) {
        if (++dead_keys > dead_keys_max_) {
          stop_at(entry.sort_key);
          return row_.end_before(entry.sort_key);
        }
        if (row_.take_forward(entry.sort_key) && pass_stretch(entry.sort_key)) {
          passing = Passing::kNothing;
          continue;
        }
      }
      if (entry.kind == Kind::kDelete && entries_->pass_deletes(upper_)) {
        passing = Passing::kNothing;
        continue;
      }
    }
    if (!same_key) {
      key_.assign(entry.sort_key);
      steps = 0;
    }
    is_passed = passing == Passing::kHidden;
    if (++steps <= kVersionStepsMax) {
      entries_->next();
    } else {
      entries_->seek(key_, passing == Passing::kHidden ? kBelowAll : version_);
      steps = 0;
    }
  }
  is_key_passed_ = is_passed;
  if (!upper_.empty() && entries_->status().ok()) row_.end_before(upper_);
}

void Cursor::stop_at(std::string_view sort_key) {
  has_stopped_ = true;
  is_key_passed_ = false;
  key_.assign(sort_key);
}

void Cursor::show_forward(const Entry& entry) {
  row_.end_before(entry.sort_key);
  show(entry);
}

void Cursor::settle_backward() {
  valid_ = false;
  std::uint64_t dead_keys = 0;
  while (entries_->valid()) {
    const Entry oldest = entries_->entry();
    if (oldest.sort_key < lower_) return row_.end_at(lower_);
    if (dead_keys >= dead_keys_max_ && oldest.sort_key != key_) {  // never within a key, to get further each time
      stop_at(oldest.sort_key);
      return row_.end_behind(oldest.sort_key);
    }
    const bool live = !pass_deletes_backward(oldest) && take_backward();
    if (!entries_->valid() && !entries_->status().ok()) {
      is_key_passed_ = false;
      return;
    }
    if (live) {
      row_.end_behind(key_);
      value_ = kept_value_;
      valid_ = !kept_is_external_ || bring(kept_value_);
      return;
    }
    ++dead_keys;
    is_key_passed_ = true;
    if (row_.take_backward(key_)) (void)pass_stretch_backward(key_);
  }
  if (entries_->status().ok()) row_.end_at(lower_);
}

bool Cursor::pass_deletes_backward(const Entry& oldest) {
  if (oldest.kind != Kind::kDelete) return false;
  key_.assign(oldest.sort_key);
  if (!entries_->pass_deletes_backward(lower_)) return false;
  ++examined_;
  return true;
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
  // The rest of the key is too new, or has many entries: the live entry is searched for.
  if (entries_->entry().version <= version_) {
    entries_->seek(key_, version_);
    if (!entries_->valid()) return false;  // An error: the entry existed.
    live = entries_->entry().is_put();
    if (live) keep(entries_->entry());
  }
  entries_->seek_before(key_);
  return live;
}

/// Copies the entry, because the cursor leaves it before it is returned.
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

/// Reads the value to be returned. Returns false if the iteration failed.
bool Cursor::bring(std::string_view pointer) {
  Result<PinnedBlock> value = values_.read(pointer);
  if (!value.ok()) {
    is_key_passed_ = false;
    failure_ = value.status();
    return false;
  }
  brought_ = std::move(*value);
  value_ = brought_->content();
  return true;
}

}  // namespace varve::engine
