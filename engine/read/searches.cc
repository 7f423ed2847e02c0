// Owns: the steps of searches (searches.h).
// Must never: leave while a read is in flight: its memory is here.
#include "engine/read/searches.h"

#include <cassert>
#include <new>

namespace varve::engine {

Searches::~Searches() {
  if (queue_ == nullptr) return;
  while (queue_->in_flight() > 0) (void)queue_->reap(finished_, queue_->in_flight());
  if (queues_ != nullptr) queues_->give_back(std::move(queue_));
}

void Searches::begin(Search& search) noexcept {
  advance(search, nullptr);
}

void Searches::go_on(bool may_wait) noexcept {
  submit_all();
  if (queue_ == nullptr || queue_->in_flight() == 0) return;
  const std::size_t count = queue_->reap(finished_, may_wait ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const io::FinishedRead& read = finished_[i];
    const std::unique_ptr<Arrival> arrival = take_arrival(read.tag);
    const BlockWanted& wanted = arrival->wanted;
    serve(*arrival, read.status.ok() ? blocks_.take(wanted, arrival->stored)
                                     : read.status.in_file(wanted.table->name, wanted.handle.offset));
  }
}

void Searches::finish() noexcept {
  while (waits()) {
    if (arrivals_in_use_ == 1 && first_unsubmitted_ != nullptr) {
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

/// Until it has ended, or waits for a block.
void Searches::advance(Search& search, const CachedBlock* block) noexcept {
  try {
    if (!advance_or_throw(search, block)) return;
  } catch (const std::bad_alloc&) {
    search.status_ = Status::out_of_memory();
  }
  end(search);
}

/// True when it has ended.
bool Searches::advance_or_throw(Search& search, const CachedBlock* block) {
  for (;;) {
    Lookup::Step step;
    {
      BlockCache::ReadGuard guard(blocks_.cache());
      step = search.lookup_.advance(guard, block);
      if (step == Lookup::Step::kFound) search.found_ = FoundEntry::copied(search.lookup_.entry());
    }
    block = nullptr;
    switch (step) {
      case Lookup::Step::kFound:
      case Lookup::Step::kAbsent: return true;
      case Lookup::Step::kFailed: search.status_ = search.lookup_.status(); return true;
      case Lookup::Step::kWantsBlock: want(search); return false;
      case Lookup::Step::kWantsTable: {
        const Result<const OpenTable*> opened = search.lookup_.wanted_table().open();
        if (opened.ok()) break;
        search.status_ = opened.status();
        return true;
      }
    }
  }
}

/// A number for one more arrival, and room to note that it is free again, so that nothing fails later.
std::size_t Searches::free_arrival() {
  if (!free_.empty()) return free_.back();
  arrivals_.emplace_back();
  try {
    free_.reserve(arrivals_.size());
  } catch (const std::bad_alloc&) {
    arrivals_.pop_back();
    throw;
  }
  free_.push_back(arrivals_.size() - 1);
  return free_.back();
}

void Searches::want(Search& search) {
  const BlockWanted& wanted = search.lookup_.wanted();
  const BlockPlace place(wanted.table->cache_id, wanted.handle.offset);
  if (const auto known = on_the_way_.find(place); known != on_the_way_.end()) {
    arrivals_[known->second]->waiting.push_back(&search);
    return;
  }
  const std::size_t number = free_arrival();
  auto arrival = std::make_unique<Arrival>(Arrival{number, wanted, {}, {&search}});
  on_the_way_.emplace(place, number);
  free_.pop_back();
  ++arrivals_in_use_;
  (last_unsubmitted_ == nullptr ? first_unsubmitted_ : last_unsubmitted_->next) = arrival.get();
  last_unsubmitted_ = arrival.get();
  arrivals_[number] = std::move(arrival);
  if (search.cost_ != nullptr) ++search.cost_->blocks_read;
}

std::unique_ptr<Searches::Arrival> Searches::take_arrival(std::size_t number) noexcept {
  std::unique_ptr<Arrival> arrival = std::move(arrivals_[number]);
  assert(arrival != nullptr);
  on_the_way_.erase({arrival->wanted.table->cache_id, arrival->wanted.handle.offset});
  free_.push_back(number);  // There is room for every number.
  --arrivals_in_use_;
  return arrival;
}

Searches::Arrival& Searches::pop_unsubmitted() noexcept {
  Arrival& arrival = *first_unsubmitted_;
  first_unsubmitted_ = arrival.next;
  if (first_unsubmitted_ == nullptr) last_unsubmitted_ = nullptr;
  return arrival;
}

void Searches::read_alone() noexcept {
  const std::unique_ptr<Arrival> arrival = take_arrival(pop_unsubmitted().number);
  serve(*arrival, blocks_.read(arrival->wanted));
}

Status Searches::take_queue() {
  if (queue_ != nullptr) return Status();
  Result<std::unique_ptr<io::ReadQueue>> queue = queues_->take();
  if (!queue.ok()) return queue.status();
  queue_ = *std::move(queue);
  return Status();
}

Status Searches::submit(Arrival& arrival) {
  const io::ReadableFile& file = *arrival.wanted.table->file;
  const format::BlockHandle& handle = arrival.wanted.handle;
  if (Status ready = arrival.stored.prepare(handle.offset, handle.bytes, file.size_bytes()); !ready.ok()) return ready;
  if (Status sent = queue_->submit(file, arrival.stored.offset(), arrival.stored.bytes(), arrival.number); !sent.ok()) {
    return sent;
  }
  blocks_.count_read(arrival.stored.bytes().size());
  return Status();
}

/// As many as the queue takes. Who waits for one that it does not take is told.
void Searches::submit_all() noexcept {
  while (first_unsubmitted_ != nullptr) {
    Status submitted = take_queue();
    if (submitted.ok() && queue_->in_flight() == queue_->depth()) return;
    Arrival& arrival = pop_unsubmitted();
    if (submitted.ok()) submitted = submit(arrival);
    if (!submitted.ok()) serve(*take_arrival(arrival.number), submitted);
  }
}

void Searches::serve(const Arrival& arrival, const Result<PinnedBlock>& block) noexcept {
  for (Search* const search : arrival.waiting) {
    if (block.ok()) {
      advance(*search, &**block);
    } else {
      search->status_ = block.status();
      end(*search);
    }
  }
}

}  // namespace varve::engine
