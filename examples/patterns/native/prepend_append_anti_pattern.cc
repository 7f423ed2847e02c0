// Native twin of prepend and append: keys carry no time, so that writers use all partitions. An index on the Timestamp
// has the latest entries first, over the whole table.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Prepend and append, natively: keys without a time, and an index on the Timestamp");
  Table log = example.table("Log");
  // [shown]
  Example::must(example.store().create_index("examples", "Log", {"Latest", {{"Timestamp", true}}}));
  for (std::int64_t i = 0; i < 2000; ++i) {
    Entity entry("server" + std::to_string(i % 16), std::to_string(i));
    Example::must(log.insert(entry.set("N", i)));
  }

  Query<> last_ten;
  last_ten.order_by("Timestamp", SortDirection::kDescending).take(10);
  Cursor<Entity> latest = last_ten.run(log);
  // [/shown]
  const std::vector<Entity> found = Example::must(latest.all());
  example.show(
      found.size() == 10 && *found[0].get<std::int64_t>("N") == 1999 && *found[9].get<std::int64_t>("N") == 1990,
      "the last 10 of 16 partitions: " + std::to_string(latest.cost().entities_examined) + " entities examined");
  example.reads(latest.cost().entities_examined);
  return example.end();
}
