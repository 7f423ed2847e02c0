// SPDX-License-Identifier: Apache-2.0
// Owns: several queries read side by side, their results in one order.
// Must never: make a thread: who calls brings the means to run things at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mapped_entity.h"
#include "query.h"
#include "query_builder.h"
#include "result.h"
#include "status.h"
#include "table.h"
#include "types.h"
#include "walk.h"

#pragma GCC visibility push(default)

namespace varve {

/// Runs all tasks, at once or one after the other, on any threads, and returns when all have ended. The tasks touch
/// nothing in common but tables.
using RunAll = std::function<void(std::span<const std::function<void()>>)>;

enum class MergeOrder : std::uint8_t {
  /// By PartitionKey, then RowKey, as one table keeps them.
  kKey,
  /// By RowKey, then PartitionKey: for what was spread over partitions and belongs together, as the parts of a log.
  kRowKey,
};

/// The pages of several queries, of one table or several, merged in an order. Each query must return its results in
/// that order, which for kRowKey means: of one partition. Whenever one query has nothing left in memory, the next pages
/// of all that have room are read by one call of RunAll. One object, one thread at a time. Source: C-08.
class MergedPages {
 public:
  struct Options {
    MergeOrder order = MergeOrder::kKey;
    /// Empty runs one task after the other.
    RunAll run_all{};
    /// Pages of each query that are kept in memory; at least one. More let queries that come later in the order read
    /// on while earlier ones are used up.
    std::size_t pages_ahead = 2;
    /// Entities in all.
    std::uint64_t take = PageWalk::kNoLimit;
  };

  MergedPages(std::vector<PageWalk> sources, Options options);

  /// The next page of the merged results, without a continuation: where several queries stand is no single place; and
  /// without a cost. Nothing at the end, and after an error. Errors: as Table::scan, of any query.
  Result<std::optional<Page>> next();

  /// What the pages of all queries cost so far, those read ahead among them.
  PageCost cost() const;

 private:
  struct Source {
    PageWalk pages;
    std::deque<std::vector<Entity>> ahead;  // none of them empty
    std::size_t at = 0;                     // in the first of them
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

/// The results of several queries in one order, each as Walk tells them.
template <typename T>
Walk<T, MergedPages> walk_merged(const Table& table, std::span<const Query<T>> queries,
                                 MergedPages::Options options = {}) {
  std::vector<PageWalk> sources;
  sources.reserve(queries.size());
  for (const Query<T>& query : queries) sources.push_back(query.pages(table));
  return {MergedPages(std::move(sources), std::move(options)), [](Entity&& entity) { return from_entity<T>(entity); }};
}

}  // namespace varve

#pragma GCC visibility pop
