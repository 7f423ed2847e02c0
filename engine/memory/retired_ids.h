// Owns: which tables and accounts were dropped, and at which version.
// Must never: allocate between the assignment of a version and its publication: reserve() comes first, then add().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "format/log/manifest_edit.h"
#include "varve/result.h"

namespace varve::engine {

using format::CommitVersion;
using format::TableId;

/// A set of prefixes of table ids: four bytes for an account, eight for a table. The owner guards it.
///
/// An id becomes *forgotten* when the store holds nothing of it any more. A forgotten id is neither listed nor counted,
/// but stays dropped. A write that found its table before the drop may still arrive. Ids come from counters, so
/// forgotten ids are mostly adjacent. They take memory for their stretches only.
class RetiredIds {
 public:
  /// Makes room for `count` more ids. Errors: kOutOfMemory; then nothing has changed.
  Status reserve(std::size_t count);
  /// Adds a drop. `prefix` has 4 or 8 bytes; `drop_version` is not zero. A prefix that is there already keeps the lower
  /// version, which is that of its first drop. The caller has reserved room.
  void add(std::string_view prefix, CommitVersion drop_version) noexcept;
  /// Forgets those of the prefixes that are there. Errors: kOutOfMemory; then nothing has changed.
  Status forget(std::span<const std::string> prefixes);

  /// Returns the version that dropped the table, by the table's id or its account's id; the earlier one if both were
  /// dropped. For a forgotten id, the version may be that of a later drop.
  std::optional<CommitVersion> dropped_at(TableId table) const noexcept;

  std::size_t size() const noexcept { return count_; }
  /// Returns the ids in no particular order.
  std::vector<format::DeadId> list() const;

 private:
  // Open addressing with linear probing over a power of two, at most half full. A zero version marks a free place.
  struct Entry {
    std::uint64_t id = 0;  // a table id, or an account number
    CommitVersion version = 0;
    bool account = false;
  };
  /// A range of forgotten ids. Stretches are in order, do not overlap and are not adjacent.
  struct Stretch {
    TableId first = 0;
    TableId last = 0;
    CommitVersion version = 0;  // no drop in the stretch is later
  };
  std::size_t place_of(std::uint64_t id, bool account) const noexcept;
  std::optional<CommitVersion> forgotten_at(TableId table) const noexcept;
  static void join(std::vector<Stretch>& stretches);

  std::vector<Stretch> forgotten_;
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace varve::engine
