// Owns: changing tables and their sums together (table_map.h).
// Must never: walk over all tables.
#include "engine/manifest/table_map.h"

#include <cassert>
#include <memory>
#include <utility>

namespace varve::engine {

namespace {

void add_uses(const format::TableFileEntry& entry, SharedMap<ValueFileSum>& sums) {
  for (const format::ValueFileUse& use : entry.value_files) {
    const ValueFileSum* const known = sums.look_up(use.number);
    ValueFileSum sum = known == nullptr ? ValueFileSum() : *known;
    ++sum.tables;
    sum.bytes += use.bytes;
    sums.insert_or_assign(use.number, sum);
  }
}

void remove_uses(const format::TableFileEntry& entry, SharedMap<ValueFileSum>& sums) {
  for (const format::ValueFileUse& use : entry.value_files) {
    ValueFileSum sum = sums.at(use.number);
    --sum.tables;
    sum.bytes -= use.bytes;
    if (sum.tables > 0) {
      sums.insert_or_assign(use.number, sum);
    } else {
      sums.erase(use.number);
    }
  }
}

}  // namespace

bool TableMap::emplace(std::uint64_t number, format::TableFileEntry entry) {
  TableMap next = *this;
  add_uses(entry, next.value_sums_);
  if (!next.tables_.emplace(number, std::move(entry))) return false;
  *this = std::move(next);
  return true;
}

std::optional<std::uint64_t> TableMap::add(const std::vector<format::TableFileEntry>& entries) {
  TableMap next = *this;
  std::vector<Map::Entry> added;
  added.reserve(entries.size());
  for (const format::TableFileEntry& entry : entries) {
    added.push_back(std::make_shared<const Map::value_type>(entry.number, entry));
    add_uses(entry, next.value_sums_);
  }
  if (const auto twice = next.tables_.insert_all(std::move(added)); twice.has_value()) return twice;
  *this = std::move(next);
  return std::nullopt;
}

bool TableMap::erase(std::uint64_t number) {
  const format::TableFileEntry* const entry = look_up(number);
  if (entry == nullptr) return false;
  TableMap next = *this;
  remove_uses(*entry, next.value_sums_);
  next.tables_.erase(number);
  *this = std::move(next);
  return true;
}

bool TableMap::move(std::uint64_t number, std::uint32_t level) {
  const format::TableFileEntry* const entry = look_up(number);
  if (entry == nullptr) return false;
  format::TableFileEntry moved = *entry;
  moved.level = level;
  tables_.insert_or_assign(number, std::move(moved));
  return true;
}

}  // namespace varve::engine
