// SPDX-License-Identifier: Apache-2.0
// Owns: the description of what a scan will read, available before it reads.
// Must never: be needed to run the scan.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "version.h"

namespace varve {

/// How a scan reaches its entities, ordered from the cheapest way to the most expensive one.
enum class AccessPath : std::uint8_t {
  /// The bounds contradict each other.
  kNothing,
  /// One PartitionKey and one RowKey.
  kPoint,
  /// Several points.
  kPoints,
  /// RowKeys of one partition between bounds.
  kRowRange,
  /// RowKeys of one partition that begin with a text.
  kRowPrefix,
  /// All entities of one partition.
  kPartition,
  /// Partitions between bounds.
  kPartitionRange,
  /// All entities of the table.
  kTable,
  /// Several ranges, not all of them points.
  kSeveral,
};
/// Returns the path as text: "nothing", "point", "points", "row range", "row prefix", "partition", "partition range",
/// "table" or "several ranges".
VARVE_EXPORT std::string_view access_path_name(AccessPath path) noexcept;

/// One end of a range of keys.
struct TextBound {
  /// The key at this end. For a prefix, the text with which the keys begin.
  std::string text;
  /// True if the range includes the key `text` itself.
  bool inclusive = true;
  bool operator==(const TextBound&) const = default;
};

/// One contiguous range of keys.
struct VARVE_EXPORT PlannedRange {
  /// Never kNothing, kPoints or kSeveral.
  AccessPath path = AccessPath::kTable;
  /// The partition of the range, if the whole range is in one partition.
  std::optional<std::string> partition_key;
  /// Bounds of the RowKeys if `partition_key` is set, else of the PartitionKeys. If one is not set, that side has no
  /// bound. For a point, both hold the RowKey. For a prefix, `lower` holds the prefix.
  /// @{
  std::optional<TextBound> lower;
  std::optional<TextBound> upper;
  /// @}
  bool operator==(const PlannedRange&) const = default;

  /// Returns text for people, for example "rows from '05' to before '07' of partition 'b'".
  std::string to_string() const;
};

/// An index of the table that could serve the filter of a scan.
struct IndexCandidate {
  std::string name;
  /// The first components that the filter compares with `eq`, or with each value of a list.
  std::size_t equal_components = 0;
  /// Whether the filter bounds the next component, from one side or from both.
  bool has_range = false;
  /// The entities of the scan's ranges to which the index leads. Nothing if more entries would have to be read than a scan
  /// reads of an index at once.
  std::optional<std::uint64_t> entities{};
  /// Whether the scan reads these entities alone, in place of its ranges. If there are more than a page needs, it reads
  /// them part by part, since the filter compares each component with `eq` and the entries are in the order of keys.
  /// Then a later part may come from another index, if that has fewer entries left than the part.
  bool is_taken = false;
  /// Whether the entries have all properties that the filter names. Then Table::count() of the scan examines 0 entities. An
  /// entity is examined in spite of that if its entry lacks the exact value: of a text or Binary above 256 bytes, of a Double
  /// that is zero or NaN, or after 4 MiB of properties.
  bool answers_counts = false;
  /// Whether the entries have all properties that the filter names and the scan selects, and Timestamp is a component. Then a
  /// page of the scan examines 0 entities, with the exceptions of answers_counts. False if the scan selects nothing, which
  /// means all properties, or if it has an order.
  bool answers_pages = false;
  bool operator==(const IndexCandidate&) const = default;
};

/// The keys that a scan reads, and what it evaluates for each entity. Table::explain() returns it.
struct ScanPlan {
  /// The path of the only range; kPoints or kSeveral for several ranges; kNothing for none.
  AccessPath path = AccessPath::kNothing;
  /// In the order in which the scan reads them, unless it takes an index.
  std::vector<PlannedRange> ranges;
  /// The part of the filter that the scan evaluates for each entity it reads, as a filter. Empty if the ranges alone
  /// decide.
  std::string residual;
  /// The ready indexes that could serve the filter, best first. Empty if the ranges are points.
  std::vector<IndexCandidate> indexes{};
  /// The index that has the order of Scan::order_by. A page takes its first entities from there. But it takes another index
  /// that compares more components with `eq`, if that leads to no more entities than the page may have. It reads the ranges
  /// if that costs too much, or if entities that lack the property belong to it. Empty if no index has the order.
  std::string order_index{};
  /// How many components of the order, from the first one on, the index has or the filter fixes by `eq`. The page sorts
  /// entities that are equal in all of these by the rest. Zero if no index has the order.
  std::size_t order_components = 0;
};

}  // namespace varve
