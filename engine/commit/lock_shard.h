// Owns: the holders of the hashes of one shard of the partition locks, and the lines of waiting requests.
// Must never: let a grant fail, or use a waiter after it was notified.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "engine/commit/partition_locks.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// The held hashes, in a table with free places. A hash is at its home, or after it without a free place between. Most
/// commits hold few locks, and the commit of a list of 50,000 blocks holds one for each.
struct alignas(64) PartitionLocks::Shard {
  struct Held {
    std::uint64_t hash = 0;
    Waiter* first = nullptr;  // the waiter that has waited longest
    Waiter* last = nullptr;
    std::uint32_t rows = 0;  // the number of holders of single rows
    bool is_whole = false;   // one holder has the partition whole

    bool is_held() const noexcept { return is_whole || rows > 0; }
    void push(Waiter& waiter) noexcept {
      waiter.previous = last;
      waiter.next = nullptr;
      (last == nullptr ? first : last->next) = &waiter;
      last = &waiter;
    }
    void remove(Waiter& waiter) noexcept {
      (waiter.previous == nullptr ? first : waiter.previous->next) = waiter.next;
      (waiter.next == nullptr ? last : waiter.next->previous) = waiter.previous;
    }
  };
  struct HeldRow {
    std::uint64_t hash = 0;
    std::uint64_t row = 0;
  };
  static constexpr std::size_t kPlaces = 32;  // always a power of two, and half of them are free
  static constexpr std::size_t kRows = 8;     // held rows at first

  explicit Shard(io::Scheduler& scheduler) : mutex(scheduler), places(kPlaces) { held_rows.reserve(kRows); }

  Held* find(std::uint64_t hash) noexcept VARVE_REQUIRES(mutex) {
    std::size_t at = home_of(hash);
    for (; places[at].is_held(); at = after(at)) {
      if (places[at].hash == hash) return &places[at];
    }
    return nullptr;
  }

  /// Takes the lock if the request need not wait, and returns whether it did. Errors: kOutOfMemory.
  Result<bool> take(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept VARVE_REQUIRES(mutex) {
    Held* const held = find(hash);
    if (held != nullptr && (held->first != nullptr || !may_hold(*held, row))) return false;
    if (row && !has_room_for_row()) return Status::out_of_memory();
    if (held != nullptr) {
      hold(*held, row);
      return true;
    }
    if (2 * (count + 1) > places.size() && !resize(2 * places.size())) return Status::out_of_memory();
    Held added{hash};
    hold(added, row);
    put(added);
    ++count;
    return true;
  }

  /// Puts the waiter at the end of the line. Errors: kOutOfMemory.
  Status line_up(Held& held, Waiter& waiter) noexcept VARVE_REQUIRES(mutex) {
    if (waiter.row && !has_room_for_row()) return Status::out_of_memory();
    if (waiter.row) ++rows_in_line;
    waiter.is_holder = false;
    held.push(waiter);
    return Status();
  }

  /// Removes a waiter that gives up, and returns those to wake().
  Waiter* leave(Held& held, Waiter& waiter) noexcept VARVE_REQUIRES(mutex) {
    held.remove(waiter);
    if (waiter.row) --rows_in_line;
    return grant(held);
  }

  /// Ends the holding of the hash, or of one row of it, and returns the waiters to wake().
  Waiter* release(std::uint64_t hash, std::optional<std::uint64_t> row) noexcept VARVE_REQUIRES(mutex) {
    Held* const held = find(hash);
    assert(held != nullptr);  // L1
    if (row) {
      HeldRow* const ended = find_row(hash, *row);
      assert(ended != nullptr && !held->is_whole);  // L1
      *ended = held_rows.back();
      held_rows.pop_back();
      --held->rows;
    } else {
      assert(held->is_whole);  // L1
      held->is_whole = false;
    }
    Waiter* const granted = grant(*held);
    if (!held->is_held()) erase(held);  // Then the line is empty: its front can hold what is free.
    return granted;
  }

  io::Mutex mutex;
  std::size_t count VARVE_GUARDED_BY(mutex) = 0;
  std::vector<Held> places VARVE_GUARDED_BY(mutex);
  /// The held rows of all hashes: one for each commit between its lock and its insert, so few. There is room for the rows
  /// of waiters too, so that a grant cannot fail.
  std::vector<HeldRow> held_rows VARVE_GUARDED_BY(mutex);
  std::size_t rows_in_line VARVE_GUARDED_BY(mutex) = 0;

 private:
  HeldRow* find_row(std::uint64_t hash, std::uint64_t row) noexcept VARVE_REQUIRES(mutex) {
    for (HeldRow& held : held_rows) {
      if (held.hash == hash && held.row == row) return &held;
    }
    return nullptr;
  }
  /// Makes room for one more held row, and returns whether there is room.
  bool has_room_for_row() noexcept VARVE_REQUIRES(mutex) {
    const std::size_t needed = held_rows.size() + rows_in_line + 1;
    if (needed <= held_rows.capacity()) return true;
    try {
      held_rows.reserve(2 * needed);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  /// Returns whether a request can hold the partition beside its holders.
  bool may_hold(const Held& held, std::optional<std::uint64_t> row) noexcept VARVE_REQUIRES(mutex) {
    if (!held.is_held()) return true;
    return row && !held.is_whole && find_row(held.hash, *row) == nullptr;
  }
  /// Notes a holder. There is room for its row.
  void hold(Held& held, std::optional<std::uint64_t> row) noexcept VARVE_REQUIRES(mutex) {
    if (!row) {
      held.is_whole = true;
      return;
    }
    held_rows.push_back({held.hash, *row});
    ++held.rows;
  }
  /// Makes holders of the waiters at the front that can be holders now (L2). Returns those that wait for an event, as a list.
  Waiter* grant(Held& held) noexcept VARVE_REQUIRES(mutex) {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
    while (held.first != nullptr && may_hold(held, held.first->row)) {
      Waiter& next = *held.first;
      held.remove(next);
      if (next.row) --rows_in_line;
      hold(held, next.row);
      next.is_holder = true;
      if (next.event != nullptr) {
        next.next = nullptr;
        (last == nullptr ? first : last->next) = &next;
        last = &next;
      } else if (next.condition != nullptr) {
        next.condition->notify_one();  // Under the mutex: otherwise the waiter could be gone already.
      } else {
        next.taker->post(*next.step);  // This too. From here on the waiter may be gone.
      }
    }
    return first;
  }
  /// Moves later hashes into the place that becomes free, if it is not before their homes.
  void erase(Held* one) noexcept VARVE_REQUIRES(mutex) {
    auto free = static_cast<std::size_t>(one - places.data());
    for (std::size_t at = after(free); places[at].is_held(); at = after(at)) {
      const std::size_t from_home = distance(home_of(places[at].hash), at);
      if (from_home < distance(free, at)) continue;
      places[free] = places[at];
      free = at;
    }
    places[free] = Held();
    --count;
    if (count == 0 && places.size() > kPlaces) (void)resize(kPlaces);
  }

  // The low bits of a hash choose its shard.
  std::size_t home_of(std::uint64_t hash) const noexcept VARVE_REQUIRES(mutex) {
    return static_cast<std::size_t>(hash / kShardCount) & (places.size() - 1);
  }
  std::size_t after(std::size_t at) const noexcept VARVE_REQUIRES(mutex) { return (at + 1) & (places.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const noexcept VARVE_REQUIRES(mutex) {
    return (to - from) & (places.size() - 1);
  }
  /// There is a free place.
  void put(const Held& one) noexcept VARVE_REQUIRES(mutex) {
    std::size_t at = home_of(one.hash);
    while (places[at].is_held()) at = after(at);
    places[at] = one;
  }
  /// Returns false, and changes nothing, if memory runs out.
  bool resize(std::size_t size) noexcept VARVE_REQUIRES(mutex) {
    std::vector<Held> before;
    try {
      before.resize(size);
    } catch (const std::bad_alloc&) {
      return false;
    }
    before.swap(places);
    for (const Held& one : before) {
      if (one.is_held()) put(one);
    }
    return true;
  }
};

}  // namespace varve::engine
