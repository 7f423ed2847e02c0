// SPDX-License-Identifier: Apache-2.0
// Owns: what a scan asks for and what a page of it holds.
// Must never: keep anything in the store between two pages: all a scan knows is in its continuation token.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limits.h"
#include "snapshot.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

/// A contiguous range of keys. Keys are ordered by PartitionKey, then RowKey, each by UTF-16 code unit. Bounds
/// need not be legal keys; a range whose end is not above its beginning is empty.
class ScanRange {
 public:
  static ScanRange whole_table() { return ScanRange(Kind::kTable); }
  static ScanRange partition(std::string_view partition_key);
  /// RowKeys of one partition from `from` on, up to but without `to`; without `to`, to the partition's end.
  static ScanRange rows(std::string_view partition_key, std::string_view from,
                        const std::optional<std::string>& to = std::nullopt);
  /// RowKeys of one partition that begin with `prefix`.
  static ScanRange rows_with_prefix(std::string_view partition_key, std::string_view prefix);
  /// Partitions from `from` on, up to but without `to`; without `to`, to the table's end.
  static ScanRange partitions(std::string_view from, const std::optional<std::string>& to = std::nullopt);

  enum class Kind : std::uint8_t { kTable, kPartition, kRows, kRowPrefix, kPartitions };
  Kind kind() const noexcept { return kind_; }
  const std::string& partition_key() const noexcept { return partition_key_; }
  /// The lower bound, or the prefix.
  const std::string& from() const noexcept { return from_; }
  const std::optional<std::string>& to() const noexcept { return to_; }

 private:
  explicit ScanRange(Kind kind) noexcept : kind_(kind) {}
  Kind kind_;
  std::string partition_key_;
  std::string from_;
  std::optional<std::string> to_;
};

/// What one read may choose.
struct ReadOptions {
  /// Names of the properties to return, at most limits::kSelectedNamesMax; empty returns all. Keys and Timestamp are
  /// always there. A name that an entity lacks is not there.
  std::vector<std::string> select{};
  /// Reads at this version, names of tables included; without it, at the newest.
  std::optional<Snapshot> snapshot{};
};

/// Of an entity, in the order in which a table keeps them.
struct EntityKey {
  std::string partition_key;
  std::string row_key;
};

struct Scan {
  ScanRange range = ScanRange::whole_table();
  /// Which entities of the range are returned: the table service's `$filter`, as
  /// `PartitionKey eq 'eu' and (Total gt 100.0 or not Paid)`. Blank returns all. What it says of keys is used to
  /// read no more than it must: an `or` of keys costs as many lookups.
  std::string filter{};
  /// Where to go on: the token of the page before, from a scan of the same range, filter and direction. Empty begins at
  /// the range's beginning or, backward, at its end.
  std::string continuation{};
  /// From the greatest key to the smallest, an addition to the service's order: pages, their tokens and what
  /// they cost are as forward, in the other order. "The last n of a partition" need no keys that sort backward.
  bool backward = false;
  /// Entities of a page, at most the store's StoreLimits::page_size_max. Zero returns an empty page without a token
  ///
  std::uint32_t page_size_max = limits::kPageSizeMax;
  /// Bytes of a page, keys and properties as they are stored; a page holds one entity at least, however large.
  std::uint64_t page_bytes_max = UINT64_MAX;
  /// Entities of all pages together, an addition to the service: the page that brings the last one has no token. The
  /// tokens carry what is left of it, and go with scans that have it alone.
  std::optional<std::uint64_t> take{};
  /// Ends the page when it has taken this long, but not before it has looked at one entity. At most
  /// limits::kPageTimeMax.
  std::chrono::milliseconds time_max = limits::kPageTimeMax;
  ReadOptions read;
};

/// What a page cost.
struct PageCost {
  /// Ranges of keys that were to be read, from the page's beginning to the scan's end. Points count as ranges.
  std::uint64_t key_ranges = 0;
  /// Entities that were looked at, those returned among them.
  std::uint64_t entities_examined = 0;
  /// Blocks of table files, those of indexes and filters too: brought from the device, found in the cache, and passed
  /// unread because an index or a filter said that they hold nothing for this page.
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_from_cache = 0;
  std::uint64_t blocks_skipped = 0;

  PageCost& operator+=(const PageCost& more) noexcept;
};

/// Each page is one consistent state of the store. Pages of one scan are not one state together unless they are read at
/// one snapshot: entities written behind the position are missed, before it are seen.
struct Page {
  /// In key order or, of a scan backward, in its reverse.
  std::vector<Entity> entities;
  /// Names the next entity to be returned. It is plain ASCII without control characters, needs no state in the store,
  /// stays valid for ever and survives the deletion of the entity it names. None when the end of the range
  /// was reached. A page may be shorter than asked, even empty, and still have one.
  std::optional<std::string> continuation;
  PageCost cost;
};

/// How many entities a scan would return, as far as one call came.
struct Count {
  std::uint64_t entities = 0;
  /// Where to go on, as Page::continuation; the rest is to be added. None when all were counted.
  std::optional<std::string> continuation;
  PageCost cost;
};

}  // namespace varve

#pragma GCC visibility pop
