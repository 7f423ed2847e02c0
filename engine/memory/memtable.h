// Owns: the commits since the memtable before it was sealed, in key order, in memory.
// Must never: change a published entry, lose count of its memory, or let a reader take a lock.
//
// M1  an entry reachable at level 0 is complete: key, value and tower were written before the link (release/acquire).
// M2  internal keys are unique; within one sort key the newest version comes first.
// M3  memory is taken by reserve() alone, before a version is assigned; insert() allocates nothing and cannot fail.
//
// An arena skiplist: towers of at most 12 links, one in four entries reaches the next level. Entries lie in the arena
// as tower, sizes, internal key, value, and, of large values, their place in the log. Source: W. Pugh, "Skip Lists: A
// Probabilistic Alternative to Balanced Trees". Beside it an index by hash, for lookups of one key.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/memory/arena.h"
#include "engine/memory/key_index.h"
#include "engine/memory/write_budget.h"
#include "format/keys/batch.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::engine {

/// What a batch needs of the memtable, found by the batch's owner before it joins a group.
struct MemtableDemand {
  std::uint32_t entry_count = 0;
  /// Of these.
  std::uint32_t delete_count = 0;
  /// Bytes of all entries without their towers, each rounded up to 8.
  std::uint64_t entry_bytes = 0;
  /// Operations that are no entries (retire, adopt).
  std::uint32_t other_count = 0;
};

struct MemtableNode;

class Memtable {
 public:
  Memtable() noexcept = default;
  ~Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// Reads the batch through. Puts and deletes count; retire and adopt take no memory here.
  /// Errors: as BatchReader, and kTooLarge (a batch of 4 GiB or more: an entry counts its bytes in 32 bits).
  static Result<MemtableDemand> demand_of(std::string_view batch);

  /// Room for one batch, to be filled by insert().
  class Reservation {
   public:
    Reservation() noexcept = default;

   private:
    friend class Memtable;
    char* at_ = nullptr;
    char* end_ = nullptr;
    KeyIndex::Table* table_ = nullptr;
    std::uint64_t tower_seed_ = 0;
  };

  /// Takes memory for one batch. One thread at a time (the leader of a commit group). A demand without entries takes
  /// none and is always met. `promised` bytes of the budget are the batch's already: what it does not need of them goes
  /// back. Errors: kNoSpace (the budget is used up; the message names it), kOutOfMemory. Nothing changed.
  Result<Reservation> reserve(const MemtableDemand& demand, BudgetPart part = BudgetPart::kCommon,
                              std::uint64_t promised = 0);
  /// What reserve() would take of the budget for it now, and what it would take in an empty memtable.
  std::uint64_t needed_bytes(const MemtableDemand& demand) const noexcept;
  static std::uint64_t needed_bytes_at_first(const MemtableDemand& demand) noexcept;

  /// Adds the puts and deletes of a batch that demand_of() accepted, at `version`, which no other batch has; `in_log`
  /// is where the batch stands. Any number of threads at once, beside any number of readers. A finger keeps the place
  /// of the key before: batches in the order of keys, or nearly so, cost the logarithm of the distance for each key.
  void insert(const Reservation& reservation, std::string_view batch, CommitVersion version,
              LogPlace in_log = LogPlace()) noexcept;

  /// So many ways are fetched at once.
  static constexpr std::size_t kWaysMax = 8;
  /// Fetches what insert() looks at on its way to the first key of each of these batches, at most kWaysMax of them: one
  /// way waits for memory at each of its steps, several wait at the same time. Changes nothing.
  void fetch_ways(std::span<const std::string_view> batches) const noexcept;

  /// What the lookups below need of a key, for all memtables alike. It is format::content_hash(), which tables need
  /// too.
  static std::uint64_t hash_of(std::string_view sort_key) noexcept { return KeyIndex::hash_of(sort_key); }
  /// Fetches what find() will look at first, while something else is done.
  void prefetch(std::uint64_t hash) const noexcept { index_.prefetch(hash); }
  /// The newest entry of this key with a version not above `at_most`; valid as long as the memtable.
  std::optional<Entry> find(std::string_view sort_key, std::uint64_t hash, CommitVersion at_most) const noexcept;
  std::optional<Entry> find(std::string_view sort_key, CommitVersion at_most) const noexcept {
    return find(sort_key, hash_of(sort_key), at_most);
  }

  /// A place in the order of internal keys. Sees every entry that was inserted before the call that moves it.
  class Cursor {
   public:
    explicit Cursor(const Memtable& memtable) noexcept : memtable_(&memtable) {}
    bool valid() const noexcept { return node_ != nullptr; }
    Entry entry() const noexcept;
    /// Of the value, if it is large and known.
    LogPlace log_place() const noexcept;
    /// To the first entry whose (sort key, version, newest first) is not before the one given.
    void seek(std::string_view sort_key, CommitVersion at_most) noexcept;
    /// To the last entry whose sort key is below the one given.
    void seek_before(std::string_view sort_key) noexcept;
    void seek_to_first() noexcept;
    void seek_to_last() noexcept;
    void next() noexcept;
    void previous() noexcept;

   private:
    friend class Memtable;
    const Memtable* memtable_;
    const MemtableNode* node_ = nullptr;
  };

  std::uint64_t entry_count() const noexcept { return entry_count_.load(std::memory_order_relaxed); }
  std::uint64_t delete_count() const noexcept { return delete_count_.load(std::memory_order_relaxed); }
  /// Of values that may stay in the log (kExternalValueBytesMin).
  std::uint64_t large_value_bytes() const noexcept { return large_value_bytes_.load(std::memory_order_relaxed); }
  /// Bytes taken by reserve(), and the memory held from the system for them.
  std::uint64_t used_bytes() const noexcept { return arena_.used_bytes() + index_.bytes(); }
  std::uint64_t allocated_bytes() const noexcept { return arena_.allocated_bytes() + index_.bytes(); }
  /// From now on memory is also taken from `budget`, what is held already included, and given back at the end. Recovery
  /// fills without a bound, since what was accepted must be held; the budget is joined before the first commit.
  void join(std::shared_ptr<WriteBudget> budget) noexcept;

  /// Asserts M2, that each level is part of the one below, and that the index knows the newest entry of each key;
  /// reads every entry. While nobody inserts.
  void check_invariants() const noexcept;

 private:
  static constexpr std::size_t kHeightMax = 12;
  using Link = std::atomic<MemtableNode*>;

  class Finger;
  struct Gap {
    const MemtableNode* before;  // the head where no entry is before
    const MemtableNode* after;   // null where none is after
  };

  /// Of the entries with their towers, which follow from the seed.
  static std::uint64_t piece_bytes(const MemtableDemand& demand, std::uint64_t tower_seed) noexcept;
  MemtableNode* head() noexcept;
  const MemtableNode* head() const noexcept;
  /// Between the last entry before (sort_key, version) and the first that is not.
  Gap find_gap(std::string_view sort_key, CommitVersion version) const noexcept;

  static constexpr std::size_t kCacheLineBytes = 64;

  // The head is a tower without an entry. As with entries, the link of level 0 comes last. Every reader begins here, so
  // it shares no cache line with what each commit changes.
  alignas(kCacheLineBytes) std::array<Link, kHeightMax> head_tower_{};
  alignas(kCacheLineBytes) Arena arena_;
  KeyIndex index_;
  std::shared_ptr<WriteBudget> budget_;
  std::uint64_t charged_bytes_ = 0;  // to the budget
  std::uint64_t reservations_ = 0;
  std::atomic<std::uint64_t> entry_count_{0};
  std::atomic<std::uint64_t> delete_count_{0};
  std::atomic<std::uint64_t> large_value_bytes_{0};
};

}  // namespace varve::engine
