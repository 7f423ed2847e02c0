// Owns: the read queue of a merge, and which read each scan waits for (run_reads.h).
// Must never: release memory or a descriptor that a read in flight uses.
#include "engine/tables/run_reads.h"

#include <algorithm>
#include <new>
#include <utility>

#include "io/probe.h"

namespace varve::engine {

RunReads::Ahead::~Ahead() {
  if (state_ == State::kInFlight) reads_->await(*this);
}

void RunReads::Ahead::begin(RunReads& reads, const HeldFile& file, std::uint64_t offset, std::size_t bytes) noexcept {
  if (state_ == State::kInFlight || !reads.take_queue()) return;
  state_ = State::kNone;
  const auto place = std::find(reads.in_flight_.begin(), reads.in_flight_.end(), nullptr);
  if (place == reads.in_flight_.end()) return;
  if (memory_.bytes().size() < bytes) {
    Result<io::PageMemory> memory = io::PageMemory::map(bytes);
    if (!memory.ok()) return;
    memory_ = *std::move(memory);
  }
  Result<FilePin> pin = file.pin_for_long();
  if (!pin.ok()) return;
  pin_ = *std::move(pin);
  const auto tag = static_cast<std::uint64_t>(place - reads.in_flight_.begin());
  if (!reads.queue_->submit(*pin_, offset, memory_.bytes().first(bytes), tag).ok()) return pin_.release();
  *place = this;
  reads_ = &reads;
  offset_ = offset;
  bytes_ = bytes;
  state_ = State::kInFlight;
  reads.reap(0);  // starts the read
}

bool RunReads::Ahead::take(std::uint64_t offset, std::size_t bytes, io::PageMemory& memory) noexcept {
  if (state_ == State::kInFlight) reads_->await(*this);
  if (state_ != State::kHere || offset_ != offset || bytes_ != bytes) return false;
  state_ = State::kNone;
  std::swap(memory_, memory);
  ++reads_->taken_;
  return true;
}

RunReads::~RunReads() {
  if (queue_) queues_.give_back(std::move(queue_));
}

bool RunReads::take_queue() noexcept {
  if (queue_ || has_no_queue_) return queue_ != nullptr;
  try {
    Result<std::unique_ptr<io::ReadQueue>> queue = queues_.take();
    if (queue.ok()) queue_ = *std::move(queue);
  } catch (const std::bad_alloc&) {
  }
  has_no_queue_ = queue_ == nullptr;
  return queue_ != nullptr;
}

void RunReads::await(const Ahead& ahead) noexcept {
  while (ahead.state_ == Ahead::State::kInFlight) reap(1);
}

void RunReads::reap(std::size_t wait_count) noexcept {
  std::array<io::FinishedRead, kReadsMax> finished;
  const std::size_t count = queue_->reap(finished, wait_count);
  for (std::size_t i = 0; i < count; ++i) {
    Ahead& ahead = *std::exchange(in_flight_[finished[i].tag], nullptr);
    ahead.pin_.release();
    ahead.state_ = finished[i].status.ok() ? Ahead::State::kHere : Ahead::State::kNone;
  }
}

}  // namespace varve::engine
