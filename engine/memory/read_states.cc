// Owns: the cells of read states and the order of their counters (read_states.h).
// Must never: free a cell, or reuse a pinned cell.
#include "engine/memory/read_states.h"

#include <algorithm>
#include <cassert>

#include "io/thread_shard.h"

namespace varve::engine {

struct ReadStates::Cell {
  static constexpr std::size_t kCacheLineBytes = 64;
  struct alignas(kCacheLineBytes) Counter {
    std::atomic<std::int64_t> pins{0};
  };
  std::array<Counter, kShards> counters;

  alignas(kCacheLineBytes) ReadState state;
  // Set from the cell's replacement until its reclamation. A thread that releases a pin reads it.
  std::atomic<bool> replaced{false};
  bool used = false;  // guarded by cells_mutex_

  bool is_pinned() const noexcept {
    return std::any_of(counters.begin(), counters.end(),
                       [](const Counter& counter) { return counter.pins.load(std::memory_order_seq_cst) != 0; });
  }
};

ReadStates::Pin& ReadStates::Pin::operator=(Pin&& other) noexcept {
  if (this == &other) return *this;
  release();
  states_ = other.states_;
  cell_ = std::exchange(other.cell_, nullptr);
  shard_ = other.shard_;
  return *this;
}

const ReadState& ReadStates::Pin::operator*() const noexcept {
  assert(cell_ != nullptr);
  return cell_->state;
}

ReadStates::Pin ReadStates::Pin::again() const noexcept {
  if (cell_ == nullptr) return Pin();
  // The cell is pinned already, so it is neither reclaimed nor reused meanwhile.
  cell_->counters[shard_].pins.fetch_add(1, std::memory_order_seq_cst);
  return Pin(states_, cell_, shard_);
}

void ReadStates::Pin::release() noexcept {
  Cell* const cell = std::exchange(cell_, nullptr);
  if (cell == nullptr) return;
  const ReadStates* const states = states_;
  // Either this thread sees that the cell was replaced, or the replacing thread sees that this count is gone. Both are
  // seq_cst.
  cell->counters[shard_].pins.fetch_sub(1, std::memory_order_seq_cst);
  if (cell->replaced.load(std::memory_order_seq_cst)) states->reclaim();
}

ReadStates::ReadStates(io::Scheduler& scheduler, ReadState first) : changing_(scheduler), cells_mutex_(scheduler) {
  Cell& cell = *take_cell();
  cell.state = std::move(first);
  const io::MutexGuard guard(changing_);
  install(cell);
}

ReadStates::~ReadStates() {
  const io::MutexGuard guard(cells_mutex_);
  for (const auto& cell : cells_) assert(!cell->is_pinned());
}

ReadStates::Pin ReadStates::pin() const noexcept {
  const std::size_t shard = io::thread_shard() % kShards;
  for (;;) {
    Cell* const cell = current_.load(std::memory_order_seq_cst);
    cell->counters[shard].pins.fetch_add(1, std::memory_order_seq_cst);
    if (current_.load(std::memory_order_seq_cst) == cell) return Pin(this, cell, shard);  // S2
    cell->counters[shard].pins.fetch_sub(1, std::memory_order_seq_cst);
    if (cell->replaced.load(std::memory_order_seq_cst)) reclaim();  // The last real pin may have seen this count.
  }
}

bool ReadStates::is_current(const Pin& pin) const noexcept {
  return current_.load(std::memory_order_seq_cst) == pin.cell_;
}

ReadStates::Room::~Room() {
  if (cell_ != nullptr) states_->give_back(*cell_);
}

ReadStates::Room ReadStates::make_room() {
  Room room(this, take_cell());
  room.cell_->state.sealed.reserve(pin()->sealed.size() + kSealedInRoom);
  return room;
}

ReadState& ReadStates::begin_next(Cell& cell) const {
  cell.state = current_.load(std::memory_order_relaxed)->state;
  return cell.state;
}

ReadStates::Cell* ReadStates::take_cell() {
  const io::MutexGuard guard(cells_mutex_);
  for (const auto& cell : cells_) {
    if (cell->used) continue;
    cell->used = true;
    return cell.get();
  }
  cells_.push_back(std::make_unique<Cell>());
  cells_.back()->used = true;
  return cells_.back().get();
}

void ReadStates::give_back(Cell& cell) const noexcept {
  const ReadState gone = std::exchange(cell.state, ReadState());  // Freed after the mutex.
  const io::MutexGuard guard(cells_mutex_);
  cell.used = false;
}

void ReadStates::install(Cell& cell) noexcept {
  Cell* const before = current_.exchange(&cell, std::memory_order_seq_cst);
  if (before == nullptr) return;
  before->replaced.store(true, std::memory_order_seq_cst);
  reclaim();
}

void ReadStates::reclaim() const noexcept {
  for (;;) {
    ReadState gone;  // Freed after the mutex: it may end a memtable and files.
    {
      const io::MutexGuard guard(cells_mutex_);
      const auto free = std::find_if(cells_.begin(), cells_.end(), [](const auto& cell) {
        return cell->used && cell->replaced.load(std::memory_order_seq_cst) && !cell->is_pinned();
      });
      if (free == cells_.end()) return;
      gone = std::exchange((*free)->state, ReadState());
      (*free)->replaced.store(false, std::memory_order_seq_cst);
      (*free)->used = false;
    }
  }
}

std::size_t ReadStates::replaced_count() const noexcept {
  const io::MutexGuard guard(cells_mutex_);
  return static_cast<std::size_t>(std::count_if(cells_.begin(), cells_.end(), [](const auto& cell) {
    return cell->used && cell->replaced.load(std::memory_order_relaxed);
  }));
}

}  // namespace varve::engine
