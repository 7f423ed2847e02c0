#include "tools/varve/query/query_explanation.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/store_text.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRangesShownMax = 20;

/// Returns the index that leads to the entities. Empty if there is none.
std::string index_taken(const ScanPlan& plan) {
  const auto taken = std::find_if(plan.indexes.begin(), plan.indexes.end(),
                                  [](const IndexCandidate& index) { return index.is_taken; });
  return taken == plan.indexes.end() ? plan.order_index : taken->name;
}

void print_ranges(const ScanPlan& plan) {
  const std::string taken = index_taken(plan);
  std::cerr << "plan    " << access_path_name(plan.path) << (taken.empty() ? "" : ", by index " + taken) << "\n";
  const std::size_t shown = std::min(plan.ranges.size(), kRangesShownMax);
  for (std::size_t i = 0; i < shown; ++i) {
    std::cerr << "        " << show_text(plan.ranges[i].to_string(), SIZE_MAX).text << "\n";
  }
  if (shown < plan.ranges.size()) std::cerr << "        and " << with_commas(plan.ranges.size() - shown) << " more\n";
  for (const IndexCandidate& index : plan.indexes) {
    std::cerr << "index   " << index.name << ": ";
    if (index.entities) {
      std::cerr << counted(*index.entities, "entity", "entities");
    } else {
      std::cerr << (index.is_taken ? "many entities, read in parts" : "too many entries");
    }
    if (index.is_taken) std::cerr << ", taken";
    if (index.answers_counts) std::cerr << ", answers counts alone";
    std::cerr << (index.answers_pages ? ", answers pages alone\n" : "\n");
  }
  if (!plan.order_index.empty()) {
    const std::string several = ", " + std::to_string(plan.order_components) + " components";
    std::cerr << "order   from index " << plan.order_index << (plan.order_components > 1 ? several : "") << "\n";
  }
  std::cerr << "judges  " << (plan.residual.empty() ? "nothing" : show_text(plan.residual, SIZE_MAX).text) << "\n";
}

/// Prints the keys of the words. With a filter or an index the plan has the ranges, which are smaller.
void print_keys(const Explanation& explained) {
  const ReadFigures& figures = explained.figures;
  std::vector<std::string> lines = describe(explained.plan);
  const bool is_in_plan = !figures.filter.empty() || !explained.ranges.order_index.empty();
  if (explained.plan.points.empty() && is_in_plan) lines.clear();
  if (!explained.plan.points.empty()) lines.resize(std::min(lines.size(), figures.points_read));
  for (const std::string& line : lines) std::cerr << "reads   " << show_text(line, SIZE_MAX).text << "\n";
  if (figures.reads > 1) std::cerr << "reads   twice: first for the names of the columns\n";
}

void print_parts(const PageCost& cost) {
  if (cost.index_parts == 0) return;
  std::cerr << "parts   " << counted(cost.index_parts, "part", "parts") << " of an index, which led to ";
  if (cost.index_parts > 1) std::cerr << with_commas(cost.first_part_entities) << " at first, and at last to ";
  std::cerr << counted(cost.last_part_entities, "entity", "entities") << "\n";
}

void print_lines(const Explanation& explained) {
  const ReadFigures& figures = explained.figures;
  const PageCost& cost = figures.cost;
  const Statistics& after = explained.after;
  const Statistics& before = explained.before;
  if (explained.plan.points.empty()) print_ranges(explained.ranges);
  print_keys(explained);
  if (figures.pages > 0) {
    if (!figures.filter.empty()) std::cerr << "filter  " << show_text(figures.filter, SIZE_MAX).text << "\n";
    std::cerr << "judged  " << counted(cost.entities_examined, "entity", "entities");
    if (cost.key_ranges > 0) std::cerr << " in " << counted(cost.key_ranges, "range of keys", "ranges of keys");
    std::cerr << "\n";
    print_parts(cost);
    std::cerr << "blocks  " << with_commas(cost.blocks_read) << " read, " << with_commas(cost.blocks_from_cache)
              << " from the cache, " << with_commas(cost.blocks_skipped) << " skipped\n";
  }
  std::cerr << "gave    " << counted(figures.entities, "entity", "entities");
  if (figures.pages > 0) std::cerr << " in " << counted(figures.pages, "page", "pages");
  std::cerr << ", in " << duration_text(explained.elapsed) << "\n";
  if (figures.ended_at_top) std::cerr << "ended   at --top; the rest of the keys was not read\n";
  std::cerr << "device  " << counted(after.block_reads - before.block_reads, "block", "blocks") << ", "
            << bytes_text(after.block_read_bytes - before.block_read_bytes) << "\n"
            << "cache   " << with_commas(after.cache.hits - before.cache.hits) << " hits, "
            << with_commas(after.cache.misses - before.cache.misses) << " misses\n"
            << "memory  " << counted(after.memtable_entries, "entry", "entries") << " in memtables, "
            << counted(table_files_of(after), "table file", "table files") << " below\n";
}

Json json_of(const std::optional<TextBound>& bound) {
  return bound ? Json{{"text", bound->text}, {"inclusive", bound->inclusive}} : Json(nullptr);
}

Json json_of(const IndexCandidate& index) {
  return {{"name", index.name},
          {"entities", index.entities ? Json(*index.entities) : Json(nullptr)},
          {"is_taken", index.is_taken},
          {"answers_counts", index.answers_counts},
          {"answers_pages", index.answers_pages}};
}

Json json_of(const PlannedRange& range) {
  return {{"path", access_path_name(range.path)},
          {"partition_key", range.partition_key ? Json(*range.partition_key) : Json(nullptr)},
          {"lower", json_of(range.lower)},
          {"upper", json_of(range.upper)}};
}

void print_json(const Explanation& explained) {
  const ReadFigures& figures = explained.figures;
  const bool has_points = !explained.plan.points.empty();
  Json ranges = Json::array();
  for (const PlannedRange& range : explained.ranges.ranges) ranges.push_back(json_of(range));
  Json indexes = Json::array();
  for (const IndexCandidate& index : explained.ranges.indexes) indexes.push_back(json_of(index));
  const std::string& ordering = explained.ranges.order_index;
  const Json order_index = ordering.empty() ? Json(nullptr) : Json(ordering);
  Json points = Json::array();
  for (std::size_t i = 0; i < figures.points_read && i < explained.plan.points.size(); ++i)
    points.push_back({explained.plan.points[i].first, explained.plan.points[i].second});
  const Json json{{"plan", has_points ? "points" : access_path_name(explained.ranges.path)},
                  {"ranges", ranges},
                  {"points", points},
                  {"residual", explained.ranges.residual},
                  {"indexes", indexes},
                  {"order_index", order_index},
                  {"order_components", explained.ranges.order_components},
                  {"entities_examined", figures.cost.entities_examined},
                  {"key_ranges", figures.cost.key_ranges},
                  {"index_parts", figures.cost.index_parts},
                  {"first_part_entities", figures.cost.first_part_entities},
                  {"last_part_entities", figures.cost.last_part_entities},
                  {"blocks_read", figures.cost.blocks_read},
                  {"blocks_from_cache", figures.cost.blocks_from_cache},
                  {"blocks_skipped", figures.cost.blocks_skipped},
                  {"entities", figures.entities},
                  {"pages", figures.pages},
                  {"reads", figures.reads},
                  {"ended_at_top", figures.ended_at_top},
                  {"device_blocks", explained.after.block_reads - explained.before.block_reads},
                  {"device_bytes", explained.after.block_read_bytes - explained.before.block_read_bytes},
                  {"seconds", std::chrono::duration<double>(explained.elapsed).count()}};
  std::cerr << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void print_explanation(const Explanation& explained, bool as_json) {
  if (as_json) return print_json(explained);
  print_lines(explained);
}

}  // namespace varve::tool
