// Native twin of the wide entities: the store is created with a higher limit, so that a day is one entity. A projection
// returns one minute of it.
#include "../example.h"

using namespace varve;
using patterns::Example;

namespace {

std::string minute_name(std::uint64_t minute) {
  return "M" + Example::must(zero_padded(minute, 4));
}

}  // namespace

int main() {
  // [shown]
  Example example("Wide entities, natively: 1440 properties in one entity", {.custom_properties_max = 1440});
  Table sensors = example.table("Sensors");

  Entity day("sensor7", "2026-03-03");
  for (std::uint64_t minute = 0; minute < 1440; ++minute) {
    day.add(minute_name(minute), 20.0 + static_cast<double>(minute) / 100);
  }
  Example::must(sensors.insert(day));

  const Entity whole_day = Example::must(sensors.get("sensor7", "2026-03-03"));
  const Entity one_minute = Example::must(sensors.get("sensor7", "2026-03-03", {.select = {minute_name(777)}}));
  // [/shown]
  example.show(whole_day.properties().size() == 1440, "one entity, written by one insert, read by one point read");
  example.show(one_minute.properties().size() == 1 && *one_minute.get<double>(minute_name(777)) == 27.77,
               "one minute is a point read too");
  example.reads(2);

  Entity too_wide("sensor7", "2026-03-04");
  for (std::uint64_t minute = 0; minute <= 1440; ++minute) too_wide.add(minute_name(minute), 20.5);
  const Status refused = sensors.insert(too_wide).status();
  example.show(refused.service_error() == "TooManyProperties", "1441 are refused: the store has this limit of its own");
  return example.end();
}
