// Owns: the layout of tables (entity_table.h).
// Must never: hide that a text was cut: the cell ends in an ellipsis, and left_out() names the columns.
#include "tools/varve/text/entity_table.h"

#include <algorithm>

#include "tools/varve/terminal/colour.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

constexpr std::size_t kGap = 2;
/// The minimum width of a column that is cut.
constexpr std::size_t kCutWidthMin = 8;

bool is_number(const Value& value) noexcept {
  const PropertyType type = value.type();
  return type == PropertyType::kInt32 || type == PropertyType::kInt64 || type == PropertyType::kDouble;
}

std::string cell_of(const Entity& entity, const std::string& name) {
  if (const Value* value = entity.find(name); value != nullptr) return to_text(*value);
  if (name == "PartitionKey") return entity.partition_key();
  if (name == "RowKey") return entity.row_key();
  return name == "Timestamp" && !entity.etag().is_none() ? entity.timestamp().to_string() : "";
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

EntityTable::EntityTable(std::ostream& out, std::vector<std::string> select, std::size_t columns_max)
    : out_(out), select_(std::move(select)), columns_max_(columns_max) {}

void EntityTable::print(const std::vector<Entity>& page) {
  if (page.empty()) return;
  if (columns_.empty() || !has_columns_for(page)) begin_table(page);
  std::vector<std::string> cells;
  for (const Entity& entity : page) {
    cells.clear();
    for (const Column& column : columns_) cells.push_back(cell_of(entity, column.name));
    print_line(cells);
  }
}

bool EntityTable::has_columns_for(const std::vector<Entity>& page) const {
  if (!select_.empty()) return true;
  const auto known = [this](const Property& property) {
    return contains(left_out_, property.name) ||
           std::any_of(columns_.begin(), columns_.end(),
                       [&](const Column& column) { return column.name == property.name; });
  };
  return std::all_of(page.begin(), page.end(), [&](const Entity& entity) {
    return std::all_of(entity.properties().begin(), entity.properties().end(), known);
  });
}

void EntityTable::begin_table(const std::vector<Entity>& page) {
  if (!columns_.empty()) out_ << "\n";
  std::vector<std::string> names;
  if (keys_ > 0) names = {"PartitionKey", "RowKey"};
  for (const std::string& name : select_) {
    if (!contains(names, name)) names.push_back(name);
  }
  for (const Entity& entity : page) {
    if (!select_.empty()) break;
    for (const Property& property : entity.properties()) {
      if (!contains(names, property.name)) names.push_back(property.name);
    }
  }
  columns_.clear();
  left_out_.clear();
  for (std::string& name : names) {
    Column column{name, show_text(name, SIZE_MAX).columns, false};
    bool texts = false;
    for (const Entity& entity : page) {
      column.width = std::max(column.width, show_text(cell_of(entity, name), columns_max_).columns);
      const Value* value = entity.find(name);
      if (value != nullptr) (is_number(*value) ? column.numbers : texts) = true;
    }
    column.numbers = column.numbers && !texts;
    columns_.push_back(std::move(column));
  }
  fit();
  std::vector<std::string> header;
  for (const Column& column : columns_) header.push_back(column.name);
  out_ << Look::kHead;
  print_line(header);
  out_ << Look::kPlain;
}

/// Cuts the widest columns to one width, which is as large as possible. If that width gets too small, leaves out the
/// last column.
void EntityTable::fit() {
  const auto width_at = [this](std::size_t cut) {
    std::size_t width = kGap * (columns_.size() - 1);
    for (const Column& column : columns_) width += std::min(column.width, cut);
    return width;
  };
  std::size_t cut = 0;
  for (const Column& column : columns_) cut = std::max(cut, column.width);
  while (columns_.size() > std::max<std::size_t>(keys_, 1) && width_at(kCutWidthMin) > columns_max_) {
    left_out_.insert(left_out_.begin(), columns_.back().name);
    columns_.pop_back();
  }
  while (cut > kCutWidthMin && width_at(cut) > columns_max_) --cut;
  for (Column& column : columns_) column.width = std::min(column.width, cut);
}

void EntityTable::print_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ShownText shown = show_text(cells[i], columns_[i].width);
    const std::string filling(columns_[i].width - shown.columns, ' ');
    if (i > 0) line.append(kGap, ' ');
    line += columns_[i].numbers ? filling + shown.text : shown.text + filling;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out_ << line << "\n";
}

}  // namespace varve::tool
