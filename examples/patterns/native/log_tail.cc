// Native twin of the log tail: keys are plain times, and the table is read from its end.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Log tail, natively: a scan from the greatest key backwards");
  Table expenses = example.table("Expenses");
  const DateTime first_day = Example::must(DateTime::parse("2026-01-01T12:00:00Z"));
  for (std::uint64_t day = 0; day < 200; ++day) {
    // [shown]
    const std::string time = DateTime{first_day.ticks + day * 864'000'000'000}.to_string();
    Example::must(expenses.insert(Entity("000223", time).set("Amount", static_cast<double>(day))));
    // [/shown]
  }

  // [shown]
  Scan latest;
  latest.range = ScanRange::partition("000223");
  latest.backward = true;
  latest.take = 3;
  const Page found = Example::must(expenses.scan(latest));
  // [/shown]
  example.show(found.entities.size() == 3 && found.entities[0].row_key() == "2026-07-19T12:00:00Z",
               "the last three of 200 claims");
  example.reads(found.cost.entities_examined);
  return example.end();
}
