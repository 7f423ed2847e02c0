// Owns: `varve export`: writing a table's rows to a file that import can read.
// Must never: mix two states of a table in a directory: everything is read at one snapshot. A server at an address has
// no snapshots.
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include "tools/varve/base/output_file.h"
#include "tools/varve/large/content_files.h"
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
  std::string contents;
  bool typed = false;

  /// Whether rows have neither a type nor the name of a file for a large value.
  bool has_plain_texts() const { return format == "csv" && !typed && contents.empty(); }
};

/// Refuses a large value as a text without a type: an import of the text would replace the content by a String.
Status check_has_text(const Entity& entity) {
  for (const Property& property : entity.properties()) {
    if (property.value.type() != PropertyType::kLargeValue) continue;
    return Status::unsupported("CSV has no text for the large value " + property.name + " of the entity '" +
                               entity.partition_key() + "', '" + entity.row_key() + "'")
        .with_hint(
            "add --contents for the contents, or export JSON Lines or CSV with --typed: the type shows there that "
            "the content is missing");
  }
  return Status();
}

/// What an export reads and writes.
struct ExportWork {
  const TableAccess& table;
  const ReadOptions& options;
  std::ostream& out;
  /// Writes the contents of large values. Null leaves them out.
  ContentFiles* contents = nullptr;
  /// As ExportWords::has_plain_texts().
  bool has_plain_texts = false;

  LargeValueText large_values() const noexcept {
    return contents == nullptr ? LargeValueText::kDescription : LargeValueText::kFileName;
  }
};

/// Calls `print` for each entity, after its contents are in files. Errors: kUnsupported (check_has_text()).
Status print_each(const ExportWork& work, const std::function<void(const Entity& entity)>& print) {
  Progress progress("rows", 0);
  Status written;
  const Status read = for_each_entity(work.table, work.options, progress, [&](const Entity& entity) {
    if (work.has_plain_texts) written = check_has_text(entity);  // Pages of a server may be newer than columns_of().
    if (work.contents != nullptr) written = work.contents->write(entity);
    if (written.ok()) print(entity);
    return written.ok() && static_cast<bool>(work.out);
  });
  return written.ok() ? read : written;
}

/// Returns every property name of the table, in the order of first appearance. Errors: kUnsupported (check_has_text()).
Result<std::vector<std::string>> columns_of(const ExportWork& work) {
  std::vector<std::string> columns;
  std::set<std::string> known;
  Progress progress("rows looked at", 0);
  Status has_text;
  const Status read = for_each_entity(work.table, work.options, progress, [&](const Entity& entity) {
    if (work.has_plain_texts) has_text = check_has_text(entity);
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
Status export_csv(const ExportWork& work, bool typed) {
  const Result<std::vector<std::string>> columns = columns_of(work);
  if (!columns.ok()) return columns.status();
  std::vector<std::string> header{"PartitionKey", "RowKey"};
  for (const std::string& column : *columns) {
    header.push_back(column);
    if (typed) header.push_back(column + "@type");
  }
  write_csv_row(work.out, header);
  return print_each(work, [&](const Entity& entity) {
    std::vector<std::string> fields{entity.partition_key(), entity.row_key()};
    for (const std::string& column : *columns) {
      const Value* value = entity.find(column);
      fields.push_back(value == nullptr ? "" : to_text(*value, work.large_values()));
      if (typed) fields.emplace_back(value == nullptr ? "" : property_type_name(value->type()));
    }
    write_csv_row(work.out, fields);
  });
}

Status export_jsonl(const ExportWork& work) {
  return print_each(work,
                    [&](const Entity& entity) { work.out << entity_to_row(entity, work.large_values()) << "\n"; });
}

/// Writes an array with one entity a line.
Status export_json(const ExportWork& work) {
  bool any = false;
  work.out << "[";
  const Status read = print_each(work, [&](const Entity& entity) {
    work.out << (std::exchange(any, true) ? ",\n" : "\n") << entity_to_row(entity, work.large_values());
  });
  if (read.ok()) work.out << "\n]\n";
  return read;
}

Status write(const ExportWords& words, const ExportWork& work) {
  if (words.format == "csv") return export_csv(work, words.typed);
  return words.format == "json" ? export_json(work) : export_jsonl(work);
}

/// Begins to write the contents of large values. Returns null if the line does not ask for them.
Result<std::unique_ptr<ContentFiles>> begin_contents(const ExportWords& words, StoreAccess& store,
                                                     const ReadOptions& options) {
  if (words.contents.empty()) return std::unique_ptr<ContentFiles>();
  if (store.local() == nullptr) {
    return Status::invalid_argument("--contents needs the directory of the store; an address shows no contents");
  }
  Result<Table> table = store.local()->open_table(words.place.account, words.place.table);
  if (!table.ok()) return table.status();
  auto files = std::make_unique<ContentFiles>(*std::move(table), options, words.contents);
  if (Status made = files->make_directory(); !made.ok()) return made;
  return files;
}

int export_table(const ExportWords& words) {
  Result<std::unique_ptr<StoreAccess>> store = reach_state(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  const Result<ReadOptions> options = options_of_present_state(**store);
  if (!options.ok()) return fail(options.status());

  const Result<std::unique_ptr<ContentFiles>> contents = begin_contents(words, **store, *options);
  if (!contents.ok()) return fail(contents.status());
  if (words.output.empty()) {
    const Status written = write(words, {**table, *options, std::cout, contents->get(), words.has_plain_texts()});
    std::cout.flush();
    if (!written.ok()) return fail(written);
    return std::cout ? kSuccess : fail_output("the export could not be written completely");
  }
  OutputFile file(words.output);
  if (Status opened = file.open(); !opened.ok()) return fail(opened);
  const ExportWork work{**table, *options, file.stream(), contents->get(), words.has_plain_texts()};
  if (Status written = write(words, work); !written.ok()) return fail(written);
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
      "An absent property and an empty text are both an empty field. With --typed, a column NAME@type after each\n"
      "property has its type: such a file can be imported again unchanged.\n"
      "\n"
      "With --contents, each large value is written to a file of the directory, whose name is the number of its\n"
      "content. The row has that name, and import --contents reads both. Without it, the row has the number and the\n"
      "length alone, and CSV without types refuses a table that has large values.\n"
      "\nExamples\n"
      "  varve export ./shop Orders --output orders.jsonl\n"
      "  varve export ./shop Orders --format csv | gzip > orders-again.csv.gz\n"
      "  varve export ./shop Orders --format json > orders.json\n"
      "  varve export ./staff People --contents photos --output people.jsonl");
  add_table_words(*verb, words->place);
  verb->add_option("--format", words->format, "csv, json or jsonl")
      ->check(CLI::IsMember({"csv", "json", "jsonl"}))
      ->capture_default_str();
  verb->add_flag("--typed", words->typed, "CSV: write a column NAME@type after each property");
  verb->add_option("--output", words->output,
                   "File to write, replaced when the export is complete; default: standard output");
  verb->add_option("--contents", words->contents, "Directory for the contents of large values, made if it is absent")
      ->type_name("DIRECTORY");
  verb->callback([words, &exit_code] { exit_code = export_table(*words); });
}

}  // namespace varve::tool
