// Pattern: data series. A day's messages, counted by the hour, are one entity with a property for each hour, not 24
// entities. One point read returns the day. Each hour is merged without a change of the others.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

// [shown]
std::string hour_name(std::uint64_t hour) {
  return "H" + Example::must(zero_padded(hour, 2));
}
// [/shown]

// [shown]
/// Counts messages of one hour. A writer of another hour does not conflict with it.
Status count(Table& table, const std::string& employee, const std::string& day, std::uint64_t hour, std::int32_t n) {
  Entity change(employee, day);
  return table.insert_or_merge(change.set(hour_name(hour), n)).status();
}
// [/shown]

}  // namespace

int main() {
  Example example("Data series: the hours of a day are properties of one entity");
  Table messages = example.table("Messages");
  for (std::uint64_t hour = 0; hour < 24; ++hour) {
    Example::must(count(messages, "000223", "2026-03-03", hour, static_cast<std::int32_t>(10 * hour)));
  }
  Example::must(count(messages, "000223", "2026-03-03", 9, 91));  // corrected later

  // [shown]
  const Entity day = Example::must(messages.get("000223", "2026-03-03"));
  // [/shown]
  example.reads(1);
  example.show(day.properties().size() == 24, "24 hours in one entity, read by one point read");
  example.show(*day.get<std::int32_t>("H09") == 91 && *day.get<std::int32_t>("H10") == 100,
               "a merge changes its hour and no other");

  const Entity morning = Example::must(messages.get("000223", "2026-03-03", {.select = {"H08", "H09"}}));
  example.show(morning.properties().size() == 2, "a projection decodes the hours it names");
  std::size_t series = accounted_size_bytes(day);
  std::size_t single = 0;
  for (const Property& hour : day.properties()) {
    single += accounted_size_bytes(Entity("000223", "2026-03-03" + hour.name).set("N", 1));
  }
  example.show(series * 2 < single,
               "as 24 entities it would count " + std::to_string(single) + " bytes, not " + std::to_string(series));
  return example.end();
}
