// SPDX-License-Identifier: Apache-2.0
// Owns: the merge of several queries, read concurrently, into one order.
// Must never: start a thread. The caller supplies the means to run tasks concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cursor.h"
#include "mapped_entity.h"
#include "query.h"
#include "query_builder.h"
#include "result.h"
#include "status.h"
#include "table.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Runs all tasks, concurrently or one after the other, on any threads. Returns when all tasks have ended. The tasks
/// share nothing except tables.
using RunAll = std::function<void(std::span<const std::function<void()>>)>;

/// The order in which MergedPages returns the entities of its queries.
enum class MergeOrder : std::uint8_t {
  /// By PartitionKey, then RowKey: the order of a table.
  kKey,
  /// By RowKey, then PartitionKey. Use it for data that is spread over partitions but belongs together, such as the
  /// parts of a log.
  kRowKey,
};

/// The pages of several queries on one or more tables, merged in an order. Each query must return its results in this
/// order. For kRowKey, each query must therefore read one partition. If a query has no page left in memory, one call of
/// RunAll reads the next pages of all queries that have room. One thread at a time may use an object. Source: C-08.
class VARVE_EXPORT MergedPages {
 public:
  /// Options of a merge.
  struct Options {
    /// The order of the results, which each query must have already.
    MergeOrder order = MergeOrder::kKey;
    /// If it is empty, tasks run one after the other.
    RunAll run_all{};
    /// Pages that are kept in memory for each query, at least one. With more pages, queries that are later in the order
    /// read ahead while earlier ones are consumed.
    std::size_t pages_ahead = 2;
    /// Maximum number of entities in all pages together.
    std::uint64_t take = PageCursor::kNoLimit;
  };

  /// Makes the merge of these pages. Reads nothing yet. With no sources, there are no pages.
  MergedPages(std::vector<PageCursor> sources, Options options);

  /// Returns the next page of the merged results, or nothing at the end and after an error. The page has no
  /// continuation, because several queries have no common position. It has no cost either.
  /// Errors: as Table::scan, from any query.
  Result<std::optional<Page>> next();

  /// Returns the cost of all queries so far, including pages read ahead.
  PageCost cost() const;

 private:
  struct Source {
    PageCursor pages;
    std::deque<std::vector<Entity>> ahead;  // pages read ahead, none of them empty
    std::size_t at = 0;                     // index of the next entity in the first page
    bool ended = false;
    Status error;
  };

  void read_ahead(Source& source) const;
  Status fill();
  Source* smallest();

  std::vector<Source> sources_;
  Options options_;
  bool ended_ = false;
};

/// Returns the results of several queries in one order. Errors appear in the results as Cursor reports them.
template <typename T>
Cursor<T, MergedPages> open_merged_cursor(const Table& table, std::span<const Query<T>> queries,
                                          MergedPages::Options options = {}) {
  std::vector<PageCursor> sources;
  sources.reserve(queries.size());
  for (const Query<T>& query : queries) sources.push_back(query.pages(table));
  return {MergedPages(std::move(sources), std::move(options)), [](Entity&& entity) { return from_entity<T>(entity); }};
}

}  // namespace varve
