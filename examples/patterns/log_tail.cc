// Pattern: log tail. The latest entries are read most, and a table is read from its lowest key upwards. With inverted
// ticks as RowKey the latest entry has the lowest key: the last n entries are the first n.
#include "example.h"

struct Expense {
  std::string employee;
  std::string key;  // inverted ticks of the time of the claim
  double amount = 0;
};

template <>
inline constexpr auto varve::mapping<Expense> = varve::mapped::members(varve::mapped::partition_key(&Expense::employee),
                                                                       varve::mapped::row_key(&Expense::key),
                                                                       varve::mapped::property("Amount",
                                                                                               &Expense::amount));

namespace {

using namespace varve;
using patterns::Example;

constexpr std::uint64_t kTicksPerDay = 864'000'000'000;

}  // namespace

int main() {
  Example example("Log tail: inverted ticks make the latest entries the first ones");
  TypedTable<Expense> expenses(example.table("Expenses"));
  const DateTime first_day = Example::must(DateTime::parse("2026-01-01T12:00:00Z"));
  for (std::uint64_t day = 0; day < 200; ++day) {
    // [shown]
    const DateTime time{first_day.ticks + day * kTicksPerDay};
    const Expense expense{"000223", inverted_ticks(time), static_cast<double>(day)};
    Example::must(expenses.insert(expense));
    // [/shown]
  }

  // [shown]
  Query<Expense> latest;
  latest.where(field<&Expense::employee>() == "000223").take(3);
  Cursor<Expense> cursor = expenses.run(latest);
  // [/shown]
  const std::vector<Expense> found = Example::must(cursor.all());
  example.show(found.size() == 3 && found[0].amount == 199 && found[2].amount == 197, "the last three of 200 claims");
  example.show(cursor.cost().entities_examined == 3, "cost three entities");
  example.reads(cursor.cost().entities_examined);
  example.show(Example::must(time_of_inverted_ticks(found[0].key)).to_string() == "2026-07-19T12:00:00Z",
               "and their RowKeys tell the time: 2026-07-19T12:00:00Z");
  return example.end();
}
