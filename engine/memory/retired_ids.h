// Owns: which tables and accounts were dropped, and at which version.
// Must never: allocate between the assignment of a version and its publication: reserve() first, then add().
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

/// Prefixes of table ids: four bytes for an account, eight for a table. Guarded by its owner.
///
/// An id of which the store holds nothing any more is *forgotten*: it is neither listed nor counted, but stays dropped,
/// since a write that found its table before the drop may still come. Ids come from counters. So the forgotten ones lie
/// beside each other, and take memory by their stretches alone.
class RetiredIds {
 public:
  /// Makes room for `count` more than there are now. Errors: kOutOfMemory; nothing changed.
  Status reserve(std::size_t count);
  /// `prefix` is 4 or 8 bytes, `drop_version` not zero. A prefix that is there keeps the lower version, that of its
  /// first drop. Room was reserved.
  void add(std::string_view prefix, CommitVersion drop_version) noexcept;
  /// What of these prefixes is there is forgotten. Errors: kOutOfMemory; nothing changed.
  Status forget(std::span<const std::string> prefixes);

  /// The version that dropped the table, by its own id or its account's; the earlier where both did. Of a forgotten id
  /// it may be that of a later drop.
  std::optional<CommitVersion> dropped_at(TableId table) const noexcept;

  std::size_t size() const noexcept { return count_; }
  /// In no particular order.
  std::vector<format::DeadId> list() const;

 private:
  // Open addressing with linear probing over a power of two, at most half full; a zero version marks a free place.
  struct Entry {
    std::uint64_t id = 0;  // a table id, or an account number
    CommitVersion version = 0;
    bool account = false;
  };
  /// Of forgotten ids, in order; neither overlapping nor adjacent.
  struct Stretch {
    TableId first = 0;
    TableId last = 0;
    CommitVersion version = 0;  // no drop in it is later
  };
  std::size_t place_of(std::uint64_t id, bool account) const noexcept;
  std::optional<CommitVersion> forgotten_at(TableId table) const noexcept;
  static void join(std::vector<Stretch>& stretches);

  std::vector<Stretch> forgotten_;
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace varve::engine
