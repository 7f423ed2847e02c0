// Owns: the current table id of each name in use, so that a verb need not read the catalog.
// Must never: report a table as live after its drop was published.
//
// N1  live_id() of an entry is zero ("ask the catalog"), or the id of a table that was live when the call began.
// N2  For each name, at most one entry can be reached by any caller.
// N3  An id is entered only if no drop of the name was running at any time since before its row was read.
//
// A drop removes the id before its commit, and keeps it out until the commit is published or refused. So if a reader
// loads the same id before and after it makes its view, that id was the name's table in the view. If a drop overtakes a
// commit that uses the id, the engine refuses the commit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/sort_key.h"
#include "io/scheduler.h"

namespace varve {

/// The cache entry of one name, whatever tables it names over time. Any thread.
class NameEntry {
 public:
  format::TableId live_id() const noexcept { return live_id_.load(std::memory_order_acquire); }

 private:
  friend class NameCache;
  std::atomic<format::TableId> live_id_{0};
  // The next two are protected by the cache's mutex.
  std::uint64_t drop_marks_ = 0;  // drops begun, plus drops ended
  std::uint32_t drops_under_way_ = 0;
};

/// Any thread.
class NameCache {
 public:
  explicit NameCache(io::Scheduler& scheduler);

  /// Returns the name's entry, which it creates if necessary. If there are many entries, it frees some that nothing
  /// else uses.
  std::shared_ptr<NameEntry> find_or_add(std::string_view account, std::string_view lower_name);

  /// Starts a lookup. Call it before making the view in which the name's row is read; then call enter() with the id
  /// found.
  std::uint64_t begin_lookup(const NameEntry& entry) const;
  void enter(NameEntry& entry, std::uint64_t lookup, format::TableId id) noexcept;

  /// Exists from before the commit of a drop until the commit is published or refused.
  class DropMark {
   public:
    ~DropMark();
    DropMark(const DropMark&) = delete;
    DropMark& operator=(const DropMark&) = delete;

   private:
    friend class NameCache;
    DropMark(NameCache& cache, std::string account, std::shared_ptr<NameEntry> table) noexcept;
    NameCache& cache_;
    std::string account_;
    std::shared_ptr<NameEntry> table_;  // null for the drop of a whole account
  };
  DropMark mark_table_drop(std::string_view account, std::string_view lower_name);
  DropMark mark_account_drop(std::string_view account);

  std::size_t size() const noexcept;
  static constexpr std::size_t kUnusedEntriesMax = 4096;

 private:
  using Entries = std::map<std::string, std::shared_ptr<NameEntry>, std::less<>>;

  std::shared_ptr<NameEntry> find_or_add_locked(std::string_view account, std::string_view lower_name)
      VARVE_REQUIRES(mutex_);
  void let_some_go() noexcept VARVE_REQUIRES(mutex_);
  static void begin_drop(NameEntry& entry) noexcept;
  static void end_drop(NameEntry& entry) noexcept;
  void end(const DropMark& mark) noexcept;

  mutable io::Mutex mutex_;
  /// Keyed by account and lower-case name, with a separator that sorts below every character of both.
  Entries entries_ VARVE_GUARDED_BY(mutex_);
  /// The key at which let_some_go() continues. Has capacity for the longest key.
  std::string hand_ VARVE_GUARDED_BY(mutex_);
  /// The accounts that are being dropped, one entry for each drop.
  std::vector<std::string> dropping_accounts_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
