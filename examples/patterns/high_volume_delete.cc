// Pattern: high-volume delete. Data that is deleted together, a day of login records, is in a table of its own.
// Dropping it is one small commit for any amount of data. Deleting its entities would be as much work as writing them.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr int kLogins = 1000;

Status record_day(Table& table) {
  EntityGroupTransaction logins;
  for (int i = 0; i < kLogins; ++i) {
    Entity login("user" + std::to_string(i % 7), Example::must(zero_padded(static_cast<std::uint64_t>(i), 6)));
    logins.insert_or_replace(std::move(login.set("Succeeded", i % 10 != 0)));
  }
  return execute_in_parts(table, logins.operations()).status;
}

}  // namespace

int main() {
  Example example("High-volume delete: a table a day, dropped when it is old");
  // [shown]
  for (const std::string_view day : {"Logins20260301", "Logins20260302", "Logins20260303"}) {
    Table table = example.table(day);
    Example::must(record_day(table));
  }
  // [/shown]

  const std::uint64_t before = Example::must(example.store().statistics()).commits;
  // [shown]
  for (const TableInfo& table : Example::must(example.store().list_tables("examples", {.prefix = "Logins"})).tables) {
    if (table.name < "Logins20260303") Example::must(drop_table_if_exists(example.store(), "examples", table.name));
  }
  // [/shown]
  const std::uint64_t commits = Example::must(example.store().statistics()).commits - before;
  example.show(commits == 2, "two days, 2000 logins, are gone by two commits");

  const auto left = Example::must(example.store().list_tables("examples", {.prefix = "Logins"})).tables;
  example.show(left.size() == 1 && left[0].name == "Logins20260303", "the last day is left");
  const Table last = Example::must(example.store().open_table("examples", left[0].name));
  example.show(Example::must(Query<>().run(last).all()).size() == kLogins, "with all its logins");
  const Table anew = example.table("Logins20260301");
  example.show(Example::must(Query<>().run(anew).all()).empty(), "a name may be used again at once, and is empty");
  return example.end();
}
