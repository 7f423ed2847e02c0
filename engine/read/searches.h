// Owns: many searches side by side, each for one key: which of them waits for which block, and the reads on their way.
// Must never: read a block twice for two searches that want it at the same time, or wait for one while another could go
// on.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/result.h"
#include "engine/read/lookup.h"
#include "engine/read/point_read.h"
#include "engine/read/read_cost.h"
#include "engine/read/read_queues.h"
#include "engine/tables/stored_bytes.h"

namespace varve::engine {

/// The search for one key in the tables of a store. Stays where it is from its begin until it has ended.
class Search {
 public:
  /// As Lookup.
  Search(const Levels& levels, std::string_view sort_key, CommitVersion at_most, ReadCost* cost = nullptr)
      : cost_(cost), lookup_(levels, sort_key, at_most, cost) {}

  /// After its end: the newest entry not above the version, or nothing. Errors: those of read_point().
  Result<std::optional<FoundEntry>> take() {
    if (!status_.ok()) return status_;
    return std::move(found_);
  }

 private:
  friend class Searches;
  ReadCost* const cost_;
  Lookup lookup_;
  std::optional<FoundEntry> found_;
  Status status_;
  Search* next_ = nullptr;  // of the ended
};

/// One thread at a time.
class Searches {
 public:
  /// Takes a queue from `queues` with the first block that is worth one. Both outlive this.
  Searches(BlockReader& blocks, ReadQueues& queues) noexcept : blocks_(blocks), queues_(&queues) {}
  /// With a queue of its own.
  Searches(BlockReader& blocks, std::unique_ptr<io::ReadQueue> queue) noexcept
      : blocks_(blocks), queue_(std::move(queue)) {}
  /// Waits until no read is in flight. Searches that were not ended never end.
  ~Searches();
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  /// Goes as far as it can without the disk; it may have ended when this returns.
  void begin(Search& search) noexcept;
  /// Whether a search waits for a block.
  bool waits() const noexcept { return arrivals_in_use_ > 0; }
  /// Has reads made, waits for one of them if `may_wait`, and lets the searches go on whose blocks have come.
  void go_on(bool may_wait) noexcept;
  /// go_on() until no search waits. One block for one search is read without a queue.
  void finish() noexcept;
  /// The one of those that have ended that was not taken yet and ended first, or null.
  Search* take_ended() noexcept;

 private:
  /// A block on its way, and who waits for it.
  struct Arrival {
    std::size_t number = 0;
    BlockWanted wanted;
    StoredBytes stored;
    std::vector<Search*> waiting;
    Arrival* next = nullptr;  // to be submitted
  };
  using BlockPlace = std::pair<std::uint64_t, std::uint64_t>;  // file and offset

  void advance(Search& search, const CachedBlock* block) noexcept;
  bool advance_or_throw(Search& search, const CachedBlock* block);
  void want(Search& search);
  void end(Search& search) noexcept;
  std::size_t free_arrival();
  Arrival& pop_unsubmitted() noexcept;
  Status submit(Arrival& arrival);
  void submit_all() noexcept;
  void read_alone() noexcept;
  /// Nobody can come to wait for it any more.
  std::unique_ptr<Arrival> take_arrival(std::size_t number) noexcept;
  void serve(const Arrival& arrival, const Result<PinnedBlock>& block) noexcept;
  Status take_queue();

  BlockReader& blocks_;
  ReadQueues* const queues_ = nullptr;  // null: the queue is ours
  std::unique_ptr<io::ReadQueue> queue_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;  // their numbers are the tags of reads; null where free
  std::vector<std::size_t> free_;
  std::size_t arrivals_in_use_ = 0;
  std::map<BlockPlace, std::size_t> on_the_way_;
  // To be submitted, the longest waiting first.
  Arrival* first_unsubmitted_ = nullptr;
  Arrival* last_unsubmitted_ = nullptr;
  std::array<io::FinishedRead, 32> finished_;
  Search* first_ended_ = nullptr;
  Search* last_ended_ = nullptr;
};

}  // namespace varve::engine
