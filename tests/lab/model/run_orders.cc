// Owns: the comparison of ordered scans and of aggregates of a run (run.h) with the model.
// Must never: change the store.
#include <algorithm>
#include <map>
#include <utility>

#include "tests/api/filter/slow_order.h"
#include "tests/lab/model/run.h"
#include "varve/aggregate.h"

namespace varve::lab {
namespace {

constexpr std::size_t kOrderedMax = 40;  // Each page of an order may read the whole table.

struct BeforeInOrder {
  bool operator()(const Value& a, const Value& b) const { return test::compared_values(a, b) < 0; }
};
using Counts = std::map<Value, std::int64_t, BeforeInOrder>;

}  // namespace

void Run::compare_order(TableVerbs& table, Scan scan, std::vector<RowPointer> expected, const IndexDefinition& index,
                        std::uint32_t seed) {
  std::vector<IndexComponent> order = index.components;
  order.resize(1 + seed % order.size());
  if (seed / 4 % 2 == 1) order.front().is_descending = !order.front().is_descending;
  std::stable_sort(expected.begin(), expected.end(), [&order](const RowPointer& a, const RowPointer& b) {
    return test::is_before(order, a->entity, b->entity);
  });
  if (expected.size() > kOrderedMax) expected.resize(kOrderedMax);
  scan.order_by = test::order_text(order);
  scan.take = kOrderedMax;
  compare_scan(table, std::move(scan), expected, "an ordered scan");
  count("ordered scans");
}

void Run::compare_aggregates(TableVerbs& table, Scan scan, const std::vector<RowPointer>& expected,
                             const std::string& property) {
  Result<Aggregation> groups = Aggregation::create({Aggregate::count(), Aggregate::distinct(property)}, {{property}});
  if (!groups.ok()) return broken("an aggregation: " + groups.status().to_string());
  for (;;) {
    const Result<Count> part = table.table().aggregate(scan, *groups);
    if (!part.ok()) return broken("an aggregation: " + part.status().to_string());
    if (!part->continuation) break;
    scan.continuation = *part->continuation;
  }
  Counts counts;
  std::int64_t without = 0;
  for (const RowPointer& row : expected) {
    const std::optional<Value> value = test::value_of_component(row->entity, property);
    if (value) ++counts[*value];
    if (!value) ++without;
  }
  const Result<std::vector<AggregateRow>> found = groups->rows();
  if (!found.ok()) return broken("an aggregation: " + found.status().to_string());
  if (found->size() != counts.size() + (without == 0 ? 0 : 1))
    return broken("an aggregation: the number of groups differs");
  for (const AggregateRow& row : *found) {
    const std::optional<Value>& group = row.group.front();
    const auto counted = group ? counts.find(*group) : counts.end();
    if (group && counted == counts.end()) return broken("an aggregation: a group too many");
    if (row.figures[0] != Value(group ? counted->second : without)) return broken("an aggregation: a count differs");
    if (row.figures[1] != Value(std::int64_t{group ? 1 : 0})) return broken("an aggregation: a distinct count differs");
  }
  count("aggregations");
}

}  // namespace varve::lab
