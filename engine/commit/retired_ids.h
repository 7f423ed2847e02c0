// Owns: which tables and accounts were dropped, and at which version.
// Must never: allocate between the assignment of a version and its publication: reserve() first, then add().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/result.h"
#include "format/internal_key.h"
#include "format/manifest_edit.h"
#include "format/sort_key.h"

namespace varve::engine {

using format::CommitVersion;
using format::TableId;

/// Prefixes of table ids: four bytes for an account, eight for a table. Guarded by its owner.
class RetiredIds {
 public:
  /// Makes room for `count` more than there are now. Errors: kOutOfMemory; nothing changed.
  Status reserve(std::size_t count);
  /// `prefix` is 4 or 8 bytes, `drop_version` not zero. A prefix that is there keeps the lower version, that of its
  /// first drop. Room was reserved.
  void add(std::string_view prefix, CommitVersion drop_version) noexcept;

  /// The version that dropped the table, by its own id or its account's; the earlier where both did.
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
  std::size_t place_of(std::uint64_t id, bool account) const noexcept;

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace varve::engine
