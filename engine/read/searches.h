// Owns: many searches side by side, each for one key: the blocks that they wait for, and the reads in flight.
// Must never: read a block twice for two searches that need it at the same time, or wait for one search while another
// can continue.
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

/// The search for one key in the tables of a store. It must not move from begin() until it has ended.
class Search {
 public:
  /// See Lookup.
  Search(const Levels& levels, std::string_view sort_key, CommitVersion at_most, EntryPart part = EntryPart::kAll,
         ReadCost* cost = nullptr, KnownBlocks* known = nullptr)
      : part_(part), cost_(cost), lookup_(levels, sort_key, at_most, part, cost, known) {}
  /// The same, with a known hash of the key.
  Search(const Levels& levels, const LookupKey& key, EntryPart part, ReadCost* cost, KnownBlocks* known) noexcept
      : part_(part), cost_(cost), lookup_(levels, key, part, cost, known) {}

  /// Runs as far as the cache of `blocks` allows, without waiting. Any thread may call it before begin(). If it returns
  /// true, the search has ended and must not be begun. Otherwise, begin() continues from the reached state.
  bool try_now(BlockReader& blocks) noexcept;
  /// Does try_now() for a few searches at once. While one waits for memory, the others continue. Returns one bit for
  /// each search that has ended.
  static constexpr std::size_t kTogetherMax = 8;
  static std::uint32_t try_together(std::span<Search* const> searches, BlockReader& blocks) noexcept;
  /// Called after the end. Returns the newest entry not above the version, or nothing. Errors: those of read_point().
  Result<std::optional<FoundEntry>> take() {
    if (!status_.ok()) return status_;
    return std::move(found_);
  }

 private:
  friend class Searches;
  Lookup::Step step(BlockReader& blocks, const CachedBlock* block);
  Lookup::Step step_or_pause(BlockCache::ReadGuard& guard) noexcept;

  const EntryPart part_;
  ReadCost* const cost_;
  Lookup lookup_;
  std::optional<FoundEntry> found_;
  Status status_;
  bool wants_block_ = false;  // since try_now()
  Search* next_ = nullptr;    // in the list of ended searches
};

/// Runs searches. One thread at a time may use it.
class Searches {
 public:
  /// Takes a queue from `queues` when the first block needs one. Both arguments must outlive this object.
  Searches(io::Scheduler& scheduler, BlockReader& blocks, ReadQueues& queues) noexcept
      : blocks_(blocks), queues_(&queues), mutex_(scheduler) {}
  /// Uses a queue of its own.
  Searches(io::Scheduler& scheduler, BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue) noexcept
      : blocks_(blocks), queue_(std::move(queue)), mutex_(scheduler) {}
  /// Waits until no read is in flight. Searches that have not ended never end.
  ~Searches();
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  /// Starts a search and runs it as far as possible without the disk. It may have ended on return.
  void begin(Search& search) noexcept;
  /// Lets `helper` verify and decompress blocks that arrive together, from now on. Its results are processed by steps
  /// posted to `home`, which runs them on this object's thread. Both must outlive the last search, and the helper's
  /// thread must end before this object is destroyed.
  void share_work(StepTaker& helper, StepTaker& home) noexcept;

  /// Returns whether a search waits for a block.
  bool waits() const noexcept { return arrivals_in_use_ > 0; }
  /// Returns whether go_on() has work or a read to wait for. It is false while all blocks are with the helper.
  bool reads() const noexcept { return !unsubmitted_.empty() || (queue_ != nullptr && queue_->in_flight() > 0); }
  /// Submits reads, waits for one of them if `may_wait`, and continues the searches whose blocks have arrived.
  void go_on(bool may_wait) noexcept;
  /// Calls go_on() until no search waits. A single block for a single search is read without a queue.
  void finish() noexcept;
  /// Returns the ended search that ended first and was not yet taken, or null.
  Search* take_ended() noexcept;

 private:
  /// A block in flight, and the searches that wait for it. It is reused, with its memory.
  class Arrival final : public Step {
   public:
    Arrival(Searches& owner, std::size_t its_number) noexcept : searches(owner), number(its_number) {}
    /// The helper has decompressed the block.
    void run() noexcept override { searches.serve(*this); }

    Searches& searches;
    const std::size_t number;
    BlockWanted wanted;
    StoredBytes stored;
    FilePin pin;  // during the read
    Status read;
    std::optional<Result<PinnedBlock>> block;
    std::vector<Search*> waiting;
    Arrival* next = nullptr;  // in a list: to be submitted, or to be decompressed
  };
  /// A list of arrivals in the order in which they were added.
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
  /// The helper's work.
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
  ReadQueues* const queues_ = nullptr;  // null: the queue is its own
  std::unique_ptr<io::ReadQueue> queue_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;  // their numbers are the tags of reads
  std::vector<Arrival*> free_;
  std::size_t arrivals_in_use_ = 0;
  std::map<BlockPlace, Arrival*> on_the_way_;
  ArrivalList unsubmitted_;
  std::array<io::FinishedRead, 16> finished_;  // few, so that the searches they unblock submit reads soon
  Search* first_ended_ = nullptr;
  Search* last_ended_ = nullptr;

  // Used with a helper:
  StepTaker* helper_ = nullptr;
  StepTaker* home_ = nullptr;
  Help help_{*this};
  io::Mutex mutex_;
  ArrivalList read_ VARVE_GUARDED_BY(mutex_);  // to be decompressed
  bool is_helping_ VARVE_GUARDED_BY(mutex_) = false;
};

}  // namespace varve::engine
