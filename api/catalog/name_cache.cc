// Owns: the names in use and their current table ids (name_cache.h).
// Must never: do I/O or wait while it holds its mutex.
#include "api/catalog/name_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "varve/limits.h"

namespace varve {
namespace {

constexpr char kNameSeparator = '\0';
/// Entries examined when one is added. It is a constant, so that adding costs the same for every size of the cache.
constexpr int kLookedAtMax = 8;

std::string account_prefix(std::string_view account) {
  return std::string(account).append(1, kNameSeparator);
}

}  // namespace

NameCache::NameCache(io::Scheduler& scheduler) : mutex_(scheduler) {
  hand_.reserve(limits::kAccountNameCharactersMax + 1 + limits::kTableNameCharactersMax);
}

std::shared_ptr<NameEntry> NameCache::find_or_add(std::string_view account, std::string_view lower_name) {
  const io::MutexGuard guard(mutex_);
  return find_or_add_locked(account, lower_name);
}

std::shared_ptr<NameEntry> NameCache::find_or_add_locked(std::string_view account, std::string_view lower_name) {
  std::string key = account_prefix(account).append(lower_name);
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  auto entry = std::make_shared<NameEntry>();
  entry->drops_under_way_ =
      static_cast<std::uint32_t>(std::count(dropping_accounts_.begin(), dropping_accounts_.end(), account));
  entries_.emplace(std::move(key), entry);
  if (entries_.size() > kUnusedEntriesMax) let_some_go();
  return entry;
}

void NameCache::let_some_go() noexcept {
  auto at = entries_.upper_bound(hand_);
  for (int i = 0; i < kLookedAtMax && !entries_.empty(); ++i) {
    if (at == entries_.end()) at = entries_.begin();
    // A caller gets an entry only here, under the mutex. So if only the map uses an entry, no caller can get it now
    // (N2).
    at = at->second.use_count() == 1 ? entries_.erase(at) : std::next(at);
  }
  if (at == entries_.end()) {
    hand_.clear();
  } else {
    assert(at->first.size() <= hand_.capacity());  // Nothing is allocated here.
    hand_.assign(at->first);
  }
}

std::uint64_t NameCache::begin_lookup(const NameEntry& entry) const {
  const io::MutexGuard guard(mutex_);
  return entry.drop_marks_;
}

void NameCache::enter(NameEntry& entry, std::uint64_t lookup, format::TableId id) noexcept {
  const io::MutexGuard guard(mutex_);
  if (entry.drops_under_way_ > 0 || entry.drop_marks_ != lookup) return;  // N3
  entry.live_id_.store(id, std::memory_order_release);
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

NameCache::DropMark::~DropMark() {
  cache_.end(*this);
}

NameCache::DropMark NameCache::mark_table_drop(std::string_view account, std::string_view lower_name) {
  std::string owner(account);
  const io::MutexGuard guard(mutex_);
  std::shared_ptr<NameEntry> entry = find_or_add_locked(account, lower_name);
  begin_drop(*entry);
  return DropMark(*this, std::move(owner), std::move(entry));
}

NameCache::DropMark NameCache::mark_account_drop(std::string_view account) {
  std::string owner(account);
  const std::string prefix = account_prefix(account);
  const io::MutexGuard guard(mutex_);
  dropping_accounts_.emplace_back(account);
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix); ++at) {
    begin_drop(*at->second);
  }
  return DropMark(*this, std::move(owner), nullptr);
}

void NameCache::end(const DropMark& mark) noexcept {
  const io::MutexGuard guard(mutex_);
  if (mark.table_) return end_drop(*mark.table_);
  const std::string_view account = mark.account_;
  const auto dropping = std::find(dropping_accounts_.begin(), dropping_accounts_.end(), account);
  assert(dropping != dropping_accounts_.end());
  dropping_accounts_.erase(dropping);
  for (auto at = entries_.lower_bound(account); at != entries_.end(); ++at) {
    const std::string_view key = at->first;
    if (!key.starts_with(account) || key[account.size()] != kNameSeparator) break;
    end_drop(*at->second);
  }
}

std::size_t NameCache::size() const noexcept {
  const io::MutexGuard guard(mutex_);
  return entries_.size();
}

}  // namespace varve
