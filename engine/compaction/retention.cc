// Owns: the decision about each entry (retention.h).
// Must never: remember anything of a key except where its last entry was shown.
#include "engine/compaction/retention.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "format/keys/sort_key.h"

namespace varve::engine {

Retention::Retention(std::vector<CommitVersion> horizon, const DeadRanges& dead, NothingBelow nothing_below,
                     CommitVersion ended_for_all)
    : horizon_(std::move(horizon)),
      dead_(dead),
      nothing_below_(std::move(nothing_below)),
      ended_for_all_(ended_for_all) {
  assert(!horizon_.empty());
  assert(std::is_sorted(horizon_.begin(), horizon_.end()));
}

Retention::Fate Retention::judge(const Entry& entry) {
  const Fate fate = decide(entry);
  if (fate == Fate::kDropped) ++dropped_entries_;
  return fate;
}

Retention::Fate Retention::decide(const Entry& entry) {
  if (!has_key_ || key_ != entry.sort_key) begin_key(entry.sort_key);
  if (table_is_dropped_ || entry.version == last_version_) return Fate::kDropped;
  last_version_ = entry.version;

  const std::size_t place = shown_at(entry.version);
  if (place == kAboveHorizon) return Fate::kKept;
  const bool hidden = place == last_place_;
  last_place_ = place;
  if (hidden) return Fate::kDropped;
  const bool is_delete = entry.kind == Kind::kDelete;
  if (!is_delete && !has_ended(entry)) return Fate::kKept;
  // At the lowest version, no older entry of the key is kept. If there is nothing below either, the delete hides
  // nothing.
  if (place == 0 && nothing_below_(entry.sort_key)) return Fate::kDropped;
  return is_delete ? Fate::kKept : Fate::kBecomesDelete;
}

/// Keeps a run in which each key has one put that has not ended: every version at or above a put shows that put.
Retention::RunFate Retention::judge_run(const format::RunEntry& run) {
  const format::TableId table = format::table_id_of(run.smallest_key);
  if (table != format::table_id_of(run.largest_key)) return RunFate::kUnknown;
  if (has_key_ && key_ == run.smallest_key) return RunFate::kUnknown;
  const bool dropped = dead_.holds(table);
  if (!dropped && (run.tombstone_count > 0 || run.repeated_count > 0)) return RunFate::kUnknown;
  if (!dropped && run.ends.count > 0 && run.ends.smallest <= ended_for_all_) return RunFate::kUnknown;
  if (dropped) dropped_entries_ += run.entry_count;
  return dropped ? RunFate::kDropped : RunFate::kKept;
}

void Retention::begin_key(std::string_view sort_key) {
  key_.assign(sort_key);
  has_key_ = true;
  last_version_ = 0;
  last_place_ = kAboveHorizon;
  const format::TableId table = format::table_id_of(sort_key);
  if (has_table_ && table == table_) return;
  table_ = table;
  has_table_ = true;
  table_is_dropped_ = dead_.holds(table);
}

std::size_t Retention::shown_at(CommitVersion version) const noexcept {
  const auto place = std::lower_bound(horizon_.begin(), horizon_.end(), version);
  return place == horizon_.end() ? kAboveHorizon : static_cast<std::size_t>(place - horizon_.begin());
}

}  // namespace varve::engine
