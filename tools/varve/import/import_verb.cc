// Owns: the command line of `varve import`.
// Must never: read a file.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/varve/import/import_run.h"
#include "tools/varve/input/converted_input.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

constexpr const char* kImportHelp = R"(
Each row becomes an entity. If the table is absent, it is created. Rows of one partition are written in transactions
of up to 100.

Examples
  varve import ./shop Orders orders.csv --partition-key region --row-key id
  varve import ./geo Cities cities.csv.gz --partition-key country --row-key '{admin1}|{name}' --dry-run
  varve import ./geo Countries iso_3166-1.json --records 3166-1 --partition-key =world --row-key alpha_2
  varve import ./geo Zones zone1970.tab --comment '#' --short-rows --partition-key codes --row-key TZ --key-replace :
  varve import ./geo Regions iso_3166-2.json --records 3166-2 --partition-key '{code[:2]}' --row-key code
  varve import ./geo Places places.geojson --records features --nested flatten --fix-names \
      --partition-key =places --row-key '{@row}'
  varve import ./logs Events 'events-*.jsonl.gz' --partition-key host --row-key '{@inverted-ticks}'
  varve import ./staff Copies people.csv --type Photo=LargeValue --contents photos

Files
FILE may be repeated, and may be a pattern. gzip, bzip2, xz and zstd are expanded; each member of a tar or zip archive
is read as a file of its own. UTF-16 is recognized; other encodings need --encoding. Memory stays bounded, whatever a file
expands to. XML, Excel, Parquet and SQLite are not read.
CSV needs a header row or --columns; an empty field is an absent property. The first lines decide between comma,
semicolon, tab and |, and between " and ' as the quote. With --comment, the last comment before the rows may be the header.
A column X@odata.type or X@type has the types of X. --escape backslash reads what MySQL and PostgreSQL write: \N is absent,
\t, \n and \" are characters. JSON Lines has one object a line; null is absent, and "X@odata.type":"Edm.Int64" beside "X" sets
its type. JSON of any layout has its rows in an array: the root, or the array or object at --records.
Without a type, the form of the value decides: true and false, whole numbers (Edm.Int32, or Edm.Int64 if Edm.Int32 is
too small), other numbers, dates that end in Z, else text. The store sets each Timestamp itself and ignores one in the
file.

Keys
A key is a column, =TEXT, or a template such as '{admin1}|{name}' or '{code[:2]}' (the first two characters). {@line} is the line with ten digits, {@row} the row's
number in its file, {@uuid} a random UUID, {@ticks} and {@inverted-ticks} the time with 19 digits (inverted: the last row comes first), {@file} the file's
name, and {@name} the name of a record that is a member of an object. A column that alone is a key is no property,
unless --keep-key-columns is given; the columns of a template are properties.

Rows that are not imported
A fault of a whole file is reported once, and nothing is created. A refused row is reported with its line; the others
are imported. If every row is refused, nothing is created. A row with the key of an earlier row replaces it (or is
merged into it) and counts as repeated, not as imported.
Ctrl-C and read errors end the import after the last whole row that was read. To finish it, run the same import again:
existing rows are replaced or merged again; --mode insert refuses them and inserts the others. Everything is on the
device before the verb ends.
With --load the table must be absent or empty. The import then writes table files directly. That is several times as
fast, and fastest if the rows are sorted by key. All accepted rows appear in the table together at the end. After an
error, a key given twice or Ctrl-C, no row appears. A table with large values cannot be loaded so.

Large values
With --contents, a column of the type LargeValue has names of files in the directory. Each file becomes a content that
the row's entity owns; rows with one name share it. A table is created for large values then. export --contents writes
such files and rows.)";

/// The options whose words are not yet understood.
struct ImportOptions {
  ImportWords words;
  std::string partition_key = "PartitionKey";
  std::string row_key = "RowKey";
  std::vector<std::string> types;
  std::string omitted;
  std::string columns;
  std::string delimiter = "auto";
  std::string encoding = "auto";
  std::string quote = "auto";
  std::string escape = "none";
  std::string null_text;
  std::string records;
  std::string nested;
  std::string key_replacement;
  bool strings = false;
};

/// The options whose empty word differs from no word.
struct Given {
  const CLI::Option* records = nullptr;
  const CLI::Option* key_replacement = nullptr;
  const CLI::Option* null_text = nullptr;
};

Status set_keys(const ImportOptions& options, RowShape& shape) {
  Result<KeyTemplate> partition_key = KeyTemplate::parse(options.partition_key);
  if (!partition_key.ok()) return partition_key.status().in_file("--partition-key");
  Result<KeyTemplate> row_key = KeyTemplate::parse(options.row_key);
  if (!row_key.ok()) return row_key.status().in_file("--row-key");
  shape.partition_key = *std::move(partition_key);
  shape.row_key = *std::move(row_key);
  if (shape.partition_key.only_column() == nullptr || !(shape.partition_key == shape.row_key)) return Status();
  return Status::invalid_argument("--partition-key and --row-key name the same column, \"" + options.row_key + "\"");
}

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> parts;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    parts.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return parts;
}

Status set_dialect(const ImportOptions& options, CsvDialect& dialect) {
  dialect.infers = !options.strings;
  dialect.columns = split(options.columns);
  if (options.delimiter != "auto") {
    const Result<char> delimiter = parse_delimiter(options.delimiter);
    if (!delimiter.ok()) return delimiter.status().in_file("--delimiter");
    dialect.delimiter = *delimiter;
  }
  dialect.finds_quote = options.quote == "auto";
  if (dialect.finds_quote) {
    dialect.quote = '"';
  } else if (options.quote == "none") {
    dialect.quote.reset();
  } else if (options.quote.size() == 1 && options.quote != "\n") {
    dialect.quote = options.quote[0];
  } else {
    return Status::invalid_argument("--quote must be one character, none or auto");
  }
  const bool is_character =
      options.escape.size() == 1 && options.escape != "\n" && static_cast<unsigned char>(options.escape[0]) < 0x80;
  if (options.escape == "backslash") {
    dialect.escape = '\\';
  } else if (is_character) {
    dialect.escape = options.escape[0];
  } else if (options.escape != "none") {
    return Status::invalid_argument("--escape must be one character, backslash or none");
  }
  return Status();
}

NestedValues nested_of(const std::string& word) {
  if (word == "flatten") return NestedValues::kFlatten;
  return word == "text" ? NestedValues::kText : NestedValues::kRefuse;
}

/// Understands the words. Errors: kInvalidArgument, with the option's name.
Status understand(ImportOptions& options, const Given& given) {
  ImportRules& rules = options.words.rules;
  Result<std::map<std::string, PropertyType>> types = parse_types(options.types);
  if (!types.ok()) return types.status();
  rules.shape.types = *std::move(types);
  if (Status keys = set_keys(options, rules.shape); !keys.ok()) return keys;
  if (Status dialect = set_dialect(options, rules.dialect); !dialect.ok()) return dialect;
  if (given.key_replacement->count() > 0) rules.shape.key_replacement = options.key_replacement;
  if (given.null_text->count() > 0) rules.dialect.null_text = options.null_text;
  if (options.encoding != "auto") {
    if (Status known = check_encoding(options.encoding); !known.ok()) return known.in_file("--encoding");
    rules.encoding = options.encoding;
  }
  if (given.records->count() > 0) rules.records = options.records;
  for (std::string& name : split(options.omitted)) rules.shape.omitted.insert(std::move(name));
  rules.shape.nested = nested_of(options.nested);
  rules.shape.takes_contents = !options.words.contents.empty();
  return Status();
}

void add_file_options(CLI::App& verb, ImportOptions& options, Given& given) {
  ImportRules& rules = options.words.rules;
  verb.add_option("--format", rules.format, "csv, jsonl or json; default: by the name and the first bytes of FILE")
      ->check(CLI::IsMember({"csv", "jsonl", "json"}));
  verb.add_option("--encoding", options.encoding,
                  "Encoding of the texts: auto (UTF-8 or UTF-16), latin1, windows-1252 or another name of `iconv -l`")
      ->capture_default_str();
  verb.add_option("--member", rules.member, "Of archives, read only members that match this pattern, such as '*.csv'");
  verb.add_option("--delimiter", options.delimiter,
                  "CSV: what separates fields: a character, tab, comma, semicolon, pipe, space or auto")
      ->capture_default_str();
  verb.add_option("--quote", options.quote, "CSV: what quotes a field: a character, none or auto")
      ->capture_default_str();
  verb.add_option("--escape", options.escape,
                  "CSV: what makes the next character stand for itself: backslash, another character or none")
      ->capture_default_str();
  given.null_text = verb.add_option("--null", options.null_text, "CSV: a field with this text is absent, such as NULL");
  verb.add_option("--comment", rules.dialect.comment, "CSV: skip lines that begin with this text");
  verb.add_option("--columns", options.columns, "CSV: the names of the columns, with commas; the file has no header");
  verb.add_flag("--short-rows", rules.dialect.allows_short_rows, "CSV: a row may lack its last fields");
  verb.add_flag("--strings", options.strings, "CSV: every value is text, unless --type gives another type");
  given.records =
      verb.add_option("--records", options.records,
                      "JSON: where the rows are: a member of the root, or a JSON pointer such as /data/rows");
  verb.add_option("--nested", options.nested,
                  "JSON: what becomes of an object or array in a row: text (its JSON), flatten (NAME_MEMBER) or refuse")
      ->check(CLI::IsMember({"refuse", "text", "flatten"}))
      ->default_str("refuse");
}

void add_row_options(CLI::App& verb, ImportOptions& options, Given& given) {
  RowShape& shape = options.words.rules.shape;
  verb.add_option("--partition-key", options.partition_key, "Column of the PartitionKey, =TEXT or a template")
      ->capture_default_str();
  verb.add_option("--row-key", options.row_key, "Column of the RowKey, =TEXT or a template")->capture_default_str();
  given.key_replacement = verb.add_option("--key-replace", options.key_replacement,
                                          "Replace / \\ # ? and control characters in keys by this text");
  verb.add_flag("--keep-key-columns", shape.keeps_key_columns, "A column that is a key is a property too");
  verb.add_flag("--fix-names", shape.fixes_names, "Replace by _ what the name of a property may not have");
  verb.add_option("--omit", options.omitted, "Columns that become no property, separated by commas");
  verb.add_option("--type", options.types, "Type of a property, NAME=TYPE, such as Price=Edm.Double; may be repeated")
      ->expected(1)
      ->take_all();
}

void add_table_options(CLI::App& verb, ImportWords& words) {
  CLI::Option* const mode = verb.add_option("--mode", words.mode, "What to do with a row whose entity exists")
                                ->check(CLI::IsMember({"replace", "merge", "insert"}))
                                ->capture_default_str();
  add_durability_words(verb, words.durability);
  CLI::Option* const contents =
      verb.add_option("--contents", words.contents,
                      "Directory with the files of large values: columns of the type LargeValue name a file each")
          ->type_name("DIRECTORY");
  verb.add_flag("--load", words.load, "Fill a new or empty table with all rows or none, much faster")
      ->excludes(mode)
      ->excludes("--durability")
      ->excludes(contents);
  verb.add_flag("--dry-run", words.dry_run, "Import nothing; print what would be imported, with the inferred types");
  verb.add_option("--max-errors", words.errors_shown_max, "Number of refused rows to show")
      ->check(whole_number(0))
      ->capture_default_str();
  verb.add_flag("--json", words.json, "Print the report as JSON");
}

}  // namespace

void add_import_verb(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ImportOptions>();
  auto given = std::make_shared<Given>();
  CLI::App* verb = app.add_subcommand("import", "Import the rows of CSV, JSON Lines or JSON files into a table");
  verb->footer(kImportHelp);
  add_table_words(*verb, options->words.place);
  verb->add_option("FILE", options->words.files, "Files to read; - is standard input")->required();
  add_file_options(*verb, *options, *given);
  add_row_options(*verb, *options, *given);
  add_table_options(*verb, options->words);
  verb->callback([options, given, &exit_code] {
    const Status understood = understand(*options, *given);
    exit_code = understood.ok() ? run_import(options->words) : fail(kUsage, understood.message());
  });
}

}  // namespace varve::tool
