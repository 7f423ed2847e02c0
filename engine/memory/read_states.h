// Owns: the state that readers see at one moment (memtables and tables), and keeping it alive while a reader uses it.
// Must never: make readers write to a cache line that all of them share, or free a pinned state.
//
// S1  An installed state never changes. The next state is built separately and replaces it in one step.
// S2  A pin refers to a state that was installed at some moment within the call of pin().
//
// States are in cells, which are reused and never freed while the store is open. Each cell has a counter of pins for
// every few threads. A reader counts itself in the installed cell and reads the installed cell again. If the cell is
// unchanged, nothing replaced it before the count, and the count protects it from then on. If the cell has changed, the
// reader takes its count back. A count in a cell that was reused meanwhile does no harm.
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
  /// Sealed memtables, newest first. Each holds only versions below those of the memtable before it.
  std::vector<std::shared_ptr<const Memtable>> sealed;
  /// Table files. They hold only versions below those of the memtables.
  std::shared_ptr<const Levels> tables;
};

/// Thread-safe.
class ReadStates {
 private:
  struct Cell;

 public:
  /// Keeps one state alive. It may be released on any thread.
  class Pin {
   public:
    Pin() noexcept = default;
    Pin(Pin&& other) noexcept
        : states_(other.states_), cell_(std::exchange(other.cell_, nullptr)), shard_(other.shard_) {}
    Pin& operator=(Pin&& other) noexcept;
    ~Pin() { release(); }

    const ReadState& operator*() const noexcept;
    const ReadState* operator->() const noexcept { return &**this; }
    /// Returns another pin of this state.
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
  /// No pin may be held.
  ~ReadStates();
  ReadStates(const ReadStates&) = delete;
  ReadStates& operator=(const ReadStates&) = delete;

  Pin pin() const noexcept;
  /// Returns whether this pin's state is the installed state.
  bool is_current(const Pin& pin) const noexcept;

  /// The memory of one update(), taken in advance by callers whose update must not fail. Unused memory is given back.
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
  /// Takes the memory. Throws std::bad_alloc.
  Room make_room();

  /// Installs the state that `change` makes from a copy of the installed state. Changes run one at a time. Takes no
  /// memory beyond that of `change`, unless more than kSealedInRoom memtables were sealed since the room was made. If
  /// `change` throws (std::bad_alloc), the installed state is unchanged.
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

  /// Returns the number of replaced states that are still pinned.
  std::size_t replaced_count() const noexcept;

 private:
  static constexpr std::size_t kShards = 16;

  static constexpr std::size_t kSealedInRoom = 64;

  /// Copies the installed state into the cell and returns the copy.
  ReadState& begin_next(Cell& cell) const VARVE_REQUIRES(changing_);
  void install(Cell& cell) noexcept VARVE_REQUIRES(changing_);
  Cell* take_cell();
  void give_back(Cell& cell) const noexcept;
  /// Frees replaced states that have no pins any more.
  void reclaim() const noexcept;

  io::Mutex changing_;  // locked before cells_mutex_
  std::atomic<Cell*> current_{nullptr};

  mutable io::Mutex cells_mutex_;
  std::vector<std::unique_ptr<Cell>> cells_ VARVE_GUARDED_BY(cells_mutex_);
};

}  // namespace varve::engine
