// Owns: one order out of several walks.
// Must never: leave an entry out, or step over a source that has failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/read/merge_heap.h"

namespace varve::engine {

/// What a walk wants; the judge outlives it.
struct Wanted {
  BlockJudge* judge = nullptr;  // null: all
  // It never goes below the one, or as far as the other.
  std::string lower{};
  std::string upper{};  // empty: no bound
  /// What it likely comes to, wherever it begins; zero: that is not known.
  std::uint64_t entries = 0;
};

/// No two sources hold the same (sort key, version). Where they do all the same (a commit that stands in the log and in
/// a table), both are shown, the one of the earlier source first.
class MergeCursor final : public EntryCursor {
 public:
  /// The sources' entries stay valid as their cursors say; an entry shown is valid until the next move.
  /// What is not wanted it passes, where it is known without reading. The sources stand from the newest to the oldest:
  /// of a key, each holds newer versions than those behind it.
  explicit MergeCursor(std::vector<std::unique_ptr<EntryCursor>> sources, Wanted wanted = Wanted());
  MergeCursor(const MergeCursor&) = delete;
  MergeCursor& operator=(const MergeCursor&) = delete;

  void seek(std::string_view sort_key, CommitVersion at_most) override;
  void seek_before(std::string_view sort_key) override;
  void seek_to_last() override;
  void next() override;
  void previous() override;
  bool pass_deletes(std::string_view bound) override;
  bool pass_deletes_backward(std::string_view bound) override;
  bool valid() const noexcept override { return !forward_.empty() || !backward_.empty(); }
  Entry entry() const noexcept override { return forward_.empty() ? backward_.top().entry : forward_.top().entry; }
  Status status() const override { return status_; }

 private:
  /// For the source at a place in the list.
  class Rule final : public PassRule {
   public:
    Rule(const MergeCursor& merge, std::size_t source) noexcept : merge_(merge), source_(source) {}
    BlockJudge& judge() const noexcept override { return *merge_.wanted_.judge; }
    std::string_view pass_below() const noexcept override;
    std::string_view pass_above() const noexcept override;

   private:
    const MergeCursor& merge_;
    std::size_t source_;
  };

  void clear() noexcept;
  bool is_wanted(const MergeHeap& heap, const Entry& entry) const noexcept;
  bool is_wanted(const DirectedMergeHeap<Direction::kBackward>& heap, const Entry& entry) const noexcept;
  /// Orders the sources by where they stand, those that are past what is wanted left out.
  template <typename Heap>
  void gather(Heap& heap);
  bool take_status(const EntryStream& source);
  /// The source at the top of the heap has moved.
  template <typename Heap>
  void settle(Heap& heap, const EntryStream& source);

  const Wanted wanted_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<EntryCursor>> sources_;
  // The one of the walk's direction is filled; both are empty at an end and after an error.
  MergeHeap forward_;
  DirectedMergeHeap<Direction::kBackward> backward_;
  Status status_;
};

/// The same for walks that go forward only; it begins where they stand.
class MergeStream final : public EntryStream {
 public:
  explicit MergeStream(std::vector<std::unique_ptr<EntryStream>> sources);

  void next() override;
  bool valid() const noexcept override { return !heap_.empty(); }
  Entry entry() const noexcept override { return heap_.top().entry; }
  bool is_in_memory() const noexcept override { return sources_[heap_.top().walk]->is_in_memory(); }
  Status status() const override { return status_; }
  std::optional<format::RunSource> whole_run() const override;
  void show_cached(const ShowCachedBlock& show) const override;
  void pass_run() override;

 private:
  bool take_status(const EntryStream& source);
  /// The source at the top has moved.
  void settle(const EntryStream& source);

  std::vector<std::unique_ptr<EntryStream>> sources_;
  MergeHeap heap_;
  Status status_;
};

}  // namespace varve::engine
