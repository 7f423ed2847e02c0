// Owns: which table id a name means now, for names that are in use, so that a verb need not read the catalog.
// Must never: call a table live that a published drop has ended.
//
// N1  live_id() of an entry is zero ("ask the catalog"), or the id of a table that was live when the load began.
// N2  of each name there is at most one entry that anybody can reach.
// N3  an id is entered only if no drop that concerns the name was under way at any time since before its row was read.
//
// A drop takes the id out before its commit and keeps it out until the commit is published or refused. So a reader that
// loads the same id before and after it makes its view reads a view in which that id was the name's table; and a commit
// by an id that a drop overtakes is refused by the engine.
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

/// Of one name, whatever tables it means in turn. Any thread.
class NameEntry {
 public:
  format::TableId live_id() const noexcept { return live_id_.load(std::memory_order_acquire); }

 private:
  friend class NameCache;
  std::atomic<format::TableId> live_id_{0};
  // Under the cache's mutex.
  std::uint64_t drop_marks_ = 0;  // drops begun and drops ended
  std::uint32_t drops_under_way_ = 0;
};

/// Any thread.
class NameCache {
 public:
  explicit NameCache(io::Scheduler& scheduler);

  /// The name's entry, made if need be. Entries that nobody else holds are let go when there are many.
  std::shared_ptr<NameEntry> find_or_add(std::string_view account, std::string_view lower_name);

  /// Call before the view is made in which the name's row is read; then enter() with what was found.
  std::uint64_t begin_lookup(const NameEntry& entry) const;
  void enter(NameEntry& entry, std::uint64_t lookup, format::TableId id) noexcept;

  /// From before the commit of a drop until it is published or refused.
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
    std::shared_ptr<NameEntry> table_;  // null when it is the whole account
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
  /// By account and lower-case name with a separator that sorts below all they hold.
  Entries entries_ VARVE_GUARDED_BY(mutex_);
  /// Where let_some_go() goes on. Has room for the longest key.
  std::string hand_ VARVE_GUARDED_BY(mutex_);
  /// Accounts whose drop is under way, once for each drop.
  std::vector<std::string> dropping_accounts_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
