// Pattern: wide entities. An entity has at most 252 custom properties. An object with more, here a measurement for
// every minute of a day, becomes several adjacent entities. One transaction writes them, and one range reads them.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr std::uint64_t kMinutes = 1440;
constexpr std::uint64_t kPerEntity = 240;

std::string minute_name(std::uint64_t minute) {
  return "M" + Example::must(zero_padded(minute, 4));
}

}  // namespace

int main() {
  Example example("Wide entities: 1440 properties over six entities");
  Table sensors = example.table("Sensors");

  Entity too_wide("sensor7", "2026-03-03");
  for (std::uint64_t minute = 0; minute < kMinutes; ++minute) too_wide.add(minute_name(minute), 20.5);
  const Status refused = sensors.insert(too_wide).status();
  example.show(refused.service_error() == "TooManyProperties", "one entity cannot hold 1440 properties");

  // [shown]
  EntityGroupTransaction day;
  for (std::uint64_t begin = 0; begin < kMinutes; begin += kPerEntity) {
    Entity part("sensor7", Example::must(composite_key({"2026-03-03", minute_name(begin)})));
    for (std::uint64_t minute = begin; minute < begin + kPerEntity; ++minute) {
      part.add(minute_name(minute), 20.0 + static_cast<double>(minute) / 100);
    }
    day.insert(std::move(part));
  }
  Example::must(sensors.execute(day));
  // [/shown]

  // [shown]
  const std::string prefix = Example::must(composite_prefix({"2026-03-03"}));
  Query<> whole_day;
  whole_day.in(ScanRange::rows_with_prefix("sensor7", prefix));
  std::size_t minutes = 0;
  Cursor<Entity> parts = whole_day.run(sensors);
  for (const Result<Entity>& part : parts) minutes += Example::must(part).properties().size();
  // [/shown]
  example.show(minutes == kMinutes, "six entities, written by one transaction, read by one range");

  // [shown]
  const std::uint64_t wanted = 777;
  const std::string row = prefix + minute_name(wanted - wanted % kPerEntity);
  const Entity part = Example::must(sensors.get("sensor7", row, {.select = {minute_name(wanted)}}));
  // [/shown]
  example.reads(parts.cost().entities_examined + 1);
  example.show(*part.get<double>(minute_name(wanted)) == 27.77, "one minute is a point read: its entity is known");
  return example.end();
}
