// Owns: what readers see of a moment - memtables and tables - and keeping it alive while somebody reads.
// Must never: make readers write to a cache line that they all share, or let go of a state that is pinned.
//
// S1  a state, once installed, never changes; the next one is made beside it and takes its place in one step.
// S2  a pin taken is of a state that was the installed one at a moment within the call.
//
// States lie in cells that are reused and never freed while the store is open, each with a counter of pins for every
// few threads. A reader counts itself in the cell that it sees installed, and looks again: if the cell is still the
// installed one, nobody can have taken it away before the count, and nobody does after it. If it is not, the count is
// taken back; in a cell that was reused meanwhile it did no harm.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/memory/memtable.h"
#include "io/scheduler.h"

namespace varve::engine {

class Levels;

struct ReadState {
  std::shared_ptr<Memtable> active;
  /// Newest first; each holds only versions below those of the one before it.
  std::vector<std::shared_ptr<const Memtable>> sealed;
  /// Holds only versions below those of the memtables.
  std::shared_ptr<const Levels> tables;
};

/// Any thread.
class ReadStates {
 private:
  struct Cell;

 public:
  /// Keeps one state. Let go on any thread.
  class Pin {
   public:
    Pin() noexcept = default;
    Pin(Pin&& other) noexcept
        : states_(other.states_), cell_(std::exchange(other.cell_, nullptr)), shard_(other.shard_) {}
    Pin& operator=(Pin&& other) noexcept;
    ~Pin() { release(); }

    const ReadState& operator*() const noexcept;
    const ReadState* operator->() const noexcept { return &**this; }
    /// Another pin of the same state.
    Pin again() const noexcept;

   private:
    friend class ReadStates;
    Pin(const ReadStates* states, Cell* cell, std::size_t shard) noexcept
        : states_(states), cell_(cell), shard_(shard) {}
    void release() noexcept;

    const ReadStates* states_ = nullptr;
    Cell* cell_ = nullptr;
    std::size_t shard_ = 0;
  };

  ReadStates(io::Scheduler& scheduler, ReadState first);
  /// No pin is held.
  ~ReadStates();
  ReadStates(const ReadStates&) = delete;
  ReadStates& operator=(const ReadStates&) = delete;

  Pin pin() const noexcept;
  /// Whether this pin's state is the installed one.
  bool is_current(const Pin& pin) const noexcept;

  /// The memory of one update(), for those that must not fail when their turn has come. Given back if it is not used.
  class Room {
   public:
    Room(Room&& other) noexcept : states_(other.states_), cell_(std::exchange(other.cell_, nullptr)) {}
    Room& operator=(Room&&) = delete;
    ~Room();

   private:
    friend class ReadStates;
    Room(const ReadStates* states, Cell* cell) noexcept : states_(states), cell_(cell) {}

    const ReadStates* states_;
    Cell* cell_;
  };
  /// Throws std::bad_alloc.
  Room make_room();

  /// Installs what `change` makes of a copy of the installed state; one change at a time. Takes no memory but that of
  /// `change`, unless kSealedInRoom memtables were sealed since the room was made. What is thrown (std::bad_alloc)
  /// leaves the installed state as it was.
  template <typename Change>
  void update(Room room, const Change& change) {
    const io::MutexGuard guard(changing_);
    change(begin_next(*room.cell_));
    install(*std::exchange(room.cell_, nullptr));
  }
  template <typename Change>
  void update(const Change& change) {
    update(make_room(), change);
  }

  /// States that were replaced and are still pinned.
  std::size_t replaced_count() const noexcept;

 private:
  static constexpr std::size_t kShards = 16;

  static constexpr std::size_t kSealedInRoom = 64;

  /// The cell with a copy of the installed state.
  ReadState& begin_next(Cell& cell) const VARVE_REQUIRES(changing_);
  void install(Cell& cell) noexcept VARVE_REQUIRES(changing_);
  Cell* take_cell();
  void give_back(Cell& cell) const noexcept;
  /// Lets go of replaced states that nobody pins any more.
  void reclaim() const noexcept;

  io::Mutex changing_;  // before cells_mutex_
  std::atomic<Cell*> current_{nullptr};

  mutable io::Mutex cells_mutex_;
  std::vector<std::unique_ptr<Cell>> cells_ VARVE_GUARDED_BY(cells_mutex_);
};

}  // namespace varve::engine
