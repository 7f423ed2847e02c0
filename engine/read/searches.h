// Owns: many searches side by side, each for one key: which of them waits for which block, and the reads on their way.
// Must never: read a block twice for two searches that want it at the same time, or wait for one while another could go
// on.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/read_cost.h"
#include "engine/base/read_queues.h"
#include "engine/base/step.h"
#include "engine/read/lookup.h"
#include "engine/read/point_read.h"
#include "engine/tables/stored_bytes.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// The search for one key in the tables of a store. Stays where it is from its begin until it has ended.
class Search {
 public:
  /// As Lookup.
  Search(const Levels& levels, std::string_view sort_key, CommitVersion at_most, EntryPart part = EntryPart::kAll,
         ReadCost* cost = nullptr, KnownBlocks* known = nullptr)
      : part_(part), cost_(cost), lookup_(levels, sort_key, at_most, part, cost, known) {}

  /// Any thread, before it is begun: goes as far as the cache of `blocks` lets it, without a wait. True: it has ended,
  /// and is not begun; else it is begun where it stands.
  bool try_now(BlockReader& blocks) noexcept;
  /// After its end: the newest entry not above the version, or nothing. Errors: those of read_point().
  Result<std::optional<FoundEntry>> take() {
    if (!status_.ok()) return status_;
    return std::move(found_);
  }

 private:
  friend class Searches;
  Lookup::Step step(BlockReader& blocks, const CachedBlock* block);

  const EntryPart part_;
  ReadCost* const cost_;
  Lookup lookup_;
  std::optional<FoundEntry> found_;
  Status status_;
  bool wants_block_ = false;  // since try_now()
  Search* next_ = nullptr;    // of the ended
};

/// One thread at a time.
class Searches {
 public:
  /// Takes a queue from `queues` with the first block that is worth one. Both outlive this.
  Searches(io::Scheduler& scheduler, BlockReader& blocks, ReadQueues& queues) noexcept
      : blocks_(blocks), queues_(&queues), mutex_(scheduler) {}
  /// With a queue of its own.
  Searches(io::Scheduler& scheduler, BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue) noexcept
      : blocks_(blocks), queue_(std::move(queue)), mutex_(scheduler) {}
  /// Waits until no read is in flight. Searches that were not ended never end.
  ~Searches();
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  /// Goes as far as it can without the disk; it may have ended when this returns.
  void begin(Search& search) noexcept;
  /// Blocks that came together are verified and decompressed by `helper` too, from now on. What it did is served by
  /// steps posted to `home`, which runs them on the thread of this. Both outlive the last search, and the helper's
  /// thread has ended before this does.
  void share_work(StepTaker& helper, StepTaker& home) noexcept;

  /// Whether a search waits for a block.
  bool waits() const noexcept { return arrivals_in_use_ > 0; }
  /// Whether go_on() would have something to do or to wait for: not so while all blocks are at the helper.
  bool reads() const noexcept { return !unsubmitted_.empty() || (queue_ != nullptr && queue_->in_flight() > 0); }
  /// Has reads made, waits for one of them if `may_wait`, and lets the searches go on whose blocks have come.
  void go_on(bool may_wait) noexcept;
  /// go_on() until no search waits. One block for one search is read without a queue.
  void finish() noexcept;
  /// The one of those that have ended that was not taken yet and ended first, or null.
  Search* take_ended() noexcept;

 private:
  /// A block on its way, and who waits for it. Used again, with its memory.
  class Arrival final : public Step {
   public:
    Arrival(Searches& owner, std::size_t its_number) noexcept : searches(owner), number(its_number) {}
    /// The helper has taken the block out.
    void run() noexcept override { searches.serve(*this); }

    Searches& searches;
    const std::size_t number;
    BlockWanted wanted;
    StoredBytes stored;
    FilePin pin;  // while the read is under way
    Status read;
    std::optional<Result<PinnedBlock>> block;
    std::vector<Search*> waiting;
    Arrival* next = nullptr;  // to be submitted, or to be taken out
  };
  /// In the order in which they came.
  class ArrivalList {
   public:
    bool empty() const noexcept { return first_ == nullptr; }
    void push(Arrival& arrival) noexcept {
      arrival.next = nullptr;
      (first_ == nullptr ? first_ : last_->next) = &arrival;
      last_ = &arrival;
    }
    Arrival& first() noexcept { return *first_; }
    Arrival* pop() noexcept {
      Arrival* const arrival = first_;
      if (arrival != nullptr) first_ = arrival->next;
      return arrival;
    }

   private:
    Arrival* first_ = nullptr;
    Arrival* last_ = nullptr;
  };
  /// What the helper does.
  class Help final : public Step {
   public:
    explicit Help(Searches& searches) noexcept : searches_(searches) {}
    void run() noexcept override { searches_.help(); }

   private:
    Searches& searches_;
  };
  using BlockPlace = std::pair<std::uint64_t, std::uint64_t>;  // file and offset

  void advance(Search& search, const CachedBlock* block) noexcept;
  bool advance_or_throw(Search& search, const CachedBlock* block);
  void want(Search& search);
  void end(Search& search) noexcept;
  Arrival& free_arrival();
  bool pin(Arrival& arrival) noexcept;
  Status submit(Arrival& arrival);
  void submit_all() noexcept;
  void read_alone() noexcept;
  void take_out(Arrival& arrival) noexcept;
  void take_out_together(std::span<const io::FinishedRead> finished) noexcept;
  Arrival* next_to_take_out() noexcept;
  void help() noexcept;
  void serve(Arrival& arrival) noexcept;
  Status take_queue();

  BlockReader& blocks_;
  ReadQueues* const queues_ = nullptr;  // null: the queue is ours
  std::unique_ptr<io::ReadQueue> queue_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;  // their numbers are the tags of reads
  std::vector<Arrival*> free_;
  std::size_t arrivals_in_use_ = 0;
  std::map<BlockPlace, Arrival*> on_the_way_;
  ArrivalList unsubmitted_;
  std::array<io::FinishedRead, 16> finished_;  // few: what they set free is asked for next
  Search* first_ended_ = nullptr;
  Search* last_ended_ = nullptr;

  // With a helper:
  StepTaker* helper_ = nullptr;
  StepTaker* home_ = nullptr;
  Help help_{*this};
  io::Mutex mutex_;
  ArrivalList read_ VARVE_GUARDED_BY(mutex_);  // to be taken out
  bool is_helping_ VARVE_GUARDED_BY(mutex_) = false;
};

}  // namespace varve::engine
