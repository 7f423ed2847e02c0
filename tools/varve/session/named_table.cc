#include "tools/varve/session/named_table.h"

#include <string>
#include <utility>
#include <vector>

#include "tools/varve/rows/names.h"
#include "varve/names.h"

namespace varve::tool {

std::string hint_among(const std::string& kind, const std::string& wanted, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  if (const std::string nearest = nearest_name(wanted, names); !nearest.empty())
    return "did you mean " + kind + " `" + nearest + "`?";
  constexpr std::size_t kShownMax = 8;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShownMax; ++i) list += (i == 0 ? "" : ", ") + names[i];
  return "the " + kind + "s are: " + list + (names.size() > kShownMax ? ", ..." : "");
}

namespace {

std::string hint_among_accounts(StoreAccess& store, const std::string& wanted) {
  const Result<AccountPage> page = store.list_accounts(ListOptions());
  if (!page.ok()) return "";
  std::vector<std::string> names;
  for (const AccountInfo& account : page->accounts) {
    if (account.name == wanted) return "";
    names.push_back(account.name);
  }
  return hint_among("account", wanted, names);
}

}  // namespace

Status with_nearest_names(StoreAccess& store, const Place& place, const Status& failure) {
  if (failure.code() != Code::kNotFound || !failure.hint().empty()) return failure;
  if (store.local() != nullptr && store.local()->open_queue(place.account, place.table).ok()) {
    return failure.with_hint(place.table + " is a queue; `varve queue` has its verbs");
  }
  const Result<TablePage> page = store.list_tables(place.account, ListOptions());
  if (!page.ok()) return failure.with_hint(hint_among_accounts(store, place.account));
  std::vector<std::string> names;
  for (const TableInfo& table : page->tables) {
    if (lower_case(table.name) == lower_case(place.table)) return failure;  // It is not the table that is missing.
    names.push_back(table.name);
  }
  return failure.with_hint(hint_among("table", place.table, names));
}

Result<std::unique_ptr<TableAccess>> open_named_table(StoreAccess& store, const Place& place) {
  Result<std::unique_ptr<TableAccess>> table = store.open_table(place.account, place.table);
  if (table.ok()) return table;
  return with_nearest_names(store, place, table.status());
}

}  // namespace varve::tool
