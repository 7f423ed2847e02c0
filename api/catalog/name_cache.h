// Owns: the current table id of each name in use, the rule by which its entities end, and its indexes, so that a verb
// need not read the catalog.
// Must never: report a table as live after its drop was published.
//
// N1  live_id() of an entry is zero ("ask the catalog"), or the id of a table that was live when the call began.
// N2  For each name, at most one entry can be reached by any caller.
// N3  An id is entered only if no drop of the name was running at any time since before its row was read.
//
// A drop removes the id before its commit, and keeps it out until the commit is published or refused. So if a reader
// loads the same id before and after it makes its view, that id was the name's table in the view. If a drop overtakes a
// commit that uses the id, the engine refuses the commit.
//
// A server looks up a name for every request. So the entries are divided among shards by their names, and a lookup takes
// the mutex of one shard, allocates nothing, and copies no text.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/catalog/index_rows.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "io/scheduler.h"
#include "varve/table_expiry.h"

namespace varve {

/// What a table's row asks of its writers. Each may be null.
struct TableRules {
  std::shared_ptr<const TableExpiry> expiry{};
  std::shared_ptr<const TableIndexes> indexes{};
  /// The version of the view in which the row was read.
  format::CommitVersion read_at = 0;
};

/// The cache entry of one name, whatever tables it names over time. Any thread.
class NameEntry {
 public:
  NameEntry(std::string_view account, std::string_view lower_name) : account_(account), lower_name_(lower_name) {}
  format::TableId live_id() const noexcept { return live_id_.load(std::memory_order_acquire); }
  /// Returns whether NameCache::rules_of() may have a rule for the table that live_id() returned before.
  bool has_rules() const noexcept { return has_rules_.load(std::memory_order_relaxed); }

 private:
  friend class NameCache;
  const std::string account_;
  const std::string lower_name_;
  std::atomic<format::TableId> live_id_{0};
  std::atomic<bool> has_rules_{false};  // written before live_id_
  // The next three are protected by the mutex of the name's shard.
  std::uint64_t drop_marks_ = 0;  // drops begun, plus drops ended
  std::uint32_t drops_under_way_ = 0;
  TableRules rules_;
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
  void enter(NameEntry& entry, std::uint64_t lookup, format::TableId id, TableRules rules = {}) noexcept;
  /// Returns the rules that were entered with the id.
  TableRules rules_of(const NameEntry& entry) const;
  /// Returns the rules that the table `id` has in a view of this version, which was made before. Returns nothing if the
  /// entry does not say. No change of a rule was published since the row was read: it would have removed the id.
  std::optional<TableRules> rules_at(const NameEntry& entry, format::TableId id, format::CommitVersion version) const;

  /// Exists from before the commit of a drop until the commit is published or refused. A change of the table's rules is
  /// marked like a drop.
  class DropMark {
   public:
    ~DropMark();
    DropMark(const DropMark&) = delete;
    DropMark& operator=(const DropMark&) = delete;

   private:
    friend class NameCache;
    DropMark(NameCache& cache, std::string account, std::shared_ptr<NameEntry> table) noexcept;
    DropMark(NameCache& cache, std::string account);
    NameCache& cache_;
    std::string account_;
    std::shared_ptr<NameEntry> table_;  // null for the drop of a whole account
    std::size_t shards_ = 0;            // in which the account is marked
  };
  DropMark mark_table_drop(std::string_view account, std::string_view lower_name);
  DropMark mark_account_drop(std::string_view account);

  std::size_t size() const noexcept;
  static constexpr std::size_t kUnusedEntriesMax = 4096;

 private:
  static constexpr std::size_t kShards = 16;

  struct Name {
    std::string_view account;
    std::string_view lower_name;
    bool operator==(const Name&) const = default;
  };
  using EntryPtr = std::shared_ptr<NameEntry>;
  static Name name_of(const Name& name) noexcept { return name; }
  static Name name_of(const EntryPtr& entry) noexcept { return {entry->account_, entry->lower_name_}; }
  static std::size_t hash_of(const Name& name) noexcept;
  // Let an entry be found by its name.
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    template <typename Named>
    std::size_t operator()(const Named& named) const noexcept {
      return hash_of(name_of(named));
    }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    template <typename Left, typename Right>
    bool operator()(const Left& left, const Right& right) const noexcept {
      return name_of(left) == name_of(right);
    }
  };

  struct Shard {
    explicit Shard(io::Scheduler& scheduler) : mutex(scheduler) {}
    mutable io::Mutex mutex;
    std::unordered_set<EntryPtr, Hash, Equal> entries VARVE_GUARDED_BY(mutex);
    /// The bucket at which let_some_go() continues.
    std::size_t hand VARVE_GUARDED_BY(mutex) = 0;
    /// The accounts that are being dropped, one entry for each drop.
    std::vector<std::string> dropping_accounts VARVE_GUARDED_BY(mutex);
  };

  Shard& shard_of(const Name& name) const noexcept { return *shards_[hash_of(name) / 2 % kShards]; }
  Shard& shard_of(const NameEntry& entry) const noexcept { return shard_of(Name{entry.account_, entry.lower_name_}); }
  static EntryPtr find_or_add_locked(Shard& shard, const Name& name) VARVE_REQUIRES(shard.mutex);
  static void let_some_go(Shard& shard) noexcept VARVE_REQUIRES(shard.mutex);
  static void begin_drop(NameEntry& entry) noexcept;
  static void end_drop(NameEntry& entry) noexcept;
  void begin(DropMark& mark);
  void end(const DropMark& mark) noexcept;

  std::array<std::unique_ptr<Shard>, kShards> shards_;
};

}  // namespace varve
