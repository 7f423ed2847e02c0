// Owns: one order out of several walks.
// Must never: leave an entry out, or step over a source that has failed.
//
// G1  every source but the ended ones stands at its first entry that is not before the entry shown.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/read/entry_cursor.h"

namespace varve::engine {

/// No two sources hold the same (sort key, version). Where they do all the same (a commit that stands in the log and in
/// a table), both are shown, the one of the earlier source first.
class MergeCursor final : public EntryCursor {
 public:
  /// The sources' entries stay valid as their cursors say; an entry shown is valid until the next move.
  explicit MergeCursor(std::vector<std::unique_ptr<EntryCursor>> sources);

  void seek(std::string_view sort_key, CommitVersion at_most) override;
  void seek_before(std::string_view sort_key) override;
  void seek_to_last() override;
  void next() override;
  bool valid() const noexcept override { return !heap_.empty(); }
  Entry entry() const noexcept override { return heap_.front().entry; }
  Status status() const override { return status_; }

 private:
  /// A source with what it shows, read once.
  struct Head {
    Entry entry;
    std::size_t source = 0;
  };
  static bool comes_later(const Head& a, const Head& b) noexcept;
  /// Builds the heap from where the sources stand.
  void gather();
  /// Of the places before a bound that the sources stand at, keeps the last.
  void keep_last();
  bool take_status(const EntryCursor& source);

  std::vector<std::unique_ptr<EntryCursor>> sources_;
  std::vector<Head> heap_;  // the smallest first; empty at an end and after an error
  Status status_;
};

}  // namespace varve::engine
