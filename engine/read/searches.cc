// Owns: the steps of searches (searches.h).
// Must never: be destroyed while a read is in flight, because the read's memory is here.
#include "engine/read/searches.h"

#include <bit>
#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

namespace {

/// Minimum number of blocks that arrive together for which waking a helper pays.
constexpr std::size_t kWorthHelp = 4;

}  // namespace

/// Runs a step under its own guard of the cache. Throws std::bad_alloc.
Lookup::Step Search::step(BlockReader& blocks, const CachedBlock* block) {
  BlockCache::ReadGuard guard(blocks.cache());
  if (std::exchange(wants_block_, false)) {  // It may be cached since then.
    block = guard.find(lookup_.wanted().cache_id(), lookup_.wanted().handle.offset);
    if (block == nullptr) return Lookup::Step::kWantsBlock;
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
  }
  const Lookup::Step step = lookup_.advance(guard, block);
  if (step == Lookup::Step::kFound) found_ = FoundEntry::copied(lookup_, part_, room_);
  return step;
}

bool Search::try_now(BlockReader& blocks) noexcept {
  try {
    switch (step(blocks, nullptr)) {
      case Lookup::Step::kFound:
      case Lookup::Step::kAbsent: lookup_.keep_known(blocks.cache()); return true;
      case Lookup::Step::kFailed: status_ = lookup_.status(); return true;
      case Lookup::Step::kWantsBlock: wants_block_ = true; return false;
      case Lookup::Step::kWantsTable: return false;
      case Lookup::Step::kPaused: break;  // Only advance_or_pause() returns it.
    }
  } catch (const std::bad_alloc&) {
    status_ = Status::out_of_memory();
  }
  return true;
}

/// Runs a step of a search that was not begun. Lack of memory is a failure, whose status is set.
Lookup::Step Search::step_or_pause(BlockCache::ReadGuard& guard) noexcept {
  try {
    const Lookup::Step step = lookup_.advance_or_pause(guard);
    if (step == Lookup::Step::kFound) found_ = FoundEntry::copied(lookup_, part_, room_);
    if (step == Lookup::Step::kFailed) status_ = lookup_.status();
    return step;
  } catch (const std::bad_alloc&) {
    status_ = Status::out_of_memory();
    return Lookup::Step::kFailed;
  }
}

std::uint32_t Search::try_together(std::span<Search* const> searches, BlockReader& blocks) noexcept {
  assert(searches.size() <= kTogetherMax);
  std::uint32_t ended = 0;
  {
    BlockCache::ReadGuard guard(blocks.cache());
    for (std::uint32_t paused = (1u << searches.size()) - 1; paused != 0;) {
      for (std::uint32_t left = paused; left != 0; left &= left - 1) {
        Search& search = *searches[static_cast<std::size_t>(std::countr_zero(left))];
        const std::uint32_t bit = left & ~(left - 1);
        const Lookup::Step step = search.step_or_pause(guard);
        if (step == Lookup::Step::kPaused) continue;
        paused &= ~bit;
        search.wants_block_ = step == Lookup::Step::kWantsBlock;
        if (step != Lookup::Step::kWantsBlock && step != Lookup::Step::kWantsTable) ended |= bit;
      }
    }
  }
  for (Search* const search : searches) search->lookup_.keep_known(blocks.cache());
  return ended;
}

Searches::~Searches() {
  if (queue_ == nullptr) return;
  while (queue_->in_flight() > 0) (void)queue_->reap(finished_, queue_->in_flight());
  for (const auto& arrival : arrivals_) arrival->pin.release();
  if (queues_ != nullptr) queues_->give_back(std::move(queue_));
}

void Searches::begin(Search& search) noexcept {
  advance(search, nullptr);
}

void Searches::share_work(StepTaker& helper, StepTaker& home) noexcept {
  helper_ = &helper;
  home_ = &home;
}

void Searches::go_on(bool may_wait) noexcept {
  submit_all();
  if (queue_ == nullptr || queue_->in_flight() == 0) return;
  const std::size_t count = queue_->reap(finished_, may_wait ? 1 : 0);
  const std::span<io::FinishedRead> finished(finished_.data(), count);
  for (io::FinishedRead& read : finished) {
    arrivals_[read.tag]->read = std::move(read.status);
    arrivals_[read.tag]->pin.release();
  }
  if (helper_ != nullptr && count >= kWorthHelp) {
    take_out_together(finished);
    return;
  }
  for (const io::FinishedRead& read : finished) {
    take_out(*arrivals_[read.tag]);
    serve(*arrivals_[read.tag]);
  }
}

/// Any thread may call it: the arrival's content belongs to it alone.
void Searches::take_out(Arrival& arrival) noexcept {
  const BlockWanted& wanted = arrival.wanted;
  if (arrival.read.ok()) {
    arrival.block.emplace(blocks_.take(wanted, arrival.stored));
  } else {
    arrival.block.emplace(arrival.read.in_file(wanted.name(), wanted.handle.offset));
  }
}

/// This thread and the helper's thread each take the next block that the other has not taken.
void Searches::take_out_together(std::span<const io::FinishedRead> finished) noexcept {
  bool needs_helper = false;
  {
    const io::MutexGuard guard(mutex_);
    for (const io::FinishedRead& read : finished) read_.push(*arrivals_[read.tag]);
    needs_helper = !is_helping_;
    is_helping_ = true;
  }
  if (needs_helper) helper_->post(help_);
  while (Arrival* const arrival = next_to_take_out()) {
    take_out(*arrival);
    serve(*arrival);
  }
}

Searches::Arrival* Searches::next_to_take_out() noexcept {
  const io::MutexGuard guard(mutex_);
  return read_.pop();
}

void Searches::help() noexcept {
  for (;;) {
    Arrival* arrival = nullptr;
    {
      const io::MutexGuard guard(mutex_);
      arrival = read_.pop();
      if (arrival == nullptr) {
        is_helping_ = false;
        return;
      }
    }
    take_out(*arrival);
    home_->post(*arrival);
  }
}

void Searches::finish() noexcept {
  while (waits()) {
    if (arrivals_in_use_ == 1 && !unsubmitted_.empty()) {
      read_alone();
    } else {
      go_on(true);
    }
  }
}

Search* Searches::take_ended() noexcept {
  Search* const search = first_ended_;
  if (search == nullptr) return nullptr;
  first_ended_ = search->next_;
  if (first_ended_ == nullptr) last_ended_ = nullptr;
  return search;
}

void Searches::end(Search& search) noexcept {
  (last_ended_ == nullptr ? first_ended_ : last_ended_->next_) = &search;
  last_ended_ = &search;
}

/// Continues a search until it ends, or waits for a block.
void Searches::advance(Search& search, const CachedBlock* block) noexcept {
  try {
    if (!advance_or_throw(search, block)) return;
  } catch (const std::bad_alloc&) {
    search.status_ = Status::out_of_memory();
  }
  end(search);
}

/// Returns true if the search has ended.
bool Searches::advance_or_throw(Search& search, const CachedBlock* block) {
  for (;;) {
    const Lookup::Step step = search.step(blocks_, block);
    block = nullptr;
    switch (step) {
      case Lookup::Step::kFound:
      case Lookup::Step::kAbsent: search.lookup_.keep_known(blocks_.cache()); return true;
      case Lookup::Step::kFailed: search.status_ = search.lookup_.status(); return true;
      case Lookup::Step::kWantsBlock: want(search); return false;
      case Lookup::Step::kWantsTable: {
        search.status_ = search.lookup_.open_wanted();
        if (search.status_.ok()) break;
        return true;
      }
      case Lookup::Step::kPaused: break;  // Only advance_or_pause() returns it.
    }
  }
}

/// Returns a free arrival. It reserves memory for the free list in advance, so that no later step fails.
Searches::Arrival& Searches::free_arrival() {
  if (free_.empty()) {
    free_.reserve(arrivals_.size() + 1);
    arrivals_.push_back(std::make_unique<Arrival>(*this, arrivals_.size()));
    free_.push_back(arrivals_.back().get());
  }
  return *free_.back();
}

void Searches::want(Search& search) {
  const BlockWanted& wanted = search.lookup_.wanted();
  const BlockPlace place(wanted.cache_id(), wanted.handle.offset);
  if (const auto known = on_the_way_.find(place); known != on_the_way_.end()) {
    known->second->waiting.push_back(&search);
    return;
  }
  Arrival& arrival = free_arrival();
  arrival.waiting.reserve(1);
  on_the_way_.emplace(place, &arrival);
  free_.pop_back();
  ++arrivals_in_use_;
  arrival.wanted = wanted;
  arrival.waiting.push_back(&search);
  unsubmitted_.push(arrival);
  if (search.cost_ != nullptr) ++search.cost_->blocks_read;
}

void Searches::read_alone() noexcept {
  Arrival& arrival = *unsubmitted_.pop();
  arrival.block.emplace(blocks_.read(arrival.wanted));
  serve(arrival);
}

Status Searches::take_queue() {
  if (queue_ != nullptr) return Status();
  Result<std::unique_ptr<io::ReadQueue>> queue = queues_->take();
  if (!queue.ok()) return queue.status();
  queue_ = *std::move(queue);
  return Status();
}

/// Keeps the block's file open until the read has ended. Returns false if too many files are pinned, or if the file
/// cannot be opened now.
bool Searches::pin(Arrival& arrival) noexcept {
  Result<FilePin> pinned = arrival.wanted.file().pin_for_long();
  if (!pinned.ok()) return false;
  arrival.pin = std::move(*pinned);
  return true;
}

Status Searches::submit(Arrival& arrival) {
  const format::BlockHandle& handle = arrival.wanted.handle;
  Status ready = arrival.stored.prepare(handle.offset, handle.bytes, arrival.wanted.file().size_bytes());
  if (ready.ok()) {
    ready = queue_->submit(*arrival.pin, arrival.stored.offset(), arrival.stored.bytes(), arrival.number);
  }
  if (ready.ok()) {
    blocks_.count_read(arrival.stored.bytes().size());
  } else {
    arrival.pin.release();
  }
  return ready;
}

/// Submits as many reads as the queue accepts. If the queue refuses a read, its searches get the error. A read whose
/// file cannot be pinned waits for the reads in flight. If there are none, it is made at once.
void Searches::submit_all() noexcept {
  while (!unsubmitted_.empty()) {
    Status submitted = take_queue();
    if (submitted.ok() && queue_->in_flight() == queue_->depth()) return;
    if (submitted.ok() && !pin(unsubmitted_.first())) {
      if (queue_->in_flight() > 0) return;
      read_alone();
      continue;
    }
    Arrival& arrival = *unsubmitted_.pop();
    if (submitted.ok()) submitted = submit(arrival);
    if (submitted.ok()) continue;
    arrival.block.emplace(submitted);
    serve(arrival);
  }
}

/// Continues the searches that waited for the block. They may need the block again, as a new arrival.
void Searches::serve(Arrival& arrival) noexcept {
  on_the_way_.erase({arrival.wanted.cache_id(), arrival.wanted.handle.offset});
  const Result<PinnedBlock> block = *std::move(arrival.block);
  arrival.block.reset();
  for (Search* const search : arrival.waiting) {
    if (block.ok()) {
      advance(*search, &**block);
    } else {
      search->status_ = block.status();
      end(*search);
    }
  }
  arrival.waiting.clear();
  free_.push_back(&arrival);  // Its capacity suffices for all.
  --arrivals_in_use_;
}

}  // namespace varve::engine
