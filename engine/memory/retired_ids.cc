// Owns: the table of dropped ids in memory.
// Must never: be more than half full, since a search might not end.

#include "engine/memory/retired_ids.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "format/bytes/bytes.h"

namespace varve::engine {

namespace {

constexpr std::size_t kAccountPrefixBytes = 4;
constexpr std::size_t kCapacityMin = 16;

std::uint64_t mixed(std::uint64_t id) noexcept {
  // Ids come from counters, so their low bits alone would crowd together.
  const std::uint64_t product = id * 0x9E3779B97F4A7C15u;
  return product ^ (product >> 32);
}

}  // namespace

Status RetiredIds::reserve(std::size_t count) {
  if (count > std::numeric_limits<std::size_t>::max() / 4 - count_) return Status::out_of_memory();
  const std::size_t needed = 2 * (count_ + count);
  if (needed <= entries_.size()) return Status();
  std::size_t capacity = std::max(kCapacityMin, entries_.size());
  while (capacity < needed) capacity *= 2;

  std::vector<Entry> larger;
  try {
    larger.resize(capacity);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  const std::vector<Entry> old = std::exchange(entries_, std::move(larger));
  for (const Entry& entry : old) {
    if (entry.version != 0) entries_[place_of(entry.id, entry.account)] = entry;
  }
  return Status();
}

void RetiredIds::add(std::string_view prefix, CommitVersion drop_version) noexcept {
  assert(prefix.size() == kAccountPrefixBytes || prefix.size() == format::kTableIdBytes);
  assert(drop_version != 0);
  assert(2 * (count_ + 1) <= entries_.size());  // Reserved.
  const bool account = prefix.size() == kAccountPrefixBytes;
  const std::uint64_t id =
      account ? format::load_u32_big_endian(prefix.data()) : format::load_u64_big_endian(prefix.data());

  Entry& entry = entries_[place_of(id, account)];
  if (entry.version != 0) {
    entry.version = std::min(entry.version, drop_version);
    return;
  }
  entry = {id, drop_version, account};
  ++count_;
}

Status RetiredIds::forget(std::span<const std::string> prefixes) {
  try {
    std::vector<Stretch> forgotten = forgotten_;
    std::vector<bool> is_gone(entries_.size());
    std::vector<Entry> left(entries_.size());
    for (const std::string& prefix : prefixes) {
      assert(prefix.size() == kAccountPrefixBytes || prefix.size() == format::kTableIdBytes);
      if (count_ == 0) break;
      const bool account = prefix.size() == kAccountPrefixBytes;
      const std::uint64_t id =
          account ? format::load_u32_big_endian(prefix.data()) : format::load_u64_big_endian(prefix.data());
      const std::size_t place = place_of(id, account);
      const Entry& entry = entries_[place];
      if (entry.version == 0 || is_gone[place]) continue;
      is_gone[place] = true;
      const TableId first = account ? format::make_table_id(static_cast<std::uint32_t>(id), 0) : id;
      const TableId last = account ? first | std::numeric_limits<std::uint32_t>::max() : id;
      forgotten.push_back({first, last, entry.version});
    }
    join(forgotten);
    // Nothing can fail from here on.
    forgotten_ = std::move(forgotten);
    std::swap(entries_, left);  // The new places are all free; `left` now has the old entries.
    count_ = 0;
    for (std::size_t place = 0; place < left.size(); ++place) {
      const Entry& entry = left[place];
      if (entry.version == 0 || is_gone[place]) continue;
      entries_[place_of(entry.id, entry.account)] = entry;
      ++count_;
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  return Status();
}

/// Sorts the stretches and joins those that overlap or are adjacent.
void RetiredIds::join(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& left, const Stretch& right) { return left.first < right.first; });
  std::size_t count = 0;
  for (const Stretch& stretch : stretches) {
    const bool meets =
        count > 0 && (stretch.first <= stretches[count - 1].last || stretch.first - 1 == stretches[count - 1].last);
    if (!meets) {
      stretches[count++] = stretch;
      continue;
    }
    Stretch& before = stretches[count - 1];
    before.last = std::max(before.last, stretch.last);
    before.version = std::max(before.version, stretch.version);
  }
  stretches.resize(count);
}

std::optional<CommitVersion> RetiredIds::forgotten_at(TableId table) const noexcept {
  const auto ends_before = [](const Stretch& stretch, TableId id) { return stretch.last < id; };
  const auto found = std::lower_bound(forgotten_.begin(), forgotten_.end(), table, ends_before);
  if (found == forgotten_.end() || table < found->first) return std::nullopt;
  return found->version;
}

std::optional<CommitVersion> RetiredIds::dropped_at(TableId table) const noexcept {
  if (!forgotten_.empty()) {
    if (const std::optional<CommitVersion> version = forgotten_at(table)) return version;
  }
  if (count_ == 0) return std::nullopt;
  const CommitVersion own = entries_[place_of(table, false)].version;
  const CommitVersion of_account = entries_[place_of(format::account_of(table), true)].version;
  if (own == 0 && of_account == 0) return std::nullopt;
  if (own == 0) return of_account;
  if (of_account == 0) return own;
  return std::min(own, of_account);
}

std::vector<format::DeadId> RetiredIds::list() const {
  std::vector<format::DeadId> ids;
  ids.reserve(count_);
  for (const Entry& entry : entries_) {
    if (entry.version == 0) continue;
    format::DeadId& dead = ids.emplace_back();
    dead.drop_version = entry.version;
    dead.prefix.resize(entry.account ? kAccountPrefixBytes : format::kTableIdBytes);
    if (entry.account) {
      format::store_u32_big_endian(dead.prefix.data(), static_cast<std::uint32_t>(entry.id));
    } else {
      format::store_u64_big_endian(dead.prefix.data(), entry.id);
    }
  }
  return ids;
}

/// Returns the place of the id, or the free place for it. A free place exists, since at most half of them are taken.
std::size_t RetiredIds::place_of(std::uint64_t id, bool account) const noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t place = static_cast<std::size_t>(mixed(id)) & mask;
  while (entries_[place].version != 0 && (entries_[place].id != id || entries_[place].account != account)) {
    place = (place + 1) & mask;
  }
  return place;
}

}  // namespace varve::engine
