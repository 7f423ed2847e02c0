// Native twin of the log data: one table, an index for the question, and one call for the old entries.
#include "../example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr std::uint64_t kDays = 10;
constexpr std::uint64_t kLines = 200;

std::string day_name(std::uint64_t day) {
  return Example::must(zero_padded(20'260'301 + day, 8));
}

}  // namespace

int main() {
  Example example("Log data in one table, natively: an index by day and server");
  Table log = example.table("Log");
  // [shown]
  Example::must(example.store().create_index("examples", "Log", {"ByDay", {{"Day"}, {"Server"}}}));
  // [/shown]
  for (std::uint64_t day = 0; day < kDays; ++day) {
    EntityGroupTransaction lines;
    for (std::uint64_t i = 0; i < kLines; ++i) {
      Entity line("log", day_name(day) + Example::must(zero_padded(i, 6)));
      line.set("Day", day_name(day)).set("Server", "s" + std::to_string(i % 8)).set("Text", "GET /index 200");
      lines.insert(std::move(line));
    }
    Example::must(execute_in_parts(log, lines.operations()).status);
  }

  // [shown]
  Cursor<Entity> wanted = Query<>().where(field("Day") == day_name(3) && field("Server") == "s5").run(log);
  // [/shown]
  const std::size_t found = Example::must(wanted.all()).size();
  example.show(found == 25 && wanted.cost().entities_examined == 25, "a server's day: 25 entities examined for 25");
  example.reads(wanted.cost().entities_examined);

  // [shown]
  const WhereProgress deleted = Example::must(log.delete_where({.filter = "Day eq '" + day_name(0) + "'"}));
  // [/shown]
  example.show(deleted.changed == kLines, "a day is deleted by one call, which finds it by the index");
  return example.end();
}
