// Owns: which version of each key a walk shows, in either direction.
// Must never: step through all versions of a key where a search is cheaper.

#include "engine/cursor.h"

#include <algorithm>
#include <cassert>

namespace varve::engine {

namespace {

/// So many entries are stepped over in a row; then the rest of the key at hand is skipped by a search, which costs
/// about as much. A key that is written all the time may have very many.
constexpr int kStepsMax = 8;

/// Below every version that is assigned, so that a search for it ends behind all entries of its key.
constexpr CommitVersion kBelowAll = 0;

/// No key is empty.
constexpr std::string_view kNone;

}  // namespace

Cursor::Cursor(const Memtable& memtable, std::string_view lower, std::string_view upper, CommitVersion version)
    : cursor_(memtable), lower_(lower), upper_(upper), version_(version) {}

void Cursor::seek_to_first() {
  cursor_.seek(lower_, version_);
  settle_forward(kNone);
}

void Cursor::seek_to_last() {
  if (upper_.empty()) {
    cursor_.seek_to_last();
  } else {
    cursor_.seek_before(upper_);
  }
  settle_backward();
}

void Cursor::seek(std::string_view sort_key) {
  cursor_.seek(std::max(sort_key, std::string_view(lower_)), version_);
  settle_forward(kNone);
}

// After a move in either direction the memtable's cursor is at the entry shown: of its key, the newest entry that is
// not above version_. Newer ones stand before it, older ones behind it.

void Cursor::next() {
  assert(valid_);
  cursor_.next();
  settle_forward(entry_.sort_key);
}

void Cursor::previous() {
  assert(valid_);
  cursor_.seek_before(entry_.sort_key);
  settle_backward();
}

void Cursor::settle_forward(std::string_view done) {
  valid_ = false;
  int steps = 0;
  while (cursor_.valid()) {
    const MemtableEntry entry = cursor_.entry();
    ++examined_;
    if (entry.sort_key != done) {
      if (!upper_.empty() && entry.sort_key >= upper_) return;
      if (entry.version <= version_) {
        if (entry.kind == Kind::kPut) return show(entry);
        done = entry.sort_key;  // Deleted: what is older is hidden.
      }
    }
    if (++steps <= kStepsMax) {
      cursor_.next();
    } else {
      cursor_.seek(entry.sort_key, entry.sort_key == done ? kBelowAll : version_);
      steps = 0;
    }
  }
}

void Cursor::settle_backward() {
  valid_ = false;
  while (cursor_.valid()) {
    const MemtableEntry oldest = cursor_.entry();
    ++examined_;
    if (oldest.sort_key < lower_) return;
    if (oldest.version <= version_) {
      cursor_.seek(oldest.sort_key, version_);
      const MemtableEntry newest = cursor_.entry();
      ++examined_;
      if (newest.kind == Kind::kPut) return show(newest);
    }
    cursor_.seek_before(oldest.sort_key);
  }
}

void Cursor::show(const MemtableEntry& entry) noexcept {
  entry_ = entry;
  valid_ = true;
}

}  // namespace varve::engine
