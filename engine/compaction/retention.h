// Owns: which entries a rewrite keeps: what some reader may still ask for.
// Must never: drop an entry that a held version, or a later one, would show or that hides an older one elsewhere.
//
// The horizon is the list of versions somebody may read at: those of snapshots, and what was visible when the rewrite
// began; all later ones too. For each version of the horizon the newest entry of a key that is not above it counts, and
// each entry above the whole horizon; nothing else. A delete that nothing older can hide behind goes as well, and so
// does everything of a table that was dropped before the whole horizon.
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
  /// Of a key: whether no entry of it can be anywhere below the rewrite's inputs. Keys are asked about in their order.
  using NothingBelow = std::function<bool(std::string_view sort_key)>;

  /// `horizon` rises and is not empty; `dead` are the ids dropped at or below all of it, and outlives this.
  Retention(std::vector<CommitVersion> horizon, const DeadRanges& dead, NothingBelow nothing_below);

  /// Asked for every entry of the inputs, in the order of internal keys.
  bool keeps(const Entry& entry);

  /// What becomes of a whole run that no other input touches, and whose keys no other entry of them shares.
  enum class RunFate : std::uint8_t {
    kKept,     // all of it
    kDropped,  // all of it
    kUnknown,  // its entries are to be asked for
  };
  /// Asked before its first entry. Unless kUnknown is answered its entries are not asked for any more.
  RunFate judge_run(const format::RunEntry& run);

  /// Of what it did not keep, since the beginning.
  std::uint64_t dropped_entries() const noexcept { return dropped_entries_; }

 private:
  static constexpr std::size_t kAboveHorizon = static_cast<std::size_t>(-1);

  bool judge(const Entry& entry);
  void begin_key(std::string_view sort_key);
  /// The place of the lowest version of the horizon that shows it.
  std::size_t shown_at(CommitVersion version) const noexcept;

  const std::vector<CommitVersion> horizon_;
  const DeadRanges& dead_;
  const NothingBelow nothing_below_;

  std::string key_;
  bool has_key_ = false;
  bool table_is_dropped_ = false;
  CommitVersion last_version_ = 0;          // of the key's last entry; zero: none yet
  std::size_t last_place_ = kAboveHorizon;  // likewise
  format::TableId table_ = 0;
  bool has_table_ = false;
  std::uint64_t dropped_entries_ = 0;
};

}  // namespace varve::engine
