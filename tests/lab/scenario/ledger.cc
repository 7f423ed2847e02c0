#include "tests/lab/scenario/ledger.h"

#include <algorithm>
#include <utility>

namespace varve::lab {
namespace {

constexpr std::uint32_t kUnknownMax = 8;  // the limit for commits of one group; all combinations are tried

/// The order of a commit in doubt. Its log failed, so no later commit is acknowledged before the store is reopened.
/// Earlier commits may still be acknowledged afterwards.
constexpr std::uint64_t kAtTheEnd = UINT64_MAX;

}  // namespace

void Ledger::acknowledged(std::string what, VersionRange range, bool durable, Effect effect) {
  const std::uint64_t version = range.highest;
  const auto place = std::ranges::upper_bound(entries_, version, {}, &Entry::order);
  entries_.insert(place, {std::move(what), version, range.lowest, version, std::move(effect)});
  contents_.clear();
  mark_.acknowledged_version = std::max(mark_.acknowledged_version, version);
  mark_.highest_version = std::max(mark_.highest_version, version);
  if (durable) mark_.durable_version = std::max(mark_.durable_version, range.lowest);
}

void Ledger::unknown(std::string what, Effect effect) {
  entries_.push_back({std::move(what), 0, 0, kAtTheEnd, std::move(effect)});
}

void Ledger::all_durable() {
  mark_.durable_version = mark_.acknowledged_version;
}

void Ledger::power_failed() {
  mark_.acknowledged_version = mark_.durable_version;
}

bool Ledger::is_unknown(const Entry& entry, std::uint64_t version, const Mark& mark) {
  if (entry.decided_at != 0 && entry.decided_at <= mark.openings) return false;
  return entry.version == 0 || (entry.lowest <= version && version < entry.version);
}

void Ledger::opened(std::uint64_t version, const Content& found) {
  const std::uint32_t chosen = choice_for(version, mark_, found).value_or(0);
  const Mark before = mark_;
  ++mark_.openings;
  std::uint32_t number = 0;
  std::uint64_t order = version;
  for (Entry& entry : entries_) {
    if (entry.order == kAtTheEnd) entry.order = order;
    order = std::max(order, entry.order);
    if (is_unknown(entry, version, before)) {
      entry.is_there = (chosen >> number++ & 1) != 0;
      entry.decided_at = mark_.openings;
    } else if (entry.decided_at == 0 && entry.version > version) {
      entry.is_there = false;  // a power cut removed it
      entry.decided_at = mark_.openings;
    }
  }
  mark_.acknowledged_version = version;
  mark_.durable_version = version;
  mark_.highest_version = std::max(mark_.highest_version, version);
}

Content Ledger::replay(std::uint64_t version, const Mark& mark, std::uint32_t chosen) const {
  Content content;
  std::uint32_t number = 0;
  for (const Entry& entry : entries_) {
    bool is_there = entry.version <= version;
    if (is_unknown(entry, version, mark)) {
      is_there = (chosen >> number++ & 1) != 0;
    } else if (entry.decided_at != 0 && entry.decided_at <= mark.openings) {
      is_there = entry.is_there;
    }
    if (is_there) entry.effect(content, entry.version);
  }
  return content;
}

std::shared_ptr<const Content> Ledger::content_at(std::uint64_t version, const Mark& mark) const {
  const auto after = std::ranges::upper_bound(entries_, version, {}, &Entry::order);
  const std::uint64_t last = after == entries_.begin() ? 0 : std::prev(after)->order;
  std::shared_ptr<const Content>& content = contents_[{last, mark.openings}];
  if (!content) content = std::make_shared<const Content>(replay(version, mark, 0));
  return content;
}

std::vector<std::uint64_t> Ledger::versions_below(std::uint64_t version) const {
  std::vector<std::uint64_t> versions;
  for (const Entry& entry : entries_) {
    if (entry.version > 0 && entry.version < version) versions.push_back(entry.version);
  }
  std::ranges::sort(versions, std::greater<>());
  return versions;
}

std::optional<std::uint32_t> Ledger::choice_for(std::uint64_t version, const Mark& mark, const Content& found) const {
  if (difference(*content_at(version, mark), found).empty()) return 0;
  const auto unknown =
      std::ranges::count_if(entries_, [&](const Entry& entry) { return is_unknown(entry, version, mark); });
  if (unknown > kUnknownMax) return std::nullopt;
  for (std::uint32_t chosen = 1; chosen < 1U << unknown; ++chosen) {
    if (difference(replay(version, mark, chosen), found).empty()) return chosen;
  }
  return std::nullopt;
}

std::string Ledger::judge(const Mark& mark, bool killed, std::uint64_t version, const Content& found) const {
  const std::uint64_t promised = killed ? mark.acknowledged_version : mark.durable_version;
  if (version < promised) {
    std::string lost = "acknowledged and lost:";
    for (const Entry& entry : entries_) {
      if (entry.version > version && entry.version <= promised) lost += " " + entry.what + ";";
    }
    return lost;
  }
  if (choice_for(version, mark, found)) return {};
  return "no prefix of the commit order: " + difference(*content_at(version, mark), found);
}

}  // namespace varve::lab
