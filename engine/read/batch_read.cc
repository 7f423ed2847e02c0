// Owns: which search waits for which block (batch_read.h).
// Must never: leave while a read is in flight: its memory is here.
#include "engine/read/batch_read.h"

#include <array>
#include <cassert>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "engine/read/lookup.h"

namespace varve::engine {

namespace {

/// A block on its way, and who waits for it.
struct Arrival {
  BlockWanted wanted;
  StoredBytes stored;
  std::vector<std::size_t> waiting;  // numbers of searches
};

class BatchRead {
 public:
  BatchRead(const Levels& levels, BlockReader& blocks, ReadQueues& queues,
            std::vector<std::optional<FoundEntry>>& found, ReadCost* cost)
      : levels_(levels), blocks_(blocks), queues_(queues), found_(found), cost_(cost) {}

  ~BatchRead() {
    if (queue_ == nullptr) return;
    while (queue_->in_flight() > 0) (void)queue_->reap(finished_, queue_->in_flight());
    queues_.give_back(std::move(queue_));
  }

  void add(std::size_t place, std::string_view sort_key, CommitVersion at_most) {
    searches_.push_back({place, std::make_unique<Lookup>(levels_, sort_key, at_most, cost_)});
  }

  Status run() {
    for (std::size_t search = 0; search < searches_.size(); ++search) {
      if (Status gone_on = go_on(search, nullptr); !gone_on.ok()) return gone_on;
    }
    while (!on_the_way_.empty()) {
      const bool is_alone = unsubmitted_.size() == 1 && on_the_way_.size() == 1;
      if (Status taken = is_alone ? read_alone() : take_finished(); !taken.ok()) return taken;
    }
    return Status();
  }

 private:
  struct Search {
    std::size_t place = 0;  // in found_
    std::unique_ptr<Lookup> lookup;
  };
  /// Until it has ended, or waits for a block.
  Status go_on(std::size_t number, const CachedBlock* block) {
    Search& search = searches_[number];
    for (;;) {
      Lookup::Step step;
      {
        BlockCache::ReadGuard guard(blocks_.cache());
        step = search.lookup->advance(guard, block);
        if (step == Lookup::Step::kFound) found_[search.place] = FoundEntry::copied(search.lookup->entry());
      }
      block = nullptr;
      switch (step) {
        case Lookup::Step::kFound:
        case Lookup::Step::kAbsent: search.lookup.reset(); return Status();
        case Lookup::Step::kFailed: return search.lookup->status();
        case Lookup::Step::kWantsBlock: want(number); return Status();
        case Lookup::Step::kWantsTable: {
          const Result<const OpenTable*> opened = search.lookup->wanted_table().open();
          if (!opened.ok()) return opened.status();
        }
      }
    }
  }

  void want(std::size_t number) {
    const BlockWanted& wanted = searches_[number].lookup->wanted();
    const auto [known, is_new] =
        on_the_way_.try_emplace({wanted.table->cache_id, wanted.handle.offset}, arrivals_.size());
    if (is_new) {
      arrivals_.push_back(std::make_unique<Arrival>(Arrival{wanted, {}, {}}));
      unsubmitted_.push_back(known->second);
      if (cost_ != nullptr) ++cost_->blocks_read;
    }
    arrivals_[known->second]->waiting.push_back(number);
  }

  /// Nobody can come to wait for it any more.
  std::unique_ptr<Arrival> take_arrival(std::size_t number) {
    std::unique_ptr<Arrival> arrival = std::move(arrivals_[number]);
    on_the_way_.erase({arrival->wanted.table->cache_id, arrival->wanted.handle.offset});
    return arrival;
  }

  /// One block for one search is not worth a queue.
  Status read_alone() {
    const std::unique_ptr<Arrival> arrival = take_arrival(unsubmitted_.back());
    unsubmitted_.pop_back();
    const Result<PinnedBlock> block = blocks_.read(arrival->wanted);
    return block.ok() ? serve(*arrival, *block) : block.status();
  }

  Status submit() {
    if (queue_ == nullptr) {
      Result<std::unique_ptr<io::ReadQueue>> queue = queues_.take();
      if (!queue.ok()) return queue.status();
      queue_ = *std::move(queue);
    }
    while (!unsubmitted_.empty() && queue_->in_flight() < queue_->depth()) {
      const std::size_t number = unsubmitted_.back();
      Arrival& arrival = *arrivals_[number];
      const io::ReadableFile& file = *arrival.wanted.table->file;
      const format::BlockHandle& handle = arrival.wanted.handle;
      if (Status ready = arrival.stored.prepare(handle.offset, handle.bytes, file.size_bytes()); !ready.ok()) {
        return ready;
      }
      if (Status sent = queue_->submit(file, arrival.stored.offset(), arrival.stored.bytes(), number); !sent.ok()) {
        return sent;
      }
      blocks_.count_read(arrival.stored.bytes().size());
      unsubmitted_.pop_back();
    }
    return Status();
  }

  /// Waits for one block at least, and lets those go on that waited for it.
  Status take_finished() {
    if (Status submitted = submit(); !submitted.ok()) return submitted;
    const std::size_t count = queue_->reap(finished_, 1);
    for (std::size_t i = 0; i < count; ++i) {
      const io::FinishedRead& read = finished_[i];
      const std::unique_ptr<Arrival> arrival = take_arrival(read.tag);
      const BlockWanted& wanted = arrival->wanted;
      if (!read.status.ok()) return read.status.in_file(wanted.table->name, wanted.handle.offset);
      const Result<PinnedBlock> block = blocks_.take(wanted, arrival->stored);
      if (!block.ok()) return block.status();
      if (Status served = serve(*arrival, *block); !served.ok()) return served;
    }
    return Status();
  }

  Status serve(const Arrival& arrival, const PinnedBlock& block) {
    for (const std::size_t number : arrival.waiting) {
      if (Status gone_on = go_on(number, &*block); !gone_on.ok()) return gone_on;
    }
    return Status();
  }

  const Levels& levels_;
  BlockReader& blocks_;
  ReadQueues& queues_;
  std::vector<std::optional<FoundEntry>>& found_;
  ReadCost* const cost_;
  std::vector<Search> searches_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;  // null once taken; their numbers are the tags of reads
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> on_the_way_;  // by file and offset
  std::vector<std::size_t> unsubmitted_;
  std::unique_ptr<io::ReadQueue> queue_;
  std::array<io::FinishedRead, 32> finished_;
};

}  // namespace

Result<std::vector<std::optional<FoundEntry>>> read_points(const ReadState& state, BlockReader& blocks,
                                                           ReadQueues& queues,
                                                           std::span<const std::string_view> sort_keys,
                                                           CommitVersion at_most, ReadCost* cost) {
  try {
    std::vector<std::optional<FoundEntry>> found(sort_keys.size());
    BatchRead batch(*state.tables, blocks, queues, found, cost);
    for (std::size_t place = 0; place < sort_keys.size(); ++place) {
      found[place] = read_memtables(state, sort_keys[place], at_most);
      if (!found[place]) batch.add(place, sort_keys[place], at_most);
    }
    if (Status done = batch.run(); !done.ok()) return done;
    return found;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace varve::engine
