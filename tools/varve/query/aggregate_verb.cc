// Owns: `varve aggregate`: figures over the entities of a range, by groups.
// Must never: mix two states of a table in a directory: all calls read one snapshot. A server at an address has none.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/query/range_words.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/csv_row.h"
#include "tools/varve/text/entity_table.h"
#include "tools/varve/text/value_text.h"
#include "varve/aggregate.h"

namespace varve::tool {

namespace {

constexpr const char* kFiguresGroup = "Figures";

struct AggregateWords : RangeWords {
  std::vector<Aggregate> figures;
  std::vector<std::string> group_by;
  std::string format;
  bool json = false;
};

/// Returns the name of a figure in the output, for example `sum(Total)`.
std::string name_of(const Aggregate& figure) {
  switch (figure.kind) {
    case Aggregate::Kind::kCount: return "count(" + figure.property + ")";
    case Aggregate::Kind::kSum: return "sum(" + figure.property + ")";
    case Aggregate::Kind::kMin: return "min(" + figure.property + ")";
    case Aggregate::Kind::kMax: return "max(" + figure.property + ")";
    case Aggregate::Kind::kAverage: return "average(" + figure.property + ")";
    case Aggregate::Kind::kDistinct: break;
  }
  return "distinct(" + figure.property + ")";
}

/// Parses PROPERTY, KEY:CHARACTERS or KEY:DELIMITER. Digits are always a number of characters.
Result<GroupBy> grouping_of(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) return GroupBy{word};
  GroupBy grouping{word.substr(0, colon)};
  const std::string rest = word.substr(colon + 1);
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), grouping.characters);
  if (parsed.ec == std::errc() && parsed.ptr == rest.data() + rest.size() && grouping.characters > 0) return grouping;
  if (!rest.empty() && rest.find_first_not_of("0123456789") == std::string::npos) {
    return Status::invalid_argument("--group-by " + word + ": the number of characters must be 1 to " +
                                    std::to_string(UINT32_MAX));
  }
  grouping.characters = 0;
  grouping.delimiter = rest;
  return grouping;
}

/// The rows of the answer, with a name for each column.
struct Answer {
  std::vector<std::string> names;
  std::vector<std::vector<std::optional<Value>>> rows;
};

nlohmann::ordered_json json_of(const std::optional<Value>& value) {
  if (!value) return nullptr;
  if (const bool* flag = value->get_if<bool>()) return *flag;
  if (const std::int32_t* number = value->get_if<std::int32_t>()) return *number;
  if (const std::int64_t* number = value->get_if<std::int64_t>()) return *number;
  if (const double* number = value->get_if<double>(); number != nullptr && std::isfinite(*number)) return *number;
  return to_text(*value);
}

void print_json(const Answer& answer) {
  for (const std::vector<std::optional<Value>>& row : answer.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) object[answer.names[i]] = json_of(row[i]);
    std::cout << object.dump() << "\n";
  }
}

void print_csv(const Answer& answer) {
  write_csv_row(std::cout, answer.names);
  std::vector<std::string> fields;
  for (const std::vector<std::optional<Value>>& row : answer.rows) {
    fields.clear();
    for (const std::optional<Value>& value : row) fields.push_back(value ? to_text(*value) : "");
    write_csv_row(std::cout, fields);
  }
}

void print_table(const Answer& answer) {
  std::vector<Entity> rows;
  for (const std::vector<std::optional<Value>>& row : answer.rows) {
    Entity& entity = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i]) entity.set(answer.names[i], *row[i]);
    }
  }
  EntityTable table(std::cout, answer.names, output_columns());
  table.hide_keys();
  table.print(rows);
}

Result<Answer> aggregate(const TableAccess& table, const AggregateWords& words, Scan& scan) {
  std::vector<GroupBy> group_by;
  Answer answer;
  for (const std::string& word : words.group_by) {
    Result<GroupBy> grouping = grouping_of(word);
    if (!grouping.ok()) return grouping.status();
    group_by.push_back(*std::move(grouping));
    answer.names.push_back(word);
  }
  for (const Aggregate& figure : words.figures) answer.names.push_back(name_of(figure));
  Result<Aggregation> into = Aggregation::create(words.figures, group_by);
  if (!into.ok()) return into.status();
  for (;;) {
    const Result<Count> part = table.aggregate(scan, *into);
    if (!part.ok()) return part.status();
    if (!part->continuation) break;
    scan.continuation = *part->continuation;
  }
  Result<std::vector<AggregateRow>> rows = (*into).rows();
  if (!rows.ok()) return rows.status();
  for (AggregateRow& row : *rows) {
    std::vector<std::optional<Value>>& values = answer.rows.emplace_back(std::move(row.group));
    for (std::optional<Value>& figure : row.figures) values.push_back(std::move(figure));
  }
  return answer;
}

int aggregate_table(const AggregateWords& words) {
  const Result<QueryPlan> plan = plan_query(words.keys);
  if (!plan.ok()) return fail(kUsage, plan.status().message());
  if (words.figures.empty()) return fail(kUsage, "no figure is named; give for example --count or --sum PROPERTY");
  Result<std::unique_ptr<StoreAccess>> store = reach_state(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  Scan scan;
  scan.range = plan->range;
  scan.filter = words.filter;
  if (Store* const local = (*store)->local(); local != nullptr) {
    Result<Snapshot> snapshot = local->snapshot();
    if (!snapshot.ok()) return fail(snapshot.status());
    scan.read.snapshot = *std::move(snapshot);
  }
  const Result<Answer> answer = aggregate(**table, words, scan);
  if (!answer.ok()) return fail(answer.status());
  page_long_output();
  std::string format = words.json ? "jsonl" : words.format;
  if (format.empty()) format = is_terminal_output() ? "table" : "jsonl";
  if (format == "csv") {
    print_csv(*answer);
  } else {
    format == "table" ? print_table(*answer) : print_json(*answer);
  }
  std::cout.flush();
  return kSuccess;
}

/// Adds an option that names a property. The columns of the output have the order of these options.
void add_figure(CLI::App& verb, const std::shared_ptr<AggregateWords>& words, const std::string& option,
                Aggregate::Kind kind, const std::string& about) {
  verb.add_option_function<std::vector<std::string>>(
          option,
          [words, kind](const std::vector<std::string>& properties) {
            for (const std::string& property : properties) words->figures.push_back({kind, property});
          },
          about)
      ->type_name("PROPERTY")
      ->expected(1)
      ->take_all()
      ->group(kFiguresGroup);
}

}  // namespace

void add_aggregate_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<AggregateWords>();
  CLI::App* verb = app.add_subcommand("aggregate", "Print counts, sums and other figures of entities, by groups");
  verb->footer(
      "Reads one state of the table. Entities without a property do not change its figures. Numbers of\n"
      "all types compare and add as numbers. A sum of integers is exact.\n"
      "\nExamples\n"
      "  varve aggregate ./shop Orders --count --sum Total --group-by Country\n"
      "  varve aggregate ./shop Orders --average Total --filter \"PartitionKey eq 'eu'\"\n"
      "  varve aggregate ./shop Visits --count --group-by RowKey:7   # the month of 2026-03-03");
  add_range_words(*verb, *words);
  verb->add_flag_callback(
          "--count", [words] { words->figures.push_back(Aggregate::count()); }, "The number of entities")
      ->group(kFiguresGroup);
  add_figure(*verb, words, "--count-of", Aggregate::Kind::kCount, "The number of entities that have the property");
  add_figure(*verb, words, "--sum", Aggregate::Kind::kSum, "The sum of a property's numbers");
  add_figure(*verb, words, "--min", Aggregate::Kind::kMin, "The smallest value of a property");
  add_figure(*verb, words, "--max", Aggregate::Kind::kMax, "The largest value of a property");
  add_figure(*verb, words, "--average", Aggregate::Kind::kAverage, "The average of a property's numbers");
  add_figure(*verb, words, "--distinct", Aggregate::Kind::kDistinct, "The number of different values of a property");
  verb->add_option("--group-by", words->group_by,
                   "One row for each value of this property. KEY:7 takes the first 7 characters of PartitionKey or "
                   "RowKey, and KEY:! all up to the first `!`. May be given twice")
      ->type_name("PROPERTY")
      ->expected(1)
      ->take_all();
  CLI::Option* format =
      verb->add_option("--format", words->format, "table, jsonl or csv; default: table on a terminal, jsonl elsewhere")
          ->check(CLI::IsMember({"table", "jsonl", "csv"}))
          ->group(kOutputGroup);
  verb->add_flag("--json", words->json, "Print JSON Lines, also on a terminal")->group(kOutputGroup)->excludes(format);
  verb->callback([words, &exit_code] { exit_code = aggregate_table(*words); });
}

}  // namespace varve::tool
