#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tools/varve/rows/csv_records.h"
#include "tools/varve/rows/names.h"
#include "tools/varve/rows/row_source.h"
#include "tools/varve/text/value_text.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

class CsvSource final : public RowSource {
 public:
  CsvSource(Lines& lines, char delimiter, RowShape shape, const CsvDialect& dialect)
      : records_(lines, delimiter, dialect),
        shape_(std::move(shape)),
        infers_(dialect.infers),
        allows_short_rows_(dialect.allows_short_rows) {}

  /// Takes the first record as the header, unless the columns are given.
  Status begin(const std::vector<std::string>& columns) {
    what_has_columns_ = columns.empty() ? "the header" : "--columns";
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
    const bool fits = !record->fault.ok() || has_all_fields(*record);
    return Row{record->line, record->last_line, entity_of(*record), fits ? 0 : record->fields.size() + 1};
  }

 private:
  struct Column {
    std::string name;      // of the header
    std::string property;  // the property's name; empty if the column becomes none
    std::optional<PropertyType> type;
  };

  Status take_columns(std::vector<std::string> names) {
    names_ = std::move(names);
    for (KeyTemplate* key : {&shape_.partition_key, &shape_.row_key}) {
      for (KeyPart& part : key->parts()) {
        if (part.kind != KeyPart::Kind::kColumn) continue;
        if (Status found = find_column(part.text, &part.column); !found.ok()) return found;
      }
    }
    for (const std::string& name : names_) {
      columns_.push_back({name, property_of(name), type_of(name)});
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
                                      names_hint(name, "columns", names_));
    }
    *column = static_cast<std::size_t>(found - names_.begin());
    return Status();
  }

  bool is_key(const std::string& name) const {
    const KeyPart* partition = shape_.partition_key.only_column();
    const KeyPart* row = shape_.row_key.only_column();
    return (partition != nullptr && partition->text == name) || (row != nullptr && row->text == name);
  }

  std::string property_of(const std::string& name) const {
    // The entity's own names cannot be properties, also if the key columns are to stay.
    const bool is_own = name == "PartitionKey" || name == "RowKey" || name == "Timestamp";
    if (name.empty() || name == "Timestamp" || shape_.omitted.contains(name)) return "";
    if (is_key(name) && (is_own || !shape_.keeps_key_columns)) return "";
    return shape_.fixes_names ? fixed_property_name(name) : name;
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

  Result<Entity> entity_of(const CsvRecord& record) const {
    if (!record.fault.ok()) return record.fault;
    if (!has_all_fields(record)) {
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
      if (record.fields[i].empty() || (column.property.empty() && !column.name.empty())) continue;
      if (column.property.empty()) {
        return Status::invalid_argument("column " + std::to_string(i + 1) +
                                        " has a value but no name; --fix-names gives it one");
      }
      Result<Value> value = value_of(column, record.fields[i]);
      if (!value.ok()) return value.status().in_file(quoted(column.name));
      entity.add(column.property, *std::move(value));
    }
    return entity;
  }

  Result<Value> value_of(const Column& column, const std::string& text) const {
    if (column.type) return parse_value(*column.type, text);
    return infers_ ? infer_value(text) : Value(text);
  }

  CsvRecords records_;
  RowShape shape_;
  bool infers_;
  bool allows_short_rows_;
  std::uint64_t rows_ = 0;
  std::string_view what_has_columns_;
  std::vector<std::string> names_;
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
  char delimiter = ',';
  if (dialect.delimiter) {
    delimiter = *dialect.delimiter;
  } else {
    delimiter = named ? *named : delimiter_of(first, dialect, shape);
  }
  if (dialect.quote && *dialect.quote == delimiter)
    return Status::invalid_argument("--quote and --delimiter name the same character");
  std::string skipped;
  if (named) lines.next(&skipped);
  auto source = std::make_unique<CsvSource>(lines, delimiter, std::move(shape), dialect);
  if (Status begun = source->begin(dialect.columns); !begun.ok()) return begun;
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace varve::tool
