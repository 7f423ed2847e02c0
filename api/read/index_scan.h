// Owns: the choice of an index for a filtered scan, and the keys of the entities to which the index leads.
// Must never: use an index that is not ready in the view of the scan, or collect more keys than its budget (I6, I7).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "api/catalog/catalog.h"
#include "api/filter/filter.h"
#include "api/filter/index_cover.h"
#include "api/filter/key_plan.h"
#include "engine/base/read_cost.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/scan_plan.h"

namespace varve {

/// A scan reads at most this many entries of an index at once. If there are more, and they are not in the order of the
/// entities' keys, it reads its ranges of keys.
inline constexpr std::size_t kIndexEntriesMax = 2048;
/// A page or a count looks up at most about this many entities to which an index leads part by part. Then it reads the
/// rest of its ranges of keys: their entities may be so many that a walk is faster.
inline constexpr std::size_t kIndexLookupsMax = 8 * kIndexEntriesMax;
/// A count or a page takes at most this many bytes of properties from the entries of an index. It reads the other entities.
inline constexpr std::size_t kKnownBytesMax = std::size_t{4} << 20;

/// A filtered scan, as far as an index may serve it.
struct IndexedScan {
  const ResolvedTable& table;
  /// The indexes that the table has in the view of the scan. An index that is ready in a later view may lack entries.
  const TableIndexes& indexes;
  const Filter& filter;
  /// The ranges that the filter leaves of the requested range, and the requested range. In order and disjoint.
  std::span<const KeyRange> ranges;
  const KeyRange& within;
  /// What the scan uses of each entity. Null if it needs the entities themselves.
  const PropertyNames* used = nullptr;
  /// What a count of it would use, if that is asked too.
  const PropertyNames* counted = nullptr;
};

/// The first entities of a scan, which are enough for now.
struct PartOfScan {
  /// Whether the first ones are those with the last keys.
  bool backward = false;
  /// How many entries are enough, at most kIndexEntriesMax.
  std::size_t entries = kIndexEntriesMax;
};

/// Which indexes a scan asks, and for what.
struct IndexesAsked {
  /// The fewest components that the filter compares with `eq`.
  std::size_t equal_components_min = 0;
  /// Whether each of them counts its entries, also after one that serves.
  bool all = false;
  /// Nothing if the offer must have every entity.
  std::optional<PartOfScan> part{};
  /// If set, no other index is asked.
  std::optional<format::TableId> only{};
  /// An index with more entries is not taken, unless it gives a part. Not zero.
  std::size_t entries_max = kIndexEntriesMax;
};

/// Bounds the reading of entries by the time of a page and by its stop token, and counts what it costs. All of it outlives
/// the reading.
struct IndexReading {
  io::Clock& clock;
  std::chrono::nanoseconds deadline;
  const std::stop_token& stop;
  engine::ReadCost cost{};
};

/// What the indexes of a table offer for a scan.
struct IndexOffer {
  /// What follows the points, in the direction of the scan.
  struct Rest {
    /// The key of the first entity that follows.
    std::string next;
    format::TableId index;
  };
  /// Every entity that may match: points in order, inside the ranges. Nothing if no index serves the scan.
  std::optional<std::vector<KeyRange>> points{};
  /// Set if the points are the first part only. It has no points if no range of the scan holds the keys that were read.
  std::optional<Rest> rest{};
  /// What the scan uses of the entity of each point, or nothing if the entity must be read. Empty if that holds for all.
  std::vector<std::optional<KnownEntity>> known{};
  /// If all are asked: the ready indexes that can serve the filter, best first, with their counts of entries. Their
  /// `answers_pages` is about what the scan uses.
  std::vector<IndexCandidate> candidates{};
};

/// Returns whether a range of the scan holds the sort key.
bool holds_key(const IndexedScan& scan, std::string_view key);

/// Returns whether an index could be better than the ranges.
bool is_index_of_use(std::span<const KeyRange> ranges) noexcept;
/// Chooses an index, and collects the keys. All indexes read the same number of entries, more and more, until one of
/// them has ended, or gives the part. So that takes a few times the entries that the best one needs. An index whose
/// entries cannot be read by the deadline is not taken, unless it gives a part: then that ends at the deadline.
/// Errors: those of reading; kCancelled (the stop token).
Result<IndexOffer> offer_of_indexes(const IndexedScan& scan, IndexReading& reading, const IndexesAsked& asked = {});

}  // namespace varve
