// Owns: choosing the version of each key to return, in either direction.
// Must never: step through all versions of a key if a search is cheaper.

#include "engine/read/cursor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "format/bytes/common_prefix.h"

namespace varve::engine {

Cursor::Cursor(ReadStates::Pin pin, std::unique_ptr<EntryCursor> entries, std::string_view lower,
               std::string_view upper, CommitVersion version, ExternalValues values)
    : pin_(std::move(pin)),
      entries_(std::move(entries)),
      lower_(lower),
      upper_(upper),
      version_(version),
      values_(values) {}

bool Cursor::is_refused() {
  if (lease_ == nullptr) [[likely]]
    return false;
  refused_ = is_confirmed_ ? lease_->check() : lease_->confirm();
  if (refused_.ok()) {
    is_confirmed_ = true;
    return false;
  }
  valid_ = false;
  has_stopped_ = false;
  return true;
}

void Cursor::seek_to_first() {
  seek(lower_);
}

void Cursor::seek_to_last() {
  if (!upper_.empty()) return seek_before(upper_);
  if (is_refused()) return;
  backward_ = true;
  has_stopped_ = false;
  is_key_passed_ = true;
  key_.clear();
  row_.begin_anywhere();
  entries_->seek_to_last();
  settle_backward();
}

void Cursor::seek(std::string_view sort_key) {
  if (is_refused()) return;
  backward_ = false;
  has_stopped_ = false;
  key_.assign(std::max(sort_key, std::string_view(lower_)));
  go_to(key_);
  settle_forward(false);
}

void Cursor::seek_before(std::string_view sort_key) {
  if (is_refused()) return;
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
  settle_forward(false);
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

/// The key before is below upper_. If this key shares with it more than it shares with upper_, both differ from upper_ at the
/// same byte, and this key is below upper_ too.
inline bool Cursor::is_plain() {
  const Entry& entry = shown_.entry;
  if (entry.kind != Kind::kPut || entry.version > version_) return false;
  if (!upper_.empty() && shown_.shared <= shared_with_upper_ && !is_below_upper(entry.sort_key)) return false;
  ++examined_;
  has_value_ = true;
  shown_end_ = 0;
  return true;
}

void Cursor::next() {
  assert(valid_);
  row_.begin_anywhere();
  if (backward_ || !entries_->step_to_next_key(shown_)) [[unlikely]]
    return pass_shown();
  if (is_plain()) [[likely]]
    return;
  key_.assign(shown_.entry.sort_key);
  settle_forward(false);
}

void Cursor::pass_shown() {
  if (backward_) {
    backward_ = false;
    entries_->seek(key_, version_);
    valid_ = entries_->valid();  // False means an error: the entry existed.
    if (!valid_) {
      is_key_passed_ = true;
      return;
    }
  } else {
    key_.assign(shown_.entry.sort_key);
  }
  entries_->pass_key(key_);
  if (entries_->valid()) {
    shown_ = {entries_->entry(), 0};
    if (is_plain()) return;
  }
  settle_forward(true);
}

void Cursor::previous() {
  assert(valid_);
  is_key_passed_ = true;
  if (!backward_) {
    backward_ = true;
    key_.assign(shown_.entry.sort_key);
    go_before(key_);
  } else {
    row_.begin_anywhere();
  }
  settle_backward();
}

bool Cursor::is_below_upper(std::string_view sort_key) noexcept {
  shared_with_upper_ = format::common_prefix(sort_key, upper_);
  return sort_key.substr(shared_with_upper_) < std::string_view(upper_).substr(shared_with_upper_);
}

void Cursor::settle_forward(bool is_passed) {
  valid_ = false;
  bool passes_too_new = false;  // entries of the key in key_
  int steps = 0;                // over them
  std::uint64_t dead_keys = 0;
  while (entries_->valid()) {
    const Entry entry = entries_->entry();
    ++examined_;
    const bool is_next_key = !passes_too_new || entry.sort_key != key_;
    if (is_next_key && !upper_.empty() && entry.sort_key >= upper_) return row_.end_before(upper_);
    const bool too_new = entry.version > version_;
    if (!too_new && is_live(entry)) return show_forward(entry);
    if (is_next_key) {
      if (++dead_keys > dead_keys_max_) {
        stop_at(entry.sort_key);
        return row_.end_before(entry.sort_key);
      }
      passes_too_new = false;
      if (row_.take_forward(entry.sort_key) && pass_stretch(entry.sort_key)) continue;
    }
    if (entry.kind == Kind::kDelete && entries_->pass_deletes(upper_)) {
      passes_too_new = false;
      continue;
    }
    if (is_next_key) {
      key_.assign(entry.sort_key);
      steps = 0;
    }
    passes_too_new = too_new;
    is_passed = !too_new;  // Deleted or ended: older entries are hidden.
    if (!too_new) {
      entries_->pass_key(key_);
    } else if (++steps <= EntryCursor::kVersionStepsMax) {
      entries_->next();
    } else {
      entries_->seek_ahead(key_, version_);
      steps = 0;
    }
  }
  is_key_passed_ = is_passed;
  if (!upper_.empty() && entries_->status().ok()) row_.end_before(upper_);
}

bool Cursor::has_ended(CommitVersion end) const noexcept {
  if (end > time_) return false;
  clock_->pass(end);
  return true;
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
    const bool has_passed_deletes = pass_deletes_backward(oldest);
    const bool live = !has_passed_deletes && take_backward();
    if (!entries_->valid() && !entries_->status().ok()) {
      is_key_passed_ = false;
      return;
    }
    if (live) {
      row_.end_behind(key_);
      shown_.entry.sort_key = key_;
      shown_.shared = 0;
      valid_ = take_value(kept_value_, kept_is_external_);
      return;
    }
    ++dead_keys;
    is_key_passed_ = true;
    // The passed blocks may begin with the older entries of a key. Its newer entries come next, and may be live, so
    // nothing below is passed yet.
    if (row_.take_backward(key_) && !has_passed_deletes) (void)pass_stretch_backward(key_);
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
  struct {
    std::uint64_t entries = 0;
    bool live = false;
  } shown;
  entries_->show_newest(key_, version_, [this, &shown](const Entry& entry) {
    ++shown.entries;
    shown.live = is_live(entry);
    if (shown.live) keep(entry);
  });
  examined_ += std::max<std::uint64_t>(shown.entries, 1);
  return shown.live;
}

/// Copies the entry, because the cursor leaves it before it is returned.
void Cursor::keep(const Entry& entry) {
  kept_value_.assign(entry.content());
  kept_is_external_ = entry.is_external();
  shown_.entry.version = entry.version;
  shown_end_ = entry.has_end() ? entry.end() : 0;
}

void Cursor::show(const Entry& entry) {
  shared_with_upper_ = kUnknown;
  shown_ = {entry, 0};
  shown_end_ = entry.has_end() ? entry.end() : 0;
  if (entry.kind != Kind::kPut) key_.assign(entry.sort_key);  // if the value cannot be read
  valid_ = take_value(entry.content(), entry.is_external());
}

bool Cursor::take_value(std::string_view value, bool is_external) {
  has_value_ = !is_external || brings_values_;
  shown_.entry.value = has_value_ ? value : std::string_view();
  return !is_external || !brings_values_ || bring(value);
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
  shown_.entry.value = brought_->content();
  return true;
}

}  // namespace varve::engine
