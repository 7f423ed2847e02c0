// SPDX-License-Identifier: Apache-2.0
// Owns: the request of a scan, the content of a page, and the request of a change by filter.
// Must never: keep state in the store between two pages. The continuation token holds all state of a scan.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "limits.h"
#include "options.h"
#include "snapshot.h"
#include "types.h"
#include "version.h"

namespace varve {

/// A contiguous range of keys. Keys are ordered by PartitionKey, then RowKey, each by UTF-16 code unit. Bounds
/// need not be legal keys. If the end is not above the beginning, the range is empty.
class VARVE_EXPORT ScanRange {
 public:
  /// Returns the range of all keys.
  static ScanRange whole_table() { return ScanRange(Kind::kTable); }
  /// Returns all RowKeys of one partition.
  static ScanRange partition(std::string_view partition_key);
  /// Returns the RowKeys of one partition from `from` (inclusive) to `to` (exclusive). Without `to`, the range extends
  /// to the end of the partition.
  static ScanRange rows(std::string_view partition_key, std::string_view from,
                        const std::optional<std::string>& to = std::nullopt);
  /// Returns the RowKeys of one partition that begin with `prefix`.
  static ScanRange rows_with_prefix(std::string_view partition_key, std::string_view prefix);
  /// Returns the partitions from `from` (inclusive) to `to` (exclusive). Without `to`, the range extends to the end of
  /// the table.
  static ScanRange partitions(std::string_view from, const std::optional<std::string>& to = std::nullopt);

  /// The function that made a range: kRows for rows(), kRowPrefix for rows_with_prefix(), and so on.
  enum class Kind : std::uint8_t { kTable, kPartition, kRows, kRowPrefix, kPartitions };
  /// Returns which bounds the range has.
  Kind kind() const noexcept { return kind_; }
  /// Returns the partition of kPartition, kRows and kRowPrefix. It is empty for the other kinds.
  /// @{
  const std::string& partition_key() const& noexcept { return partition_key_; }
  std::string partition_key() && noexcept { return std::move(partition_key_); }
  /// @}
  /// Returns the lower bound or the prefix.
  /// @{
  const std::string& from() const& noexcept { return from_; }
  std::string from() && noexcept { return std::move(from_); }
  /// @}
  /// Returns the upper bound, which is not in the range. It is not set if the range has none.
  /// @{
  const std::optional<std::string>& to() const& noexcept { return to_; }
  std::optional<std::string> to() && noexcept { return std::move(to_); }
  /// @}

 private:
  explicit ScanRange(Kind kind) noexcept : kind_(kind) {}
  Kind kind_;
  std::string partition_key_;
  std::string from_;
  std::optional<std::string> to_;
};

/// Options of one read.
struct ReadOptions {
  /// Names of the properties to return, at most limits::kSelectedNamesMax, in the order in which they are returned. If it is
  /// empty, all properties are returned, in the order of the stored entity. Keys and Timestamp are always returned. A name
  /// that an entity lacks is left out.
  std::vector<std::string> select{};
  /// The version to read at; it also decides which tables exist. If absent, the read sees the newest version.
  std::optional<Snapshot> snapshot{};
};

/// The key of an entity. A table sorts by partition_key, then by row_key.
struct EntityKey {
  /// PartitionKey of the entity.
  std::string partition_key;
  /// RowKey of the entity, unique in its partition.
  std::string row_key;
};

/// The direction of a component of an order.
enum class SortDirection : std::uint8_t { kAscending, kDescending };

/// The request of one page of a scan, or of a count.
struct Scan {
  /// The keys to read.
  ScanRange range = ScanRange::whole_table();
  /// The condition on the returned entities: the table service's `$filter`. For example:
  ///
  ///     PartitionKey eq 'eu' and (Total gt 100.0 or not Paid)
  ///
  /// A blank filter returns all. The scan uses conditions on keys to read only what it must. For example,
  /// an `or` of three keys costs three lookups.
  ///
  /// Beside the service's grammar, a filter may have these conditions, where P and A are properties:
  ///
  ///     P in ('a', 'b', 3)   startswith(P, 'x')   endswith(P, 'x')   contains(P, 'x')   exists(P)   A lt P
  ///     equals_ignoring_case(P, 'x')
  ///
  /// Their rules are in docs/library.md. A list has at most 4,096 values.
  std::string filter{};
  /// The token of the previous page, from a scan of the same range, filter and direction. If it is empty, the scan
  /// starts at the beginning of the range, or at the end if it is backward.
  std::string continuation{};
  /// If true, the scan runs from the greatest key to the smallest. This adds to the service's order. Pages,
  /// tokens and cost work as in a forward scan. So "the last n of a partition" needs no keys that sort in reverse.
  bool backward = false;
  /// Maximum number of entities in a page, at most the store's StoreLimits::page_entities_max. Zero returns an empty
  /// page without a continuation.
  std::uint32_t page_entities_max = limits::kPageEntitiesMax;
  /// Maximum size of a page in bytes: keys, and the properties that the page returns, as they are stored. A page with an order
  /// counts all properties of its entities. A page holds at least one entity of any size.
  std::uint64_t page_bytes_max = UINT64_MAX;
  /// Maximum number of entities in all pages together. This adds to the service. The page that reaches the limit has no
  /// continuation. Tokens carry the remaining number. So a token of a scan with `take` continues only scans with
  /// `take`, and any other token continues only scans without it.
  std::optional<std::uint64_t> take{};
  /// Time after which the page ends, at most limits::kPageTimeMax. The page examines at least one entity.
  std::chrono::milliseconds page_time_max = limits::kPageTimeMax;
  /// The properties to return, and the version to read at.
  ReadOptions read{};
  /// The order of the entities: one to four names, separated by commas, each followed by `asc`, `desc` or neither. A name
  /// is a property, PartitionKey, RowKey or Timestamp. If it is empty, they come in the order of keys. For example:
  ///
  ///     Price desc, Name
  ///
  /// Values of different types come in this order: Boolean, numbers, DateTime, Guid, String, Binary, LargeValue. Numbers
  /// of all types compare by value, and NaN is above all others. `desc` reverses all that. Entities that lack a property
  /// come last, with `desc` too. Entities that are equal in all components come in the order of their keys.
  ///
  /// An index of the table may have the order. Its components are then those that the filter compares with `eq`, and
  /// after them the property that comes first in the order, ascending or descending. The properties that follow may be
  /// those that follow in the order, if the index has all of them in the order's directions, or all in the opposite
  /// ones. Entities that are equal in them are sorted by the rest. What the filter compares with `eq` counts as no part
  /// of the order. The filter must compare each other property of the index in some way. The Timestamp may take the
  /// place of a property. At the end of the order, `PartitionKey, RowKey` and `PartitionKey` need no index, since equal
  /// entities are in this order. In one partition, that holds for `RowKey` too, and PartitionKey counts as no part of the
  /// order. ScanPlan::order_index names the index. It serves no other order that begins with a key. But an
  /// order of keys reads its own page only: `PartitionKey, RowKey`, both with `desc` too, `PartitionKey` alone, and in
  /// one partition `RowKey`, with `desc` too.
  /// In a table with large values, the filter must also bound the property from below.
  ///
  /// With an index, a page reads its own entities and few others. It reads at most 2,048 entries, and four more for each
  /// entity that it may have. If that is too few, it reads the whole range. It also does so if entities that lack the
  /// property may belong to it, and if no index has the order. The results are the same.
  ///
  /// Each page keeps its first entities in memory, and ends by order_time_max, not by page_time_max. It has
  /// limits::kOrderedPageEntitiesMax entities at most, so choose page_entities_max or `take`. It has fewer if they exceed
  /// page_bytes_max or limits::kOrderedPageBytesMax. The next page begins after the last entity as it was. So the token
  /// holds its values. In place of a text or Binary of more than 256 bytes, it holds a hash. Then the next page is
  /// kInvalidArgument (InvalidInput) if the entity has another value by then. A scan of many pages should read at a
  /// snapshot, to see each entity once. A scan with an order is not backward, and has no count.
  std::string order_by{};
  /// If false, the scan accepts only the service's grammar, as an HTTP service for unmodified clients does. Then
  /// functions and comparisons of two properties are kUnsupported (NotImplemented), and `in` is kInvalidArgument
  /// (InvalidInput).
  bool filter_extensions = true;
  /// Time that a page with an order may take. A page that an index serves, or an order of keys, ends early by then. Any
  /// other page cannot, since it must see its whole range. It is then kTooLarge (InvalidInput), and the message names the
  /// properties that an index needs. By default the time is not bounded.
  std::chrono::milliseconds order_time_max = std::chrono::milliseconds::max();
};

/// The cost of a page.
struct VARVE_EXPORT PageCost {
  /// Key ranges to read, from the start of the page to the end of the scan. A point counts as a range. An index may give the
  /// entities part by part: then these are the points of the parts that the page has begun, and the ranges after
  /// them if it has begun those. Do not add the figures of several pages, since each may count the same ranges.
  std::uint64_t key_ranges = 0;
  /// Entities examined, including the returned ones. A count or a page may take what it needs from the entries of an index
  /// alone, and does not examine those entities (IndexCandidate::answers_counts, answers_pages). Nor does
  /// it examine those that it passes on its way from one entity of an index to the next.
  std::uint64_t entities_examined = 0;
  /// Blocks of table files that were read from the device, including blocks of indexes and filters.
  std::uint64_t blocks_read = 0;
  /// Blocks that were found in the cache, including blocks of indexes and filters.
  std::uint64_t blocks_from_cache = 0;
  /// Blocks that were skipped because an index or a filter showed that they hold nothing for this page.
  std::uint64_t blocks_skipped = 0;
  /// Parts in which an index gave the entities, and the entities to which the first and the last part led. A page reads a
  /// longer part after each other one, until it is complete. All zero if no index led to the entities, or an index gave them in
  /// the order of Scan::order_by. These figures of several pages may be added.
  /// @{
  std::uint64_t index_parts = 0;
  std::uint64_t first_part_entities = 0;
  std::uint64_t last_part_entities = 0;
  /// @}

  /// Adds each figure of `more`, the cost of later reads.
  PageCost& operator+=(const PageCost& more) noexcept;
};

/// One page of a scan. A page shows one consistent state of the store. Unless all pages of a scan read at one snapshot,
/// they may show different states. Then the scan misses an entity that is written to the part already scanned,
/// and sees one that is written to the part still ahead.
struct Page {
  /// The entities in key order; for a backward scan, in reverse key order.
  std::vector<Entity> entities;
  /// The token that names the next entity to return, or the last returned one of a scan with an order. If the scan
  /// reached the end of the range, there is none. A page may be shorter than requested, or empty, and still have a token.
  /// The token is plain ASCII without control characters and needs no state in the store. It stays valid forever, even
  /// after the deletion of the entity that it names.
  std::optional<std::string> continuation;
  /// The cost of this page alone.
  PageCost cost;
};

/// The request of one page of Table::list_rows(): the RowKeys of one partition, folded at a delimiter. For example,
/// with the delimiter `!` of composite keys (keys.h), a table of files lists one folder at a time.
struct RowListing {
  /// The partition to list.
  std::string partition_key{};
  /// Lists only RowKeys that begin with this text. It may be empty.
  std::string prefix{};
  /// If a RowKey contains this text after the prefix, the page has the RowKey's beginning, up to and with the first
  /// delimiter, in place of the entity. If it is empty, nothing is folded.
  std::string delimiter{};
  /// The token of the previous page, from a listing of the same partition, prefix and delimiter. If it is empty, the
  /// listing starts at its first row.
  std::string continuation{};
  /// Maximum number of entities and common prefixes in a page together, at most the store's
  /// StoreLimits::page_entities_max. Zero returns an empty page without a continuation.
  std::uint32_t page_entities_max = limits::kPageEntitiesMax;
  /// Time after which the page ends, at most limits::kPageTimeMax. The page has at least one row.
  std::chrono::milliseconds page_time_max = limits::kPageTimeMax;
  /// The properties to return, and the version to read at.
  ReadOptions read{};
};

/// One page of a listing by prefix and delimiter. As for Page, pages show one state only if they read at a snapshot.
struct RowListingPage {
  /// The entities whose RowKeys were not folded, in the order of their keys.
  std::vector<Entity> entities;
  /// The beginnings that folded RowKeys have in common, each once and with its delimiter, in the order of keys.
  std::vector<std::string> common_prefixes;
  /// As Page::continuation.
  std::optional<std::string> continuation;
  /// The cost of this page alone. `entities_examined` counts one entity for each common prefix.
  PageCost cost;
};

/// The number of entities that a scan would return, as far as one call counted them.
struct Count {
  /// Entities counted by this call. An aggregation of smallest and largest values alone leaves out entities of blocks that it
  /// passed. Then this depends on how the entities lie in blocks, and may differ between two calls over the same entities. Add
  /// Aggregate::count() to the figures for an exact number.
  std::uint64_t entities = 0;
  /// The token to continue with, as Page::continuation. Add the counts of all calls. If all entities were counted,
  /// there is none.
  std::optional<std::string> continuation;
  /// The cost of this call alone.
  PageCost cost;
};

/// Which entities Table::delete_where() and Table::update_where() change.
struct Where {
  /// The keys to look at.
  ScanRange range = ScanRange::whole_table();
  /// The condition on the entities, as Scan::filter. It must not match everything, unless `all` is true.
  std::string filter{};
  /// True means all entities of the range. Then the filter must be blank. So a filter that was left out by mistake changes
  /// nothing.
  bool all = false;
};

/// What update_where() does to each entity. The other properties stay as they are.
struct PropertyChanges {
  /// Properties to set, as by Table::merge(). A property may change its type.
  std::vector<Property> set{};
  /// Names of custom properties to remove. Entities that have none of them are not written if nothing is set.
  std::vector<std::string> remove{};
};

/// How far a change by filter is.
struct WhereProgress {
  /// Entities that met the condition when a batch was read.
  std::uint64_t matched = 0;
  /// Entities that were deleted or written. It is zero in a dry run.
  std::uint64_t changed = 0;
  /// Entities that another writer changed or deleted after they were read, so that the condition no longer held.
  std::uint64_t left = 0;
  /// The token to continue with after the last finished batch. If the change looked at the whole range, there is none.
  /// The token belongs to this table: a table that was created later under the same name refuses it.
  std::optional<std::string> continuation{};
};

/// Options of a change by filter.
struct WhereOptions {
  /// The token of an earlier call with the same Where. If it is empty, the change starts at the beginning of the range.
  std::string continuation{};
  /// Entities of one batch: 1 to limits::kTransactionOperationsMax. Each batch is one transaction for each partition in
  /// it, or several if they are large.
  std::uint32_t batch_entities_max = limits::kTransactionOperationsMax;
  /// If true, the call only counts the entities that meet the condition.
  bool dry_run = false;
  /// Called after each batch on the thread of the call, outside all locks. Keep the continuation to resume after an error
  /// or a crash.
  std::function<void(const WhereProgress&)> progress{};
  /// Ends the call after the present batch, with a continuation.
  std::stop_token stop{};
  /// The options of each transaction.
  WriteOptions write{};
};

}  // namespace varve
