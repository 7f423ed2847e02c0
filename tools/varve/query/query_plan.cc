// Owns: the rules of query_plan.h.
// Must never: guess between two meanings of a command line.
#include "tools/varve/query/query_plan.h"

#include <algorithm>

namespace varve::tool {

namespace {

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string bounds(const ScanRange& range) {
  std::string text;
  if (!range.from().empty()) text += " from " + in_quotes(range.from());
  if (range.to()) text += " up to, but not including, " + in_quotes(*range.to());
  return text;
}

Result<ScanRange> range_of(const KeyWords& words) {
  if (!words.partition) {
    if (words.prefix) return Status::invalid_argument("--prefix needs --partition");
    if (words.from || words.to) return ScanRange::partitions(words.from.value_or(""), words.to);
    return ScanRange::whole_table();
  }
  if (words.prefix && (words.from || words.to))
    return Status::invalid_argument("--prefix cannot be combined with --from or --to");
  if (words.prefix) return ScanRange::rows_with_prefix(*words.partition, *words.prefix);
  if (words.from || words.to) return ScanRange::rows(*words.partition, words.from.value_or(""), words.to);
  return ScanRange::partition(*words.partition);
}

}  // namespace

Result<QueryPlan> plan_query(const KeyWords& words) {
  const bool range_asked = words.from || words.to || words.prefix;
  if (words.row && !words.partition) return Status::invalid_argument("--row needs --partition");
  if (words.row && range_asked)
    return Status::invalid_argument("--row cannot be combined with --from, --to or --prefix");
  if (!words.keys.empty() && (words.partition || range_asked))
    return Status::invalid_argument("--key cannot be combined with --partition, --from, --to or --prefix");
  QueryPlan plan;
  for (const auto& key : words.keys) {
    if (std::find(plan.points.begin(), plan.points.end(), key) == plan.points.end()) plan.points.push_back(key);
  }
  if (words.row) plan.points.emplace_back(*words.partition, *words.row);
  if (!plan.points.empty()) return plan;
  Result<ScanRange> range = range_of(words);
  if (!range.ok()) return range.status();
  plan.range = *std::move(range);
  return plan;
}

std::vector<std::string> describe(const QueryPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& [partition, row] : plan.points)
    lines.push_back("one entity: partition " + in_quotes(partition) + ", row " + in_quotes(row));
  if (!lines.empty()) return lines;
  const ScanRange& range = plan.range;
  const std::string in_partition = " of partition " + in_quotes(range.partition_key());
  switch (range.kind()) {
    case ScanRange::Kind::kTable: return {"the whole table"};
    case ScanRange::Kind::kPartition: return {"all" + in_partition};
    case ScanRange::Kind::kRows: return {"rows" + bounds(range) + in_partition};
    case ScanRange::Kind::kRowPrefix: return {"rows that begin with " + in_quotes(range.from()) + in_partition};
    case ScanRange::Kind::kPartitions: return {"partitions" + bounds(range)};
  }
  return {};
}

}  // namespace varve::tool
