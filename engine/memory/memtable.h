// Owns: in memory and in key order, the commits since the preceding memtable was sealed.
// Must never: change a published entry, lose count of its memory, or let a reader take a lock.
//
// M1  An entry reachable at level 0 is complete: its key, value and tower were written before the link
//     (release/acquire).
// M2  Internal keys are unique. Within one sort key the newest version comes first.
// M3  Only reserve() takes memory, before a version is assigned. insert() allocates nothing and cannot fail.
//
// A memtable is a skiplist in an arena. A tower has at most 12 links, and one entry in four reaches the next level. An
// entry consists of its tower, sizes, internal key and value; a large value also has its place in the log. A newer entry
// of a key leads to the key's oldest one, so that a scan passes a key with thousands of versions in a few steps. An
// index by hash serves look-ups of one key. Source: W. Pugh, "Skip Lists: A Probabilistic Alternative to Balanced
// Trees".
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

/// The memory that a batch needs in the memtable. The batch's owner computes it before the batch joins a group.
struct MemtableDemand {
  std::uint32_t entry_count = 0;
  /// Deletes among these entries.
  std::uint32_t delete_count = 0;
  /// Bytes of all entries without their towers, each rounded up to 8.
  std::uint64_t entry_bytes = 0;
  /// Operations that add no entry (retire, adopt).
  std::uint32_t other_count = 0;
  /// Entries with an end or an age, and those with an age, which becomes an end when the commit gets its version.
  std::uint32_t expiring_count = 0;
  std::uint32_t age_count = 0;
};

struct MemtableNode;

class Memtable {
 public:
  Memtable() noexcept = default;
  ~Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// Reads the whole batch and returns its demand. Puts and deletes are entries; retire and adopt take no memory here.
  /// `ends` says whether the batch may have ages.
  /// Errors: as BatchReader, and kTooLarge (a batch of 4 GiB or more: an entry counts its bytes in 32 bits).
  static Result<MemtableDemand> demand_of(std::string_view batch, format::EndForms ends = format::EndForms::kEnds);
  /// Does the same with a batch that was opened, and has less than 4 GiB.
  static Result<MemtableDemand> demand_of(format::BatchReader reader);

  /// Room for one batch, which insert() fills.
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

  /// Takes memory for one batch. Called by one thread at a time (the leader of a commit group). A demand without
  /// entries takes no memory and always succeeds. `promised` bytes of the budget belong to the batch already; reserve()
  /// gives back those that the batch does not need.
  /// Errors: kNoSpace (the budget is used up; the message names it), kOutOfMemory. After an error nothing has changed.
  Result<Reservation> reserve(const MemtableDemand& demand, BudgetPart part = BudgetPart::kCommon,
                              std::uint64_t promised = 0);
  /// Returns the bytes that reserve() would take from the budget: here and now, or in an empty memtable.
  std::uint64_t needed_bytes(const MemtableDemand& demand) const noexcept;
  static std::uint64_t needed_bytes_at_first(const MemtableDemand& demand) noexcept;

  /// Adds the puts and deletes of a batch that demand_of() accepted. No other batch has this `version`. `in_log` is the
  /// batch's place in the log. Any number of threads may insert at once, beside any number of readers. A finger
  /// remembers the position of the preceding key. So for a batch in key order, or nearly so, each key costs the
  /// logarithm of its distance from that position.
  void insert(const Reservation& reservation, std::string_view batch, CommitVersion version,
              LogPlace in_log = LogPlace()) noexcept;

  /// Largest number of search paths that fetch_ways() prefetches together.
  static constexpr std::size_t kWaysMax = 8;
  /// Prefetches the nodes that insert() reads on its way to the first key of each batch. There are at most kWaysMax
  /// batches. A single search waits for memory at each step; several searches wait at the same time. Changes nothing.
  void fetch_ways(std::span<const std::string_view> batches) const noexcept;

  /// Returns the hash that the look-ups below need; it is equal in all memtables. It is format::content_hash(), which
  /// table files need too.
  static std::uint64_t hash_of(std::string_view sort_key) noexcept { return KeyIndex::hash_of(sort_key); }
  /// Prefetches the first memory that find() reads, while the caller does something else.
  void prefetch(std::uint64_t hash) const noexcept { index_.prefetch(hash); }
  /// Returns the newest entry of the key at a version up to `at_most`. The entry is valid as long as the memtable.
  std::optional<Entry> find(std::string_view sort_key, std::uint64_t hash, CommitVersion at_most) const noexcept;
  std::optional<Entry> find(std::string_view sort_key, CommitVersion at_most) const noexcept {
    return find(sort_key, hash_of(sort_key), at_most);
  }

  /// A position in the order of internal keys. Each call that moves the cursor sees every entry inserted before that
  /// call.
  class Cursor {
   public:
    explicit Cursor(const Memtable& memtable) noexcept : memtable_(&memtable) {}
    bool valid() const noexcept { return node_ != nullptr; }
    Entry entry() const noexcept;
    /// Returns the value's place in the log, if the value is large and its place is known.
    LogPlace log_place() const noexcept;
    /// Moves to the first entry at or after the pair (sort key, version); newer versions come first.
    void seek(std::string_view sort_key, CommitVersion at_most) noexcept;
    /// Moves to the last entry whose sort key is below the given one.
    void seek_before(std::string_view sort_key) noexcept;
    void seek_to_first() noexcept;
    void seek_to_last() noexcept;
    void next() noexcept;
    void previous() noexcept;
    /// Moves past all entries of the present entry's key, which is `sort_key`. Returns the number of entries that it
    /// read. That is two or three, however many the key has, unless threads inserted them out of order.
    std::uint64_t pass_key(std::string_view sort_key) noexcept;

   private:
    friend class Memtable;
    const Memtable* memtable_;
    const MemtableNode* node_ = nullptr;
  };

  /// Returns at least `count` entries that lie about evenly among all entries, in their order, or all entries if they are
  /// fewer. Returns about four times `count` at most. The entries are valid as long as the memtable. Throws
  /// std::bad_alloc.
  std::vector<Entry> spread_entries(std::size_t count) const;

  std::uint64_t entry_count() const noexcept { return entry_count_.load(std::memory_order_relaxed); }
  std::uint64_t delete_count() const noexcept { return delete_count_.load(std::memory_order_relaxed); }
  /// Returns the bytes of values that may stay in the log (kExternalValueBytesMin).
  std::uint64_t large_value_bytes() const noexcept { return large_value_bytes_.load(std::memory_order_relaxed); }
  /// Return the bytes taken by reserve(), and the bytes held from the system for them.
  std::uint64_t used_bytes() const noexcept { return arena_.used_bytes() + index_.bytes(); }
  std::uint64_t allocated_bytes() const noexcept { return arena_.allocated_bytes() + index_.bytes(); }
  /// Charges memory to `budget` from now on, including the memory held already. The destructor gives all of it back.
  /// Recovery fills a memtable without a bound, since it must hold every accepted write. It joins the budget before the
  /// first commit.
  void join(std::shared_ptr<WriteBudget> budget) noexcept;

  /// Asserts M2, that each level is a part of the level below, and that the index has the newest entry of each key.
  /// Reads every entry. No thread may insert meanwhile.
  void check_invariants() const noexcept;

 private:
  static constexpr std::size_t kHeightMax = 12;
  using Link = std::atomic<MemtableNode*>;

  class Finger;
  struct Gap {
    const MemtableNode* before;  // the head if there is no entry before
    const MemtableNode* after;   // null if there is no entry after
  };

  /// Returns the bytes of the entries with their towers, whose heights follow from the seed.
  static std::uint64_t piece_bytes(const MemtableDemand& demand, std::uint64_t tower_seed) noexcept;
  MemtableNode* head() noexcept;
  const MemtableNode* head() const noexcept;
  /// Returns the gap between the last entry before (sort_key, version) and the first entry not before it.
  Gap find_gap(std::string_view sort_key, CommitVersion version) const noexcept;

  static constexpr std::size_t kCacheLineBytes = 64;

  // The head is a tower without an entry. As in an entry, the link of level 0 comes last. Every reader begins at the
  // head, so it shares no cache line with fields that each commit changes.
  alignas(kCacheLineBytes) std::array<Link, kHeightMax> head_tower_{};
  alignas(kCacheLineBytes) Arena arena_;
  KeyIndex index_;
  std::shared_ptr<WriteBudget> budget_;
  std::uint64_t charged_bytes_ = 0;  // bytes charged to the budget
  std::uint64_t reservations_ = 0;
  std::atomic<std::uint64_t> entry_count_{0};
  std::atomic<std::uint64_t> delete_count_{0};
  std::atomic<std::uint64_t> large_value_bytes_{0};
};

}  // namespace varve::engine
