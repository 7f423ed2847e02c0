// Owns: which entries a rewrite keeps: those that some reader may still ask for.
// Must never: drop an entry that a held version, or a later one, would show, or that hides an older entry elsewhere.
//
// The horizon is the list of versions that readers may read at: the versions of snapshots, the version visible when the
// rewrite began, and all later ones. For each version of the horizon, a rewrite keeps the newest entry of a key at or
// below it. It also keeps each entry above the whole horizon. It keeps nothing else. It also drops a delete that hides
// nothing older, and all entries of a table that was dropped before the whole horizon.
//
// An entity that has ended for every reader is judged as a delete. If a delete would be dropped, it is dropped.
// Otherwise a delete takes its place, because an older version beneath it may have a later end, or none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"
#include "engine/levels/dead_ranges.h"
#include "format/table/table_entries.h"

namespace varve::engine {

class Retention {
 public:
  /// Returns whether no entry of the key can be anywhere below the rewrite's inputs. Called with keys in ascending
  /// order.
  using NothingBelow = std::function<bool(std::string_view sort_key)>;

  /// `horizon` is ascending and not empty. `dead` has the ids dropped at or below all of it, and outlives this object.
  /// Ends at or below `ended_for_all` have passed for every reader (ended.h).
  Retention(std::vector<CommitVersion> horizon, const DeadRanges& dead, NothingBelow nothing_below,
            CommitVersion ended_for_all = 0);

  enum class Fate : std::uint8_t {
    kKept,
    kDropped,
    kBecomesDelete,  // a delete of the same version takes its place
  };
  /// Decides about an entry. Called for every entry of the inputs, in the order of internal keys.
  Fate judge(const Entry& entry);
  /// Does judge(), and returns whether the entry, or a delete in its place, is kept.
  bool keeps(const Entry& entry) { return judge(entry) != Fate::kDropped; }

  /// The decision about a whole run that no other input overlaps and that shares no key with other entries.
  enum class RunFate : std::uint8_t {
    kKept,     // the whole run
    kDropped,  // the whole run
    kUnknown,  // keeps() decides for each entry
  };
  /// Decides about a run before its first entry. Unless it returns kUnknown, keeps() is not called for the run's
  /// entries.
  RunFate judge_run(const format::RunEntry& run);

  /// Returns the number of entries not kept, since the beginning.
  std::uint64_t dropped_entries() const noexcept { return dropped_entries_; }

 private:
  static constexpr std::size_t kAboveHorizon = static_cast<std::size_t>(-1);

  Fate decide(const Entry& entry);
  bool has_ended(const Entry& entry) const noexcept { return entry.has_end() && entry.end() <= ended_for_all_; }
  void begin_key(std::string_view sort_key);
  /// Returns the index of the lowest version of the horizon that shows an entry of this version.
  std::size_t shown_at(CommitVersion version) const noexcept;

  const std::vector<CommitVersion> horizon_;
  const DeadRanges& dead_;
  const NothingBelow nothing_below_;
  const CommitVersion ended_for_all_;

  std::string key_;
  bool has_key_ = false;
  bool table_is_dropped_ = false;
  CommitVersion last_version_ = 0;          // of the key's last entry; zero: none yet
  std::size_t last_place_ = kAboveHorizon;  // of the key's last entry too
  format::TableId table_ = 0;
  bool has_table_ = false;
  std::uint64_t dropped_entries_ = 0;
};

}  // namespace varve::engine
