// Owns: merging several iterations into one order.
// Must never: omit an entry, or continue after a source failed.
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

/// The entries that an iteration wants. The judge must outlive it. The bounds are copied where they are needed later.
struct Wanted {
  BlockJudge* judge = nullptr;  // null: all entries
  // Inclusive and exclusive bounds that the iteration never leaves.
  std::string_view lower{};
  std::string_view upper{};  // empty: no bound
  /// The expected number of entries from any position. Zero means unknown.
  std::uint64_t entries = 0;
};

/// Sources do not have equal (sort key, version) pairs, with one exception: a commit in the log and in a table. Both
/// entries are then returned, the one of the earlier source first.
class MergeCursor final : public EntryCursor {
 public:
  /// The sources' entries stay valid as their cursors promise; a returned entry is valid until the next move. Unwanted
  /// entries are skipped if the indexes show that they are unwanted. The sources are ordered from the newest to the
  /// oldest: each has newer versions of a key than the sources after it.
  explicit MergeCursor(std::vector<std::unique_ptr<EntryCursor>> sources, const Wanted& wanted = Wanted());
  MergeCursor(const MergeCursor&) = delete;
  MergeCursor& operator=(const MergeCursor&) = delete;

  void seek(std::string_view sort_key, CommitVersion at_most) override;
  void seek_before(std::string_view sort_key) override;
  void seek_to_last() override;
  void next() override;
  void previous() override;
  void pass_key(std::string_view sort_key) override;
  bool step_to_next_key(KeyStep& step) override;
  void seek_ahead(std::string_view sort_key, CommitVersion at_most) override;
  bool show_newest(std::string_view sort_key, CommitVersion at_most, const ShowEntry& show) override;
  bool pass_deletes(std::string_view bound) override;
  bool pass_deletes_backward(std::string_view bound) override;
  bool valid() const noexcept override { return !forward_.empty() || !backward_.empty(); }
  Entry entry() const noexcept override { return forward_.empty() ? backward_.top().entry : forward_.top().entry; }
  Status status() const override { return status_; }

 private:
  /// The rule for one source, given by its index in the list.
  class Rule final : public PassRule {
   public:
    Rule(const MergeCursor& merge, std::size_t source) noexcept : merge_(merge), source_(source) {}
    BlockJudge& judge() const noexcept override { return *merge_.judge_; }
    std::string_view pass_below() const noexcept override;
    std::string_view pass_above() const noexcept override;

   private:
    const MergeCursor& merge_;
    std::size_t source_;
  };

  void clear() noexcept;
  bool is_wanted(const MergeHeap& heap, const Entry& entry) const noexcept;
  bool is_wanted(const DirectedMergeHeap<Direction::kBackward>& heap, const Entry& entry) const noexcept;
  /// Orders the sources by their present entries, and omits those past the wanted range.
  template <typename Heap>
  void gather(Heap& heap);
  bool take_status(const EntryStream& source);
  /// The source at the top of the heap has moved.
  template <typename Heap>
  void settle(Heap& heap, const EntryStream& source);

  BlockJudge* const judge_;  // null: all entries are wanted
  const std::string lower_;
  const std::string upper_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<EntryCursor>> sources_;
  // The heap of the present direction is filled. Both are empty at an end and after an error.
  MergeHeap forward_;
  DirectedMergeHeap<Direction::kBackward> backward_;
  Status status_;
};

/// A merge that only moves forward. It begins at the sources' present entries.
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
