// Native twin of the high-volume delete: each entity has an end. From then on no read finds it, and compaction gives its
// space back. One table holds all days, so that a question may be about several of them.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("High-volume delete, natively: entities that end by themselves");
  // [shown]
  Table logins =
      Example::must(example.store().create_table("examples", "Logins", {.expiry = TableExpiry::at("KeepUntil")}));
  for (const std::string_view day : {"2020-03-01", "2020-03-02", "2999-03-03"}) {
    EntityGroupTransaction of_day;
    const DateTime end = Example::must(DateTime::parse(std::string(day) + "T00:00:00Z"));
    for (int i = 0; i < 1000; ++i) {
      Entity login("user" + std::to_string(i % 7), std::string(day) + "!" + std::to_string(i));
      of_day.insert_or_replace(std::move(login.set("KeepUntil", end)));
    }
    Example::must(execute_in_parts(logins, of_day.operations()).status);
  }
  // [/shown]

  const std::uint64_t before = Example::must(example.store().statistics()).commits;
  Cursor<Entity> left = Query<>().run(logins);
  example.show(Example::must(left.all()).size() == 1000, "the logins of two days have ended, the last day is left");
  example.show(Example::must(example.store().statistics()).commits == before, "and nobody deleted one");
  return example.end();
}
