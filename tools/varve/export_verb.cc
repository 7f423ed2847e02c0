// Owns: `varve export`: writing a table's rows to a file that import can read.
// Must never: mix two states of a table in a directory: everything is read at one snapshot. A server at an address has
// no snapshots.
#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "tools/varve/base/output_file.h"
#include "tools/varve/session/entity_walk.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/text/csv_row.h"
#include "tools/varve/text/entity_json.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

struct ExportWords {
  Place place;
  std::string format = "jsonl";
  std::string output;
  bool typed = false;
};

/// Refuses a large value as a text without a type: an import of the text would replace the content by a String.
Status check_has_text(const Entity& entity) {
  for (const Property& property : entity.properties()) {
    if (property.value.type() != PropertyType::kLargeValue) continue;
    return Status::unsupported("CSV has no text for the large value " + property.name + " of the entity '" +
                               entity.partition_key() + "', '" + entity.row_key() + "'")
        .with_hint("export JSON Lines, or CSV with --typed: the type shows there that the content is missing");
  }
  return Status();
}

/// Returns every property name of the table, in the order of first appearance.
Result<std::vector<std::string>> columns_of(const TableAccess& table, const ReadOptions& options, bool typed) {
  std::vector<std::string> columns;
  std::set<std::string> known;
  Progress progress("rows looked at", 0);
  Status has_text;
  const Status read = for_each_entity(table, options, progress, [&](const Entity& entity) {
    if (!typed) has_text = check_has_text(entity);
    for (const Property& property : entity.properties()) {
      if (known.insert(property.name).second) columns.push_back(property.name);
    }
    return has_text.ok();
  });
  if (!read.ok()) return read;
  if (!has_text.ok()) return has_text;
  return columns;
}

/// Writes a column for each property. With `typed`, a column NAME@type after it has the type, and shows an empty text.
Status export_csv(const TableAccess& table, const ReadOptions& options, bool typed, std::ostream& out) {
  const Result<std::vector<std::string>> columns = columns_of(table, options, typed);
  if (!columns.ok()) return columns.status();
  std::vector<std::string> header{"PartitionKey", "RowKey"};
  for (const std::string& column : *columns) {
    header.push_back(column);
    if (typed) header.push_back(column + "@type");
  }
  write_csv_row(out, header);
  Progress progress("rows", 0);
  Status has_text;
  const Status read = for_each_entity(table, options, progress, [&](const Entity& entity) {
    if (!typed) has_text = check_has_text(entity);  // A server has no snapshots, so an entity may be newer.
    if (!has_text.ok()) return false;
    std::vector<std::string> fields{entity.partition_key(), entity.row_key()};
    for (const std::string& column : *columns) {
      const Value* value = entity.find(column);
      fields.push_back(value == nullptr ? "" : to_text(*value));
      if (typed) fields.emplace_back(value == nullptr ? "" : property_type_name(value->type()));
    }
    write_csv_row(out, fields);
    return static_cast<bool>(out);
  });
  return has_text.ok() ? read : has_text;
}

Status export_jsonl(const TableAccess& table, const ReadOptions& options, std::ostream& out) {
  Progress progress("rows", 0);
  return for_each_entity(table, options, progress, [&](const Entity& entity) {
    out << entity_to_row(entity) << "\n";
    return static_cast<bool>(out);
  });
}

/// Writes an array with one entity a line.
Status export_json(const TableAccess& table, const ReadOptions& options, std::ostream& out) {
  Progress progress("rows", 0);
  bool any = false;
  out << "[";
  const Status read = for_each_entity(table, options, progress, [&](const Entity& entity) {
    out << (std::exchange(any, true) ? ",\n" : "\n") << entity_to_row(entity);
    return static_cast<bool>(out);
  });
  if (read.ok()) out << "\n]\n";
  return read;
}

Status write(const ExportWords& words, const TableAccess& table, const ReadOptions& options, std::ostream& out) {
  if (words.format == "csv") return export_csv(table, options, words.typed, out);
  return words.format == "json" ? export_json(table, options, out) : export_jsonl(table, options, out);
}

int export_table(const ExportWords& words) {
  Result<std::unique_ptr<StoreAccess>> store = reach_state(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  const Result<ReadOptions> options = options_of_present_state(**store);
  if (!options.ok()) return fail(options.status());

  if (words.output.empty()) {
    const Status written = write(words, **table, *options, std::cout);
    std::cout.flush();
    if (!written.ok()) return fail(written);
    return std::cout ? kSuccess : fail_output("the export could not be written completely");
  }
  OutputFile file(words.output);
  if (Status opened = file.open(); !opened.ok()) return fail(opened);
  if (Status written = write(words, **table, *options, file.stream()); !written.ok()) return fail(written);
  const Status finished = file.finish();
  return finished.ok() ? kSuccess : fail(finished);
}

}  // namespace

void add_export_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<ExportWords>();
  CLI::App* verb = app.add_subcommand("export", "Write a table's entities as CSV, JSON or JSON Lines");
  verb->footer(
      "Exports one state of the table, read at one snapshot. JSON Lines keep every type and can be imported again\n"
      "unchanged; so can JSON, which is one array. CSV has a column for each property name in the table, but no "
      "types.\n"
      "An absent property and an empty text are both an empty field. CSV refuses a table that has large values. With\n"
      "--typed, a column NAME@type after each property has its type: such a file can be imported again unchanged.\n"
      "No export has the contents of large values.\n"
      "\nExamples\n"
      "  varve export ./shop Orders --output orders.jsonl\n"
      "  varve export ./shop Orders --format csv | gzip > orders-again.csv.gz\n"
      "  varve export ./shop Orders --format json > orders.json");
  add_table_words(*verb, words->place);
  verb->add_option("--format", words->format, "csv, json or jsonl")
      ->check(CLI::IsMember({"csv", "json", "jsonl"}))
      ->capture_default_str();
  verb->add_flag("--typed", words->typed, "CSV: write a column NAME@type after each property");
  verb->add_option("--output", words->output,
                   "File to write, replaced when the export is complete; default: standard output");
  verb->callback([words, &exit_code] { exit_code = export_table(*words); });
}

}  // namespace varve::tool
