// Owns: `varve query`: reading keys and ranges, shown as a table, JSON Lines or CSV.
// Must never: mix two states of a table in a directory (all reads use one snapshot), or print anything except rows to
// standard output. A server at an address has no snapshots.
#include <algorithm>
#include <functional>
#include <iostream>
#include <set>

#include "tools/varve/query/property_hint.h"
#include "tools/varve/query/query_explanation.h"
#include "tools/varve/query/query_plan.h"
#include "tools/varve/query/range_words.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/csv_row.h"
#include "tools/varve/text/entity_json.h"
#include "tools/varve/text/entity_table.h"
#include "tools/varve/text/store_text.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

struct QueryWords : RangeWords {
  std::vector<std::string> select;
  std::uint64_t top = 0;
  std::string continuation;
  std::string order_by;
  std::string format;
  bool count = false;
  bool explain = false;
  bool backward = false;
  bool json = false;
  /// Prints the number as a JSON object. `query --count --json` prints a bare number, which is JSON too.
  bool counts_as_object = false;
  /// Reads everything, which is also the default without --top.
  bool all = false;
};

/// Receives a page of entities. Returns false to end the reading.
using TakePage = std::function<bool(const std::vector<Entity>& page)>;

/// Reads the entities of a plan. It can read them repeatedly, always in the same state.
class QueryReader {
 public:
  QueryReader(const TableAccess& table, QueryPlan plan, const QueryWords& words, ReadOptions options)
      : table_(table), plan_(std::move(plan)), words_(words), options_(std::move(options)) {}

  Status read(const TakePage& take) {
    entities_ = 0;
    points_read_ = 0;
    ++reads_;
    continuation_.reset();
    return plan_.points.empty() ? read_range(take) : read_points(take);
  }

  /// Counts the entities that read() would return, and reads only what counting needs.
  Status count() {
    if (!plan_.points.empty()) return read([](const std::vector<Entity>&) { return true; });
    ++reads_;
    Scan scan = scan_of_range();
    if (words_.continuation.empty() && words_.top > 0) scan.take = words_.top;
    for (;;) {
      const Result<Count> part = table_.count(scan);
      if (!part.ok()) return part.status();
      add(part->cost);
      entities_ += part->entities;
      if (!part->continuation) return Status();
      scan.continuation = *part->continuation;
    }
  }
  /// Returns the plan. Errors: those of Table::explain.
  Result<ScanPlan> explain() const { return table_.explain(scan_of_range()); }

  std::uint64_t entities() const noexcept { return entities_; }
  /// Returns what all reads together did.
  ReadFigures figures() const {
    ReadFigures figures{entities_, pages_, reads_, points_read_, cost_, words_.filter, false};
    figures.ended_at_top = words_.top > 0 && entities_ == words_.top;
    return figures;
  }
  /// Returns the token that continues the range after the last returned entity.
  const std::optional<std::string>& continuation() const noexcept { return continuation_; }

 private:
  std::uint64_t entities_max() const noexcept { return words_.top > 0 ? words_.top : UINT64_MAX; }

  Scan scan_of_range() const {
    Scan scan;
    scan.range = plan_.range;
    scan.filter = words_.filter;
    scan.continuation = words_.continuation;
    scan.backward = words_.backward;
    scan.order_by = words_.order_by;
    scan.read = options_;
    return scan;
  }

  /// Adds the cost of a page. The first page counts all key ranges. Later pages continue within them, or take more points of an
  /// index. The sum leaves these out, and counts the parts of the index.
  void add(const PageCost& cost) {
    const std::uint64_t ranges = ++pages_ == 1 ? cost.key_ranges : cost_.key_ranges;
    cost_ += cost;
    cost_.key_ranges = ranges;
  }

  Status read_range(const TakePage& take) {
    Scan scan = scan_of_range();
    for (;;) {
      scan.page_entities_max =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(entities_max() - entities_, limits::kPageEntitiesMax));
      const Result<Page> page = table_.scan(scan);
      if (!page.ok()) return page.status();
      add(page->cost);
      entities_ += page->entities.size();
      continuation_ = page->continuation;
      if (!take(page->entities) || !continuation_ || entities_ == entities_max()) return Status();
      scan.continuation = *continuation_;
    }
  }

  Status read_points(const TakePage& take) {
    std::vector<Entity> page;
    for (const auto& [partition, row] : plan_.points) {
      if (entities_ == entities_max()) break;
      ++points_read_;
      Result<std::optional<Entity>> entity = table_.get(partition, row, options_);
      if (!entity.ok()) return entity.status();
      if (!*entity) continue;
      page.push_back(*std::move(*entity));
      ++entities_;
    }
    take(page);
    return Status();
  }

  const TableAccess& table_;
  QueryPlan plan_;
  const QueryWords& words_;
  ReadOptions options_;
  std::uint64_t entities_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t reads_ = 0;
  std::size_t points_read_ = 0;
  PageCost cost_;
  std::optional<std::string> continuation_;
};

Status print_json_lines(QueryReader& reader) {
  return reader.read([](const std::vector<Entity>& page) {
    for (const Entity& entity : page) std::cout << entity_to_json(entity) << "\n";
    return static_cast<bool>(std::cout);
  });
}

/// Returns every name in the entities, in the order of first appearance.
Result<std::vector<std::string>> names_of(QueryReader& reader) {
  std::vector<std::string> names;
  std::set<std::string> known;
  const Status read = reader.read([&](const std::vector<Entity>& page) {
    for (const Entity& entity : page) {
      for (const Property& property : entity.properties()) {
        if (known.insert(property.name).second) names.push_back(property.name);
      }
    }
    return true;
  });
  if (!read.ok()) return read;
  return names;
}

Status print_csv(QueryReader& reader, const std::vector<std::string>& select) {
  Result<std::vector<std::string>> names = select.empty() ? names_of(reader) : select;
  if (!names.ok()) return names.status();
  std::vector<std::string> fields{"PartitionKey", "RowKey"};
  fields.insert(fields.end(), names->begin(), names->end());
  write_csv_row(std::cout, fields);
  return reader.read([&](const std::vector<Entity>& page) {
    for (const Entity& entity : page) {
      fields = {entity.partition_key(), entity.row_key()};
      for (const std::string& name : *names) {
        const Value* value = entity.find(name);
        fields.push_back(value == nullptr ? "" : to_text(*value));
      }
      write_csv_row(std::cout, fields);
    }
    return static_cast<bool>(std::cout);
  });
}

Status print_table(QueryReader& reader, const std::vector<std::string>& select) {
  EntityTable table(std::cout, select, output_columns());
  const Status read = reader.read([&](const std::vector<Entity>& page) {
    table.print(page);
    return static_cast<bool>(std::cout);
  });
  std::cout.flush();
  if (!read.ok()) return read;
  std::cerr << counted(reader.entities(), "entity", "entities");
  if (!table.left_out().empty()) {
    std::cerr << "; no room for " << counted(table.left_out().size(), "column", "columns") << ", from "
              << show_text(table.left_out().front(), 40).text << " on (choose with --select)";
  }
  std::cerr << "\n";
  return Status();
}

Status count_entities(QueryReader& reader, bool as_object) {
  const Status counted = reader.count();
  if (!counted.ok()) return counted;
  if (as_object) {
    std::cout << R"({"entities":)" << reader.entities() << "}\n";
  } else {
    std::cout << reader.entities() << "\n";
  }
  return counted;
}

Status print_rows(QueryReader& reader, const QueryWords& words) {
  if (words.count) return count_entities(reader, words.counts_as_object);
  std::string format = words.json ? "jsonl" : words.format;
  if (format.empty()) format = is_terminal_output() ? "table" : "jsonl";
  if (format == "csv") return print_csv(reader, words.select);
  return format == "table" ? print_table(reader, words.select) : print_json_lines(reader);
}

int query_table(const QueryWords& words) {
  Result<QueryPlan> plan = plan_query(words.keys);
  if (!plan.ok()) return fail(kUsage, plan.status().message());
  if (!words.continuation.empty() && !plan->points.empty())
    return fail(kUsage, "--continuation cannot be combined with --row or --key");
  if (words.backward && !plan->points.empty()) return fail(kUsage, "--backward cannot be combined with --row or --key");
  if (!words.order_by.empty() && !plan->points.empty())
    return fail(kUsage, "--order-by cannot be combined with --row or --key");
  if (!words.filter.empty() && !plan->points.empty())
    return fail(kUsage, "--filter cannot be combined with --row or --key");
  Result<std::unique_ptr<StoreAccess>> store = reach_state(words.place);
  if (!store.ok()) return fail(store.status());
  Store* const local = (*store)->local();
  if (words.explain && local == nullptr)
    return fail(kUsage,
                "--explain shows plan and figures of the store, which the protocol of an address does not carry; give "
                "the directory of the store instead, which may be served");
  const Result<Statistics> before = local == nullptr ? Statistics() : local->statistics();
  if (!before.ok()) return fail(before.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());

  ReadOptions options{words.select};
  if (local != nullptr) {
    Result<Snapshot> snapshot = local->snapshot();
    if (!snapshot.ok()) return fail(snapshot.status());
    options.snapshot = *std::move(snapshot);
  }
  if (words.count) options.select = {"PartitionKey"};  // keys always exist, so no property is decoded
  QueryReader reader(**table, *plan, words, options);
  if (!words.count) page_long_output();
  const Progress timer("entities", 0);
  if (Status printed = print_rows(reader, words); !printed.ok()) return fail(printed);
  const std::chrono::nanoseconds elapsed = timer.elapsed();
  if (reader.continuation() && std::cout) {
    std::cout.flush();
    std::cerr << "there is more; continue with --continuation '" << *reader.continuation() << "'\n";
  }
  // A look for the hint reads too, so the figures come first.
  const Result<Statistics> after = words.explain ? local->statistics() : Result<Statistics>(Statistics());
  if (!after.ok()) return fail(after.status());
  if (reader.entities() == 0 && !words.filter.empty()) print_hint(property_hint(**table, words.filter, options));
  if (!words.explain) return kSuccess;
  const Result<ScanPlan> ranges = plan->points.empty() ? reader.explain() : Result<ScanPlan>(ScanPlan());
  if (!ranges.ok()) return fail(ranges.status());
  std::cout.flush();
  print_explanation({*plan, *ranges, reader.figures(), *before, *after, elapsed}, words.json);
  return kSuccess;
}

void add_count_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<QueryWords>();
  words->count = true;
  CLI::App* verb = app.add_subcommand("count", "Print the number of entities, as query --count");
  verb->footer(
      "Examples\n"
      "  varve count ./shop Orders\n"
      "  varve count ./shop Orders --filter \"PartitionKey eq 'eu' and Lines ge 3\"");
  add_range_words(*verb, *words);
  add_key_words(*verb, *words);
  add_json_words(*verb, words->counts_as_object, "Print the number as JSON: {\"entities\":N}");
  verb->callback([words, &exit_code] { exit_code = query_table(*words); });
}

}  // namespace

void add_query_verb(CLI::App& app, int& exit_code) {
  add_count_verb(app, exit_code);
  auto words = std::make_shared<QueryWords>();
  CLI::App* verb =
      app.add_subcommand("query", "Print entities: by key, by range, of a partition, or of the whole table");
  verb->footer(
      "Reads one state of the table. Prints in key order, or as --order-by says, and entities of --key in the order "
      "given.\n"
      "\nExamples\n"
      "  varve query ./shop Orders --partition eu --prefix 00 --top 10\n"
      "  varve query ./shop Orders --key eu 0001 --key us 0007 --select Customer,Total\n"
      "  varve query ./shop Orders --from de --to fr --count\n"
      "  varve query ./shop Orders --filter \"PartitionKey eq 'eu' and Total gt 100.0\" --explain\n"
      "  varve query ./shop Orders --partition eu --backward --top 5\n"
      "  varve query ./shop Orders --order-by 'Total desc,Customer' --top 10\n"
      "  varve query ./shop Orders --partition eu --format csv > eu.csv");
  add_range_words(*verb, *words);
  add_key_words(*verb, *words);
  verb->add_option("--select", words->select, "Properties to print, separated by commas")
      ->delimiter(',')
      ->group(kOutputGroup);
  CLI::Option* top =
      verb->add_option("--top", words->top, "Number of entities to print; default: all")->check(whole_number(1));
  verb->add_flag("--all", words->all, "Print all entities, page after page, as without --top")->excludes(top);
  CLI::Option* backward = verb->add_flag("--backward", words->backward, "From the greatest key to the smallest");
  CLI::Option* order_by =
      verb->add_option("--order-by", words->order_by,
                       "Up to four properties or keys, separated by commas, each with asc or desc; needs --top, since "
                       "without an index the whole range is read to find the first entities")
          ->type_name("ORDER")
          ->needs(top)
          ->excludes(backward);
  verb->add_option("--continuation", words->continuation, "Continue where an earlier query of the same range stopped");
  CLI::Option* format =
      verb->add_option("--format", words->format, "table, jsonl or csv; default: table on a terminal, jsonl elsewhere")
          ->check(CLI::IsMember({"table", "jsonl", "csv"}))
          ->group(kOutputGroup);
  verb->add_flag("--json", words->json, "Print JSON Lines, also on a terminal")->group(kOutputGroup)->excludes(format);
  verb->add_flag("--count", words->count, "Print only the number of entities")
      ->group(kOutputGroup)
      ->excludes(format)
      ->excludes(order_by);
  verb->add_flag("--explain", words->explain, "Print on standard error which keys were read, and at what cost")
      ->group(kOutputGroup);
  verb->callback([words, &exit_code] { exit_code = query_table(*words); });
}

}  // namespace varve::tool
