// Owns: `varve import`: a file's rows into a table, with an account of every row.
// Must never: end with success when a row was not imported.
#include <filesystem>
#include <iostream>

#include "tools/varve/importer.h"
#include "tools/varve/load_importer.h"
#include "tools/varve/outcome.h"
#include "tools/varve/progress.h"
#include "tools/varve/row_source.h"
#include "tools/varve/store_text.h"
#include "tools/varve/value_text.h"
#include "tools/varve/verbs.h"

namespace varve::tool {

namespace {

struct ImportWords {
  Place place;
  std::string file;
  std::string format;
  RowShape shape;
  std::vector<std::string> types;
  bool strings = false;
  std::string mode = "replace";
  std::string durability = "buffered";
  std::uint64_t errors_shown_max = 100;
  bool load = false;
  bool json = false;
};

constexpr const char* kImportHelp = R"(
Rows become entities; the table is made if it is absent. Rows of one partition go in transactions of up to 100.
CSV needs a header row; an empty field is an absent property. JSON Lines takes one object a line; null is absent, and
"X@odata.type":"Edm.Int64" beside "X" sets its type. Without a type, a value is what it looks like: true and false,
whole numbers (Edm.Int32, or Edm.Int64 where that is too small), other numbers, dates that end in Z, else text.
A row that is refused is reported with its line; the others are imported. A Timestamp is not taken over: the store sets
it. An import that was cut short is finished by running it again: rows that are there are replaced. Ctrl-C ends it
after the rows read so far. Everything is on the device before the verb ends.
With --load the table must be absent or empty. Its files are written directly, several times as fast, fastest where the
rows stand in the order of their keys. All rows that are not refused come into the table together at the end, or, after
an error, a key given twice or Ctrl-C, none.)";

std::string format_of(const ImportWords& words) {
  if (!words.format.empty()) return words.format;
  const std::string extension = std::filesystem::path(words.file).extension().string();
  if (extension == ".csv") return "csv";
  return extension == ".jsonl" || extension == ".ndjson" || extension == ".json" ? "jsonl" : "";
}

ImportMode mode_of(const std::string& word) {
  if (word == "merge") return ImportMode::kInsertOrMerge;
  return word == "insert" ? ImportMode::kInsert : ImportMode::kInsertOrReplace;
}

Result<std::unique_ptr<RowSource>> open_source(const ImportWords& words, Lines& lines) {
  if (format_of(words) == "csv") return make_csv_source(lines, words.shape, !words.strings);
  return make_jsonl_source(lines, words.shape);
}

void report(const ImportWords& words, const ImportCounts& counts, const Statistics& figures,
            std::chrono::nanoseconds elapsed) {
  const double seconds = std::max(std::chrono::duration<double>(elapsed).count(), 1e-9);
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(counts.imported) / seconds);
  if (words.json) {
    std::cout << R"({"read":)" << counts.read << R"(,"imported":)" << counts.imported << R"(,"refused":)"
              << counts.refused << R"(,"seconds":)" << seconds;
    if (!words.load) std::cout << R"(,"write_amplification":)" << write_amplification(figures);
    std::cout << "}\n";
    return;
  }
  std::cout << "imported " << with_commas(counts.imported) << " of " << with_commas(counts.read) << " rows into "
            << words.place.table << " in " << duration_text(elapsed) << " (" << with_commas(rate) << " rows/s)\n"
            << "device   "
            << (words.load ? bytes_text(figures.load_written_bytes) + " of table files, no log" : written_text(figures))
            << "\n";
  if (counts.refused > 0) {
    std::cerr << "varve: " << with_commas(counts.refused) << (counts.refused == 1 ? " row was" : " rows were")
              << " refused\n";
  }
}

template <typename AnyImporter>
Status pump(RowSource& source, const Lines& lines, AnyImporter& importer, Progress& progress) {
  while (std::optional<Row> row = source.next()) {
    if (row->entity.ok()) {
      if (Status added = importer.add(row->line, *std::move(row->entity)); !added.ok()) return added;
    } else {
      importer.refuse(row->line, row->entity.status());
    }
    progress.update(importer.counts().read, lines.bytes_read());
  }
  const Status finished = importer.finish();
  return finished.ok() ? lines.status() : finished;
}

Importer::Refusal print_refusals(std::uint64_t shown_max) {
  return [shown_max, shown = std::uint64_t{0}](std::uint64_t line, const Status& reason) mutable {
    if (shown++ < shown_max) {
      std::cerr << "line " << line << ": " << reason.to_string() << "\n";
    } else if (shown == shown_max + 1) {
      std::cerr << "further lines are counted, not shown; see --max-errors\n";
    }
  };
}

int end_import(const ImportWords& words, const Lines& lines, const ImportCounts& counts, const Status& ended) {
  const std::string_view left =
      words.load ? "; nothing was imported\n" : "; what was imported stays, and running it again finishes it\n";
  if (!ended.ok()) {
    std::cerr << "varve: the import stopped at line " << lines.number() << left;
    return fail(ended);
  }
  if (const int number = stop_signal(); number != 0) {
    std::cerr << "varve: stopped by a signal behind line " << lines.number() << " of "
              << (words.file == "-" ? "standard input" : words.file) << left;
    return 128 + number;
  }
  return counts.refused == 0 ? kSuccess : kRefused;
}

template <typename AnyImporter>
int import_with(AnyImporter& importer, Store& store, const ImportWords& words, RowSource& source, const Lines& lines) {
  Status ended;
  std::chrono::nanoseconds elapsed{};
  {
    Progress progress("rows", lines.total_bytes());
    ended = pump(source, lines, importer, progress);
    if (Status synced = store.sync(); ended.ok()) ended = synced;
    elapsed = progress.elapsed();
  }
  if (Status closed = store.close(); ended.ok()) ended = closed;
  const Result<Statistics> figures = store.statistics();
  report(words, importer.counts(), figures.ok() ? *figures : Statistics(), elapsed);
  return end_import(words, lines, importer.counts(), ended);
}

int load_rows(const ImportWords& words, RowSource& source, const Lines& lines) {
  Result<std::unique_ptr<Store>> store = open_or_make(words.place);
  if (!store.ok()) return fail(store.status());
  if (Status made = make_account_if_absent(**store, words.place.account); !made.ok()) return fail(made);
  Result<Loader> loader = (*store)->load_table(words.place.account, words.place.table);
  if (!loader.ok()) return fail(loader.status());
  LoadImporter importer(*loader, print_refusals(words.errors_shown_max));
  return import_with(importer, **store, words, source, lines);
}

int import_rows(const ImportWords& words, RowSource& source, const Lines& lines) {
  Result<std::unique_ptr<Store>> store = open_or_make(words.place);
  if (!store.ok()) return fail(store.status());
  Result<Table> table = open_or_make_table(**store, words.place);
  if (!table.ok()) return fail(table.status());

  WriteOptions options;
  options.durability = durability_of(words.durability);
  Importer importer(*table, mode_of(words.mode), options, print_refusals(words.errors_shown_max));
  return import_with(importer, **store, words, source, lines);
}

int import_file(ImportWords& words) {
  Result<std::map<std::string, PropertyType>> types = parse_types(words.types);
  if (!types.ok()) return fail(kUsage, types.status().message());
  words.shape.types = *std::move(types);
  if (words.shape.partition_key == words.shape.row_key)
    return fail(kUsage, "--partition-key and --row-key name the same column, \"" + words.shape.row_key + "\"");
  // Before anything is made: a wrong name must not leave a new store behind.
  if (Status named = check_place(words.place); !named.ok()) return fail(named);

  stop_reading_on_signals();
  Result<Lines> lines = Lines::open(words.file);
  if (!lines.ok()) return fail(kMachine, lines.status().message());
  if (format_of(words).empty())
    return fail(kUsage, "say --format csv or --format jsonl; the file's name does not tell");
  Result<std::unique_ptr<RowSource>> source = open_source(words, *lines);
  if (!lines->status().ok()) return fail(lines->status());
  if (!source.ok()) return fail(source.status().in_file(words.file == "-" ? "standard input" : words.file));
  return words.load ? load_rows(words, **source, *lines) : import_rows(words, **source, *lines);
}

}  // namespace

void add_import_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<ImportWords>();
  CLI::App* verb = app.add_subcommand("import", "Bring the rows of a CSV or JSON Lines file into a table");
  verb->footer(kImportHelp);
  add_table_words(*verb, words->place);
  verb->add_option("FILE", words->file, "File to read; - is standard input")->required();
  verb->add_option("--format", words->format, "csv or jsonl; else by the file's name")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  verb->add_option("--partition-key", words->shape.partition_key, "Column of the PartitionKey")->capture_default_str();
  verb->add_option("--row-key", words->shape.row_key, "Column of the RowKey")->capture_default_str();
  verb->add_option("--type", words->types, "NAME=TYPE, as in Price=Edm.Double; may be repeated")
      ->expected(1)
      ->take_all();
  verb->add_flag("--strings", words->strings, "CSV: values are texts unless --type says otherwise");
  CLI::Option* const mode = verb->add_option("--mode", words->mode, "What happens to an entity that is there")
                                ->check(CLI::IsMember({"replace", "merge", "insert"}))
                                ->capture_default_str();
  add_durability_words(*verb, words->durability);
  verb->add_flag("--load", words->load, "Fill a new or empty table, all or nothing and much faster")
      ->excludes(mode)
      ->excludes("--durability");
  verb->add_option("--max-errors", words->errors_shown_max, "Refused rows to show")->capture_default_str();
  verb->add_flag("--json", words->json, "Report as JSON");
  verb->callback([words, &exit_code] { exit_code = import_file(*words); });
}

}  // namespace varve::tool
