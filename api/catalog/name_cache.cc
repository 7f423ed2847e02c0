// Owns: the names in use and their current table ids (name_cache.h).
// Must never: do I/O or wait while it holds a mutex.
#include "api/catalog/name_cache.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

namespace varve {
namespace {

// When an entry is added to a shard with many, this many others are examined, in at most this many buckets. They are
// constants, so that adding costs the same for every size of the cache.
constexpr int kLookedAtMax = 8;
constexpr int kBucketsMax = 64;

}  // namespace

NameCache::NameCache(io::Scheduler& scheduler) {
  for (std::unique_ptr<Shard>& shard : shards_) shard = std::make_unique<Shard>(scheduler);
}

std::size_t NameCache::hash_of(const Name& name) noexcept {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  const std::hash<std::string_view> hash;
  return (hash(name.account) * kOdd) ^ hash(name.lower_name);
}

std::shared_ptr<NameEntry> NameCache::find_or_add(std::string_view account, std::string_view lower_name) {
  const Name name{account, lower_name};
  Shard& shard = shard_of(name);
  const io::MutexGuard guard(shard.mutex);
  return find_or_add_locked(shard, name);
}

NameCache::EntryPtr NameCache::find_or_add_locked(Shard& shard, const Name& name) {
  const auto found = shard.entries.find(name);
  if (found != shard.entries.end()) return *found;
  auto entry = std::make_shared<NameEntry>(name.account, name.lower_name);
  entry->drops_under_way_ = static_cast<std::uint32_t>(
      std::count(shard.dropping_accounts.begin(), shard.dropping_accounts.end(), name.account));
  shard.entries.insert(entry);
  if (shard.entries.size() >= kUnusedEntriesMax / kShards) let_some_go(shard);
  return entry;
}

void NameCache::let_some_go(Shard& shard) noexcept {
  auto& entries = shard.entries;
  int looked_at = 0;
  for (int buckets = 0; buckets < kBucketsMax && looked_at < kLookedAtMax; ++buckets) {
    const std::size_t bucket = shard.hand++ % entries.bucket_count();
    for (auto at = entries.begin(bucket); at != entries.end(bucket);) {
      const EntryPtr& entry = *at++;
      ++looked_at;
      // A caller gets an entry only here, under the mutex. So if only the set uses an entry, no caller can get it now
      // (N2).
      if (entry.use_count() == 1) entries.erase(entries.find(name_of(entry)));
    }
  }
}

std::uint64_t NameCache::begin_lookup(const NameEntry& entry) const {
  const io::MutexGuard guard(shard_of(entry).mutex);
  return entry.drop_marks_;
}

void NameCache::enter(NameEntry& entry, std::uint64_t lookup, format::TableId id, TableRules rules) noexcept {
  const io::MutexGuard guard(shard_of(entry).mutex);
  if (entry.drops_under_way_ > 0 || entry.drop_marks_ != lookup) return;  // N3
  entry.has_rules_.store(rules.expiry != nullptr || rules.indexes != nullptr, std::memory_order_relaxed);
  entry.rules_ = std::move(rules);
  entry.live_id_.store(id, std::memory_order_release);
}

TableRules NameCache::rules_of(const NameEntry& entry) const {
  const io::MutexGuard guard(shard_of(entry).mutex);
  return entry.rules_;
}

std::optional<TableRules> NameCache::rules_at(const NameEntry& entry, format::TableId id,
                                              format::CommitVersion version) const {
  const io::MutexGuard guard(shard_of(entry).mutex);
  if (entry.live_id() != id || entry.rules_.read_at > version) return std::nullopt;
  return entry.rules_;
}

void NameCache::begin_drop(NameEntry& entry) noexcept {
  ++entry.drop_marks_;
  ++entry.drops_under_way_;
  entry.live_id_.store(0, std::memory_order_release);
}

void NameCache::end_drop(NameEntry& entry) noexcept {
  assert(entry.drops_under_way_ > 0);
  ++entry.drop_marks_;
  --entry.drops_under_way_;
}

NameCache::DropMark::DropMark(NameCache& cache, std::string account, std::shared_ptr<NameEntry> table) noexcept
    : cache_(cache), account_(std::move(account)), table_(std::move(table)) {}

/// If memory ends in begin(), the destructor ends the drop in the shards where it has begun.
NameCache::DropMark::DropMark(NameCache& cache, std::string account) : DropMark(cache, std::move(account), nullptr) {
  cache_.begin(*this);
}

NameCache::DropMark::~DropMark() {
  cache_.end(*this);
}

NameCache::DropMark NameCache::mark_table_drop(std::string_view account, std::string_view lower_name) {
  std::string owner(account);
  const Name name{account, lower_name};
  Shard& shard = shard_of(name);
  const io::MutexGuard guard(shard.mutex);
  EntryPtr entry = find_or_add_locked(shard, name);
  begin_drop(*entry);
  return DropMark(*this, std::move(owner), std::move(entry));
}

NameCache::DropMark NameCache::mark_account_drop(std::string_view account) {
  return DropMark(*this, std::string(account));
}

void NameCache::begin(DropMark& mark) {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const io::MutexGuard guard(shard->mutex);
    shard->dropping_accounts.push_back(mark.account_);
    ++mark.shards_;
    for (const EntryPtr& entry : shard->entries) {
      if (entry->account_ == mark.account_) begin_drop(*entry);
    }
  }
}

void NameCache::end(const DropMark& mark) noexcept {
  if (mark.table_) {
    const io::MutexGuard guard(shard_of(*mark.table_).mutex);
    return end_drop(*mark.table_);
  }
  for (std::size_t i = 0; i < mark.shards_; ++i) {
    Shard& shard = *shards_[i];
    const io::MutexGuard guard(shard.mutex);
    const auto dropping = std::find(shard.dropping_accounts.begin(), shard.dropping_accounts.end(), mark.account_);
    assert(dropping != shard.dropping_accounts.end());
    shard.dropping_accounts.erase(dropping);
    for (const EntryPtr& entry : shard.entries) {
      if (entry->account_ == mark.account_) end_drop(*entry);
    }
  }
}

std::size_t NameCache::size() const noexcept {
  std::size_t entries = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const io::MutexGuard guard(shard->mutex);
    entries += shard->entries.size();
  }
  return entries;
}

}  // namespace varve
