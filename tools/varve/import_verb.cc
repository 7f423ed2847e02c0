// Owns: `varve import`: writing a file's rows into a table, and reporting on every row.
// Must never: end with success if a row was not imported.
#include <filesystem>
#include <iostream>

#include "tools/varve/import_target.h"
#include "tools/varve/importer.h"
#include "tools/varve/load_importer.h"
#include "tools/varve/outcome.h"
#include "tools/varve/progress.h"
#include "tools/varve/refusal_report.h"
#include "tools/varve/row_source.h"
#include "tools/varve/store_text.h"
#include "tools/varve/terminal.h"
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
Each row becomes an entity. If the table is absent, it is created. Rows of one partition are written in transactions
of up to 100.
CSV needs a header row; an empty field is an absent property. JSON Lines has one object a line; null is absent, and
"X@odata.type":"Edm.Int64" beside "X" sets its type. Without a type, the form of the value decides: true and false,
whole numbers (Edm.Int32, or Edm.Int64 if Edm.Int32 is too small), other numbers, dates that end in Z, else text.
A refused row is reported with its line; the others are imported. If every row is refused, nothing is created. A row
with the key of an earlier row replaces it (or is merged into it) and counts as repeated, not as imported. The store
sets each Timestamp itself and ignores one in the file.
Ctrl-C and read errors end the import after the last whole row that was read. To finish it, run the same import again:
existing rows are replaced or merged again; --mode insert refuses them and inserts the others. Everything is on the
device before the verb ends.
With --load the table must be absent or empty. The import then writes table files directly. That is several times as
fast, and fastest if the rows are sorted by key. All accepted rows appear in the table together at the end. After an
error, a key given twice or Ctrl-C, no row appears.)";

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
    std::cout << R"({"read":)" << counts.read << R"(,"imported":)" << counts.imported << R"(,"repeated":)"
              << counts.repeated << R"(,"refused":)" << counts.refused << R"(,"seconds":)" << seconds;
    if (!words.load) std::cout << R"(,"write_amplification":)" << write_amplification(figures);
    std::cout << "}\n";
    return;
  }
  std::cout << "imported " << with_commas(counts.imported) << " of " << with_commas(counts.read) << " rows into "
            << words.place.table << " in " << duration_text(elapsed) << " (" << with_commas(rate) << " rows/s)\n"
            << "device   "
            << (words.load ? bytes_text(figures.load_written_bytes) + " of table files, no log" : written_text(figures))
            << "\n";
  if (counts.repeated > 0) {
    std::cerr << "varve: " << counted(counts.repeated, "row", "rows") << " had the key of an earlier row and "
              << (words.mode == "merge" ? "was merged into it\n" : "replaced it\n");
  }
  if (counts.refused > 0) {
    std::cerr << "varve: " << with_commas(counts.refused) << (counts.refused == 1 ? " row was" : " rows were")
              << " refused\n";
  }
}

/// The input of an import, and its progress.
struct Input {
  RowSource& source;
  const Lines& lines;
  /// The line on which the last whole row ends.
  std::uint64_t last_line = 0;
};

template <typename AnyImporter>
Status pump(Input& input, AnyImporter& importer, Progress& progress) {
  while (std::optional<Row> row = input.source.next()) {
    input.last_line = row->last_line;
    if (row->entity.ok()) {
      if (Status added = importer.add(row->line, *std::move(row->entity)); !added.ok()) return added;
    } else {
      importer.refuse(row->line, row->entity.status(), row->shape_fault);
    }
    progress.update(importer.counts().read, input.lines.bytes_read());
  }
  if (input.lines.end() == InputEnd::kEndOfFile) return importer.finish();
  const Status stopped = importer.stop();
  return stopped.ok() ? input.lines.status() : stopped;
}

std::string_view what_is_left(const ImportWords& words, const Status& ended) {
  if (words.load) {
    return ended.code() == Code::kUnknown ? "; either all rows were imported or none\n"
                                          : "; nothing was imported; run it again\n";
  }
  return words.mode == "insert"
             ? "; the imported rows stay; run it again to insert the others (it refuses the rows that exist)\n"
             : "; the imported rows stay; run it again to finish it\n";
}

std::string name_of(const ImportWords& words) {
  return words.file == "-" ? "standard input" : show_text(words.file, SIZE_MAX).text;
}

int end_import(const ImportWords& words, const Input& input, const ImportCounts& counts, const Status& ended) {
  if (!ended.ok()) {
    std::cerr << "varve: the import stopped after line " << input.last_line << " of " << name_of(words)
              << what_is_left(words, ended);
    return fail(ended);
  }
  if (const int number = input.lines.stop_signal(); number != 0) {
    std::cerr << "varve: stopped by a signal after line " << input.last_line << " of " << name_of(words)
              << what_is_left(words, ended);
    return 128 + number;
  }
  return counts.refused == 0 ? kSuccess : kRefused;
}

template <typename AnyImporter>
int import_with(AnyImporter& importer, ImportTarget& target, const ImportWords& words, Input input) {
  Status ended;
  std::chrono::nanoseconds elapsed{};
  {
    Progress progress("rows", input.lines.total_bytes());
    ended = pump(input, importer, progress);
    if (Status closed = target.close(); ended.ok()) ended = closed;
    elapsed = progress.elapsed();
  }
  const Result<Statistics> figures = target.store() == nullptr ? Statistics() : target.store()->statistics();
  report(words, importer.counts(), figures.ok() ? *figures : Statistics(), elapsed);
  return end_import(words, input, importer.counts(), ended);
}

int import_rows(const ImportWords& words, RowSource& source, const Lines& lines) {
  ImportTarget target(words.place, words.load);
  if (Status opened = target.open(); !opened.ok()) return fail(opened);
  RefusalReport refusals(words.errors_shown_max);
  const Importer::Refusal report_refusal = [&refusals](std::uint64_t line, const Status& reason,
                                                       std::uint64_t shape_fault) {
    refusals.add(line, reason, shape_fault);
  };
  int exit_code = kSuccess;
  if (words.load) {
    LoadImporter importer(target, report_refusal);
    exit_code = import_with(importer, target, words, {source, lines});
  } else {
    WriteOptions options;
    options.durability = durability_of(words.durability);
    Importer importer(target, mode_of(words.mode), options, report_refusal);
    exit_code = import_with(importer, target, words, {source, lines});
  }
  refusals.end();
  return exit_code;
}

int import_file(ImportWords& words) {
  Result<std::map<std::string, PropertyType>> types = parse_types(words.types);
  if (!types.ok()) return fail(kUsage, types.status().message());
  words.shape.types = *std::move(types);
  if (words.shape.partition_key == words.shape.row_key)
    return fail(kUsage, "--partition-key and --row-key name the same column, \"" + words.shape.row_key + "\"");
  // Checked before anything is created, so that a wrong name does not create a store.
  if (Status named = check_place(words.place); !named.ok()) return fail(named);

  stop_reading_on_signals();
  Result<Lines> lines = Lines::open(words.file);
  if (!lines.ok()) return fail(kMachine, lines.status().message());
  if (format_of(words).empty())
    return fail(kUsage, "the name of FILE does not show its format; give --format csv or --format jsonl");
  Result<std::unique_ptr<RowSource>> source = open_source(words, *lines);
  if (lines->end() == InputEnd::kError) return fail(lines->status());
  if (lines->end() == InputEnd::kSignal) {
    std::cerr << "varve: stopped by a signal before the first row of " << name_of(words)
              << "; nothing was imported; run it again\n";
    return 128 + lines->stop_signal();
  }
  if (!source.ok()) return fail(source.status().in_file(words.file == "-" ? "standard input" : words.file));
  return import_rows(words, **source, *lines);
}

}  // namespace

void add_import_verb(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<ImportWords>();
  CLI::App* verb = app.add_subcommand("import", "Import the rows of a CSV or JSON Lines file into a table");
  verb->footer(kImportHelp);
  add_table_words(*verb, words->place);
  verb->add_option("FILE", words->file, "File to read; - is standard input")->required();
  verb->add_option("--format", words->format, "csv or jsonl; default: by the name of FILE")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  verb->add_option("--partition-key", words->shape.partition_key, "Column of the PartitionKey")->capture_default_str();
  verb->add_option("--row-key", words->shape.row_key, "Column of the RowKey")->capture_default_str();
  verb->add_option("--type", words->types, "Type of a property, NAME=TYPE, such as Price=Edm.Double; may be repeated")
      ->expected(1)
      ->take_all();
  verb->add_flag("--strings", words->strings, "CSV: every value is text, unless --type gives another type");
  CLI::Option* const mode = verb->add_option("--mode", words->mode, "What to do with a row whose entity exists")
                                ->check(CLI::IsMember({"replace", "merge", "insert"}))
                                ->capture_default_str();
  add_durability_words(*verb, words->durability);
  verb->add_flag("--load", words->load, "Fill a new or empty table with all rows or none, much faster")
      ->excludes(mode)
      ->excludes("--durability");
  verb->add_option("--max-errors", words->errors_shown_max, "Number of refused rows to show")
      ->check(whole_number(0))
      ->capture_default_str();
  verb->add_flag("--json", words->json, "Print the report as JSON");
  verb->callback([words, &exit_code] { exit_code = import_file(*words); });
}

}  // namespace varve::tool
