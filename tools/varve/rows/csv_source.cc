#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "format/keys/sort_key.h"
#include "tools/varve/rows/csv_records.h"
#include "tools/varve/rows/names.h"
#include "tools/varve/rows/not_utf8.h"
#include "tools/varve/rows/row_source.h"
#include "tools/varve/text/value_text.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

constexpr std::string_view kHeader = "the header";

/// The names of columns that have the types of other columns: those of the service, and of Storage Explorer.
constexpr std::array<std::string_view, 2> kTypeEndings = {"@odata.type", "@type"};

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

class CsvSource final : public RowSource {
 public:
  CsvSource(Lines& lines, char delimiter, RowShape shape, const CsvDialect& dialect)
      : records_(lines, delimiter, dialect),
        shape_(std::move(shape)),
        infers_(dialect.infers),
        null_text_(dialect.null_text),
        allows_short_rows_(dialect.allows_short_rows) {}

  /// Takes the first record as the header, unless the columns are given, by an option or a comment.
  Status begin(const std::vector<std::string>& columns, std::string_view given_by) {
    what_has_columns_ = columns.empty() ? kHeader : given_by;
    if (!columns.empty()) return take_columns(columns);
    std::optional<CsvRecord> header = records_.next();
    if (records_.lines().end() == InputEnd::kError) return records_.lines().status();
    if (!header && records_.lines().end() == InputEnd::kSignal) return Status();
    if (!header) return Status::invalid_argument("the header row is missing");
    if (!header->fault.ok()) return header->fault.in_file("line " + std::to_string(header->line));
    return take_columns(std::move(header->fields));
  }

  std::optional<Row> next() override {
    std::optional<CsvRecord> record = records_.next();
    if (!record) return std::nullopt;
    ++rows_;
    RowFault fault = record->fault_kind;
    std::vector<std::string> contents;
    Result<Entity> entity = entity_of(*record, fault, contents);
    std::uint64_t shape_fault = 0;
    if (fault == RowFault::kFields) shape_fault = record->fields.size() + 1;
    if (fault == RowFault::kUtf8) shape_fault = kUtf8ShapeFault;
    return Row{record->line, record->last_line, std::move(entity), shape_fault, fault, 0, std::move(contents)};
  }

 private:
  struct Column {
    std::string name;      // of the header
    std::string property;  // the property's name; empty if the column becomes none
    std::optional<PropertyType> type;
    std::optional<std::size_t> type_column;  // has the type's name in each row
  };

  Status take_columns(std::vector<std::string> names) {
    names_ = std::move(names);
    for (std::size_t i = 0; i < names_.size(); ++i) places_.try_emplace(names_[i], i);
    for (KeyTemplate* key : {&shape_.partition_key, &shape_.row_key}) {
      for (KeyPart& part : key->parts()) {
        if (part.kind != KeyPart::Kind::kColumn) continue;
        if (Status found = find_column(part.text, &part.column); !found.ok()) return found;
      }
    }
    for (const std::string& name : names_) {
      if (!format::is_valid_utf8(name)) return not_utf8(name).in_file(what_has_columns_);
      columns_.push_back({name, property_of(name), type_of(name), type_column_of(name)});
      if (name.empty() && shape_.fixes_names) columns_.back().property = "column_" + std::to_string(columns_.size());
    }
    if (Status checked = check_columns(); !checked.ok()) return checked.in_file(what_has_columns_);
    return check_options();
  }

  Status find_column(const std::string& name, std::size_t* column) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      return Status::invalid_argument(std::string(what_has_columns_) + " has no column " + quoted(name) +
                                      "; name the key columns by --partition-key and --row-key" +
                                      names_hint(name, "columns", names_) + header_hint());
    }
    *column = static_cast<std::size_t>(found - names_.begin());
    return Status();
  }

  /// Returns what helps if the first row is no header.
  std::string header_hint() const {
    if (names_.empty() || what_has_columns_ != kHeader) return "";
    for (const std::string_view mark : {"#", "//", ";", "--"}) {
      if (names_[0].starts_with(mark))
        return "; if lines that begin with " + std::string(mark) + " are comments, add --comment '" +
               std::string(mark) + "'";
    }
    return "; if the first line is a row, name all columns by --columns";
  }

  bool is_key(const std::string& name) const {
    const KeyPart* partition = shape_.partition_key.only_column();
    const KeyPart* row = shape_.row_key.only_column();
    return (partition != nullptr && partition->text == name) || (row != nullptr && row->text == name);
  }

  std::string property_of(const std::string& name) const {
    // The entity's own names cannot be properties, also if the key columns are to stay.
    const bool is_own = name == "PartitionKey" || name == "RowKey" || name == "Timestamp";
    if (name.empty() || name == "Timestamp" || shape_.omitted.contains(name) || !typed_by(name).empty()) return "";
    if (is_key(name) && (is_own || !shape_.keeps_key_columns)) return "";
    return shape_.fixes_names ? fixed_property_name(name) : name;
  }

  /// Returns the column whose types a column `X@odata.type` or `X@type` has, or an empty text.
  std::string typed_by(const std::string& name) const {
    for (const std::string_view ending : kTypeEndings) {
      if (!name.ends_with(ending)) continue;
      const std::string typed = name.substr(0, name.size() - ending.size());
      if (places_.contains(typed)) return typed;
    }
    return "";
  }

  std::optional<std::size_t> type_column_of(const std::string& name) const {
    for (const std::string_view ending : kTypeEndings) {
      const auto found = places_.find(name + std::string(ending));
      if (found != places_.end()) return found->second;
    }
    return std::nullopt;
  }

  std::optional<PropertyType> type_of(const std::string& name) const {
    const auto chosen = shape_.types.find(name);
    return chosen == shape_.types.end() ? std::nullopt : std::optional(chosen->second);
  }

  /// Checks the columns. A fault that concerns every row is reported once, before anything is imported.
  Status check_columns() const {
    std::unordered_set<std::string_view> names_before;
    std::unordered_set<std::string_view> before;
    std::size_t properties = 0;
    for (const Column& column : columns_) {
      // A final comma has no name. Rows with a value there are refused.
      if (column.name.empty() && column.property.empty()) continue;
      const bool is_new = column.name.empty() || names_before.insert(column.name).second;
      if (!is_new || (!column.property.empty() && !before.insert(column.property).second))
        return Status::invalid_argument("the column " + quoted(column.name) + " is given twice");
      if (column.property.empty()) continue;
      if (++properties > limits::kCustomPropertiesMax) {
        return Status::too_large(std::to_string(columns_.size()) + " columns are given; an entity has at most " +
                                 std::to_string(limits::kCustomPropertiesMax) + " properties besides its keys");
      }
      if (Status checked = check_property_column(column.property); !checked.ok()) return checked;
    }
    return Status();
  }

  static Status check_property_column(const std::string& name) {
    if (name == "PartitionKey" || name == "RowKey") {
      return Status::invalid_argument("the column " + quoted(name) +
                                      " cannot be a property when another column is the key; rename it, or leave it " +
                                      "out by --omit");
    }
    const Status checked = check_property_name(name);
    if (checked.ok()) return checked;
    return Status::invalid_argument(std::string(checked.message()) +
                                    "; --fix-names replaces what a name may not have by _");
  }

  Status check_options() const {
    for (const auto& [name, type] : shape_.types) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        return Status::invalid_argument("--type names " + quoted(name) + ", which is not a column of " +
                                        std::string(what_has_columns_) + names_hint(name, "columns", names_));
    }
    for (const std::string& name : shape_.omitted) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        return Status::invalid_argument("--omit names " + quoted(name) + ", which is not a column of " +
                                        std::string(what_has_columns_) + names_hint(name, "columns", names_));
    }
    return Status();
  }

  bool has_all_fields(const CsvRecord& record) const {
    return record.fields.size() == columns_.size() || (allows_short_rows_ && record.fields.size() < columns_.size());
  }

  Result<std::string> key_of(const KeyTemplate& key, const CsvRecord& record) const {
    Result<std::string> made =
        key.make({record.line, rows_, shape_.file, {}}, [&record](const KeyPart& part) -> Result<std::string> {
          return part.column < record.fields.size() ? record.fields[part.column] : std::string();
        });
    if (!made.ok() || !shape_.key_replacement) return made;
    return with_replaced_characters(*made, *shape_.key_replacement);
  }

  /// Sets `fault` if the row is refused. `contents` receives Row::contents.
  Result<Entity> entity_of(const CsvRecord& record, RowFault& fault, std::vector<std::string>& contents) const {
    if (!record.fault.ok()) return record.fault;
    for (const std::string& field : record.fields) {
      if (format::is_valid_utf8(field)) continue;
      fault = RowFault::kUtf8;
      return not_utf8(field);
    }
    if (!has_all_fields(record)) {
      fault = RowFault::kFields;
      return Status::invalid_argument(
          std::to_string(record.fields.size()) + " fields are given, but " + std::string(what_has_columns_) + " has " +
          std::to_string(columns_.size()) +
          (record.fields.size() < columns_.size() ? "; --short-rows takes the others as absent" : ""));
    }
    Result<std::string> partition_key = key_of(shape_.partition_key, record);
    if (!partition_key.ok()) return partition_key.status();
    Result<std::string> row_key = key_of(shape_.row_key, record);
    if (!row_key.ok()) return row_key.status();
    Entity entity(*std::move(partition_key), *std::move(row_key));
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      const Column& column = columns_[i];
      if (is_absent(column, record, i) || (column.property.empty() && !column.name.empty())) continue;
      if (column.property.empty()) {
        fault = RowFault::kName;
        return Status::invalid_argument("column " + std::to_string(i + 1) +
                                        " has a value but no name; --fix-names gives it one");
      }
      Result<Value> value = value_of(column, record, record.fields[i], contents);
      if (!value.ok()) {
        fault = RowFault::kValue;
        return value.status().in_file(quoted(column.name));
      }
      entity.add(column.property, *std::move(value));
    }
    return entity;
  }

  /// Returns the type that the row itself names, or an empty text.
  static std::string named_type(const Column& column, const CsvRecord& record) {
    const bool has_type = column.type_column && *column.type_column < record.fields.size();
    return has_type ? record.fields[*column.type_column] : std::string();
  }

  bool is_absent(const Column& column, const CsvRecord& record, std::size_t at) const {
    const std::string& text = record.fields[at];
    if (null_text_ && text == *null_text_) return true;
    return text.empty() && named_type(column, record).empty();
  }

  /// Returns the type of a field, or nothing if the text decides.
  static Result<std::optional<PropertyType>> type_in(const Column& column, const CsvRecord& record) {
    if (column.type) return column.type;
    const std::string named = named_type(column, record);
    if (named.empty()) return std::optional<PropertyType>();
    const Result<PropertyType> type = parse_type(named);
    if (!type.ok()) return type.status();
    return std::optional(*type);
  }

  Result<Value> value_of(const Column& column, const CsvRecord& record, const std::string& text,
                         std::vector<std::string>& contents) const {
    const Result<std::optional<PropertyType>> type = type_in(column, record);
    if (!type.ok()) return type.status();
    if (*type == PropertyType::kLargeValue && shape_.takes_contents) {
      contents.push_back(column.property);
      return Value(text);
    }
    if (*type) return parse_value(**type, text);
    return infers_ ? infer_value(text) : Value(text);
  }

  CsvRecords records_;
  RowShape shape_;
  bool infers_;
  std::optional<std::string> null_text_;
  bool allows_short_rows_;
  std::uint64_t rows_ = 0;
  std::string_view what_has_columns_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;  // of names_
  std::vector<Column> columns_;
};

/// Returns the delimiter that a first line `sep=;` names, as spreadsheets write it.
std::optional<char> named_delimiter(std::string_view text) {
  const bool is_named = text.size() > 5 && text.starts_with("sep=") && (text[5] == '\n' || text[5] == '\r');
  return is_named ? std::optional(text[4]) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<RowSource>> make_csv_source(Lines& lines, RowShape shape, const CsvDialect& dialect) {
  const std::string_view first = lines.peek();
  const std::optional<char> named = named_delimiter(first);
  CsvDialect found = dialect;
  found.quote = quote_of(first, dialect);
  if (!found.delimiter) found.delimiter = named;
  std::string_view given_by = "--columns";
  if (const std::optional<CommentedHeader> header = commented_header(first, found, shape)) {
    found.delimiter = header->delimiter;
    found.columns = header->columns;
    given_by = "the header in the last comment";
  }
  const char delimiter = found.delimiter ? *found.delimiter : delimiter_of(first, found, shape);
  if (found.quote == delimiter) {
    return Status::invalid_argument("--quote and --delimiter name the same character");
  }
  if (found.escape && (found.escape == delimiter || found.escape == found.quote))
    return Status::invalid_argument("--escape names the character of --delimiter or --quote");
  std::string skipped;
  if (named) lines.next(&skipped);
  auto source = std::make_unique<CsvSource>(lines, delimiter, std::move(shape), found);
  if (Status begun = source->begin(found.columns, given_by); !begun.ok()) return begun;
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace varve::tool
