// SPDX-License-Identifier: Apache-2.0
// Owns: what a scan is going to read, told before it reads.
// Must never: be needed to run the scan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace varve {

/// The ways to a scan's entities, by what they cost.
enum class AccessPath : std::uint8_t {
  kNothing,         // bounds contradict each other
  kPoint,           // one PartitionKey and one RowKey
  kPoints,          // several of them
  kRowRange,        // RowKeys of one partition between bounds
  kRowPrefix,       // those that begin with a text
  kPartition,       // all of one partition
  kPartitionRange,  // partitions between bounds
  kTable,
  kSeveral,  // ranges of different kinds
};
/// "nothing", "point", "points", "row range", "row prefix", "partition", "partition range", "table", "several ranges".
std::string_view access_path_name(AccessPath path) noexcept;

struct TextBound {
  std::string text;
  /// Whether the key `text` itself is within.
  bool inclusive = true;
  bool operator==(const TextBound&) const = default;
};

/// One range of keys, without a gap.
struct PlannedRange {
  /// None of kNothing, kPoints and kSeveral.
  AccessPath path = AccessPath::kTable;
  /// The one partition that the range lies in.
  std::optional<std::string> partition_key;
  /// Of RowKeys where there is one partition, else of PartitionKeys; none is no bound. Of a point, the RowKey twice; of
  /// a prefix, the prefix as the lower one.
  std::optional<TextBound> lower;
  std::optional<TextBound> upper;
  bool operator==(const PlannedRange&) const = default;

  /// For people: "rows from '05' to before '07' of partition 'b'".
  std::string to_string() const;
};

struct ScanPlan {
  AccessPath path = AccessPath::kNothing;
  /// In the order in which they are read.
  std::vector<PlannedRange> ranges;
  /// What of the filter is judged of each entity read, as a filter; empty: the ranges say all.
  std::string residual;
};

}  // namespace varve

#pragma GCC visibility pop
