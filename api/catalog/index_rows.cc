// Owns: the encoding of a table's indexes in its row (index_rows.h).
// Must never: accept an id that is no index's, or of another account.
#include "api/catalog/index_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/catalog/row_numbers.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/bytes/ordered_fields.h"
#include "varve/names.h"

namespace varve {
namespace {

constexpr std::string_view kIndexShape = "IndexShape";
constexpr std::string_view kIndexPrefix = "Index";
constexpr std::size_t kIndexNameBytesMax = 63;

constexpr format::Tag kIndexNameTag = 1;
constexpr format::Tag kIndexIdTag = 3;
constexpr format::Tag kIndexStateTag = 5;
constexpr format::Tag kIndexDefinitionTag = 7;
constexpr format::Tag kIndexFailureTag = 9;

std::string index_property(std::size_t number) {
  return std::string(kIndexPrefix) + std::to_string(number);
}

bool is_index_name(std::string_view name) noexcept {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kIndexNameBytesMax && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

Status check_indexed_property(const std::string& property) {
  for (const std::string_view key : {"PartitionKey", "RowKey", "Timestamp"}) {
    if (property != key) continue;
    const std::string_view instead = key == "Timestamp" ? "; make it a component" : "; each entry has it already";
    return service_error::invalid_input("an index cannot carry " + quoted(key) + std::string(instead));
  }
  return check_property_name(property);
}

Result<TableIndex> decode_table_index(std::string_view bytes, format::TableId table) {
  format::OrderedFieldReader fields("index", bytes);
  TableIndex index;
  std::string_view name;
  std::string_view definition;
  std::string_view failure;
  std::uint64_t state = 0;
  fields.require(kIndexNameTag, &name);
  fields.require_number(kIndexIdTag, &index.id);
  fields.require_number(kIndexStateTag, &state);
  fields.require(kIndexDefinitionTag, &definition);
  if (fields.take(kIndexFailureTag, &failure)) index.failure = failure;
  if (Status read = fields.finish(&index.unknown_fields); !read.ok()) return read;
  if (!is_index_name(name)) return Status::corruption("the name of an index is not valid");
  if (!format::is_index(index.id) || format::account_of(index.id) != format::account_of(table)) {
    return Status::corruption("the id of an index is not valid");
  }
  if (state < static_cast<std::uint64_t>(IndexState::kBuilding)) return Status::corruption("an index has no state");
  if (state > static_cast<std::uint64_t>(IndexState::kFailed)) {
    return Status::unsupported("an index has an unknown state");
  }
  index.name = name;
  index.state = static_cast<IndexState>(state);
  Result<format::IndexDefinition> decoded = format::decode_index_definition(definition);
  if (!decoded.ok()) return decoded.status();
  index.definition = *std::move(decoded);
  return index;
}

std::string encode_table_index(const TableIndex& index) {
  std::string bytes;
  format::OrderedFieldWriter fields(bytes, index.unknown_fields);
  fields.bytes(kIndexNameTag, index.name);
  fields.number(kIndexIdTag, index.id);
  fields.number(kIndexStateTag, static_cast<std::uint64_t>(index.state));
  fields.bytes(kIndexDefinitionTag, format::encode_index_definition(index.definition));
  if (!index.failure.empty()) fields.bytes(kIndexFailureTag, index.failure);
  fields.finish();
  return bytes;
}

template <typename Indexes>
auto find_index(Indexes& all, std::string_view name) noexcept -> decltype(all.data()) {
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const TableIndex& index) { return index.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TableIndex* TableIndexes::find(std::string_view name) noexcept {
  return find_index(all, name);
}
const TableIndex* TableIndexes::find(std::string_view name) const noexcept {
  return find_index(all, name);
}

Status check_index(std::string_view name, const format::IndexDefinition& definition) {
  if (!is_index_name(name)) {
    return service_error::invalid_input(
        "the name of an index needs 1 to 63 letters, digits, '-' and '_', and a letter "
        "first; it is " +
        quoted(name));
  }
  for (const format::IndexComponent& component : definition.components) {
    if (component.source != format::IndexSource::kProperty) continue;
    if (Status checked = check_indexed_property(component.property); !checked.ok()) return checked;
  }
  for (const std::string& property : definition.carried) {
    if (Status checked = check_indexed_property(property); !checked.ok()) return checked;
  }
  const Status checked = format::check_index_definition(definition);
  return checked.ok() ? checked : service_error::invalid_input(std::string(checked.message()));
}

Result<TableIndexes> decode_table_indexes(const format::EncodedEntity& row, format::TableId table) {
  TableIndexes indexes;
  if (!row.find(kIndexShape)) return indexes;
  const std::optional<std::uint64_t> shape = find_number(row, kIndexShape, 1, INT64_MAX);
  if (!shape) return Status::corruption("the shape of the table is out of its range");
  indexes.shape = *shape;
  for (std::size_t number = 0; number < kTableIndexesMax; ++number) {
    const std::optional<format::PropertyView> property = row.find(index_property(number));
    if (!property) break;
    if (property->type != format::PropertyType::kBinary) return Status::corruption("an index is not Binary");
    Result<TableIndex> index = decode_table_index(property->value, table);
    if (!index.ok()) return index.status();
    if (indexes.find(index->name) != nullptr) return Status::corruption("two indexes have one name");
    indexes.all.push_back(*std::move(index));
  }
  return indexes;
}

Result<std::string> with_table_indexes(std::string_view row, const TableIndexes& indexes) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  if (!view.ok()) return view.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const format::PropertyView property = view->property(i);
    if (!property.name.starts_with(kIndexPrefix)) builder.add(property);
  }
  builder.add_int64(kIndexShape, static_cast<std::int64_t>(indexes.shape));
  for (std::size_t number = 0; number < indexes.all.size(); ++number) {
    builder.add_binary(index_property(number), encode_table_index(indexes.all[number]));
  }
  return builder.finish();
}

}  // namespace varve
