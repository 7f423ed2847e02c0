// Owns: the comparison of a table with its declaration, and the making of what the table lacks (typed_declaration.h).
// Must never: change anything of a table that differs from its declaration.
#include "varve/typed_declaration.h"

#include <algorithm>

#include "api/model/guarded.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"

namespace varve {
namespace {

std::string text_of(const IndexDefinition& definition) {
  std::string text = definition.is_unique ? "unique (" : "(";
  for (const IndexComponent& component : definition.components) {
    if (text.back() != '(') text.append(", ");
    text.append(component.property).append(component.is_descending ? " desc" : "");
  }
  text.append(")");
  for (const std::string& name : definition.carried) text.append(" carries ").append(name);
  return text;
}

std::string text_of(const TableExpiry& expiry) {
  if (!expiry.property.empty()) return "at property " + quoted(expiry.property);
  return "after " + std::to_string(expiry.age.count()) + " ms";
}

const IndexInfo* index_named(const std::vector<IndexInfo>& indexes, std::string_view name) {
  const auto found = std::find_if(indexes.begin(), indexes.end(),
                                  [&](const IndexInfo& index) { return index.definition.name == name; });
  return found == indexes.end() ? nullptr : &*found;
}

/// What a table has.
struct Present {
  std::vector<IndexInfo> indexes;
  std::optional<TableExpiry> expiry;
};

/// Returns a sentence for each difference, or an empty text.
std::string differences(const Present& present, const TableDeclaration& declared) {
  std::string text;
  for (const IndexDefinition& definition : declared.indexes) {
    const IndexInfo* const index = index_named(present.indexes, definition.name);
    if (index == nullptr || index->definition == definition) continue;
    text.append("; index ").append(quoted(definition.name)).append(" is ").append(text_of(index->definition));
    text.append(" and is declared as ").append(text_of(definition));
  }
  if (declared.expiry && present.expiry && *declared.expiry != *present.expiry) {
    text.append("; entities end ").append(text_of(*present.expiry));
    text.append(" and are declared to end ").append(text_of(*declared.expiry));
  }
  return text;
}

Result<Present> present_of(const Store& store, std::string_view account, std::string_view table) {
  Present present;
  Result<std::vector<IndexInfo>> indexes = store.indexes(account, table);
  if (!indexes.ok()) return indexes.status();
  present.indexes = *std::move(indexes);
  Result<std::optional<TableExpiry>> expiry = store.table_expiry(account, table);
  if (!expiry.ok()) return expiry.status();
  present.expiry = *std::move(expiry);
  return present;
}

/// Opens the table, or creates it with the rule. A store that is opened for reading only must have it.
Result<Table> open_or_create(Store& store, std::string_view account, std::string_view table,
                             const TableDeclaration& declared) {
  Result<Table> opened = store.open_table(account, table);
  if (opened.ok() || opened.code() != Code::kNotFound) return opened;
  TableOptions options;
  options.expiry = declared.expiry;
  Result<Table> made = store.create_table(account, table, options);
  return made.code() == Code::kExists ? store.open_table(account, table) : made;
}

}  // namespace

Result<Table> open_declared_table(Store& store, std::string_view account, std::string_view table,
                                  const TableDeclaration& declaration,
                                  const std::function<bool(const IndexBuildProgress&)>& progress) {
  return guarded([&]() -> Result<Table> {
    Result<Table> opened = open_or_create(store, account, table, declaration);
    if (!opened.ok()) return opened;
    const Result<Present> present = present_of(store, account, table);
    if (!present.ok()) return present.status();
    if (const std::string differs = differences(*present, declaration); !differs.empty()) {
      return service_error::resource_already_exists("table " + quoted(table) + " differs from its declaration" +
                                                    differs);
    }
    if (declaration.expiry && !present->expiry) {
      if (Status set = store.set_table_expiry(account, table, declaration.expiry); !set.ok()) return set;
    }
    for (const IndexDefinition& definition : declaration.indexes) {
      const IndexInfo* const index = index_named(present->indexes, definition.name);
      if (index != nullptr && index->state == IndexState::kReady) continue;
      if (Status made = store.create_index(account, table, definition, progress); !made.ok()) return made;
    }
    return opened;
  });
}

}  // namespace varve
