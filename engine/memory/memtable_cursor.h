// Owns: a cursor over a memtable's entries with the interface of entry_cursor.h.
// Must never: outlive its memtable.
#pragma once

#include <optional>

#include "engine/base/entry_cursor.h"
#include "engine/memory/memtable.h"

namespace varve::engine {

class MemtableCursor final : public EntryCursor {
 public:
  explicit MemtableCursor(const Memtable& memtable) noexcept : memtable_(memtable), cursor_(memtable) {}

  void seek(std::string_view sort_key, CommitVersion at_most) override { cursor_.seek(sort_key, at_most); }
  void seek_before(std::string_view sort_key) override { cursor_.seek_before(sort_key); }
  void seek_to_last() override { cursor_.seek_to_last(); }
  void next() override { cursor_.next(); }
  void previous() override { cursor_.previous(); }
  void pass_key(std::string_view sort_key) override { (void)cursor_.pass_key(sort_key); }
  bool step_to_next_key(KeyStep& step) override {
    Memtable::Cursor ahead = cursor_;
    (void)ahead.pass_key(cursor_.entry().sort_key);
    if (!ahead.valid()) return false;
    cursor_ = ahead;
    step = {cursor_.entry(), 0};
    return true;
  }
  bool show_newest(std::string_view sort_key, CommitVersion at_most, const ShowEntry& show) override {
    const std::optional<Entry> newest = memtable_.find(sort_key, at_most);
    if (newest) show(*newest);
    cursor_.seek_before(sort_key);
    return newest.has_value();
  }
  bool valid() const noexcept override { return cursor_.valid(); }
  Entry entry() const noexcept override { return cursor_.entry(); }
  LogPlace log_place() const noexcept override { return cursor_.log_place(); }
  Status status() const override { return Status(); }
  bool entries_stay() const noexcept override { return true; }
  bool is_in_memory() const noexcept override { return true; }

 private:
  const Memtable& memtable_;
  Memtable::Cursor cursor_;
};

}  // namespace varve::engine
