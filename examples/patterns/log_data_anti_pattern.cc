// Anti-pattern: log data in one permanent table, with queries for properties outside of its keys. Every query reads the
// whole table, and old entries must be found and deleted entity by entity. The program shows this cost. It compares it
// with a table for each day, whose keys are the queried properties.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr std::uint64_t kDays = 10;
constexpr std::uint64_t kLines = 200;

std::string day_name(std::uint64_t day) {
  return Example::must(zero_padded(20'260'301 + day, 8));
}

Entity line(std::string partition, std::string row, std::uint64_t day, std::uint64_t number) {
  Entity entity(std::move(partition), std::move(row));
  entity.set("Day", day_name(day)).set("Server", "s" + std::to_string(number % 8)).set("Text", "GET /index 200");
  return entity;
}

void write(Table& table, const EntityGroupTransaction& lines) {
  Example::must(execute_in_parts(table, lines.operations()).status);
}

std::uint64_t batch_bytes(Example& example) {
  return Example::must(example.store().statistics()).batch_bytes;
}

}  // namespace

int main() {
  Example example("Log data in one table, beside a table a day");
  Table everything = example.table("Log");
  for (std::uint64_t day = 0; day < kDays; ++day) {
    EntityGroupTransaction lines;
    EntityGroupTransaction lines_of_day;
    for (std::uint64_t i = 0; i < kLines; ++i) {
      const std::string number = Example::must(zero_padded(i, 6));
      lines.insert(line("log", day_name(day) + number, day, i));
      lines_of_day.insert(line("s" + std::to_string(i % 8), number, day, i));
    }
    Table of_day = example.table("Log" + day_name(day));
    write(everything, lines);
    write(of_day, lines_of_day);
  }

  // [shown]
  const Condition wanted = field("Day") == day_name(3) && field("Server") == "s5";
  Cursor<Entity> by_property = Query<>().where(wanted).run(everything);
  // [/shown]
  const std::size_t found = Example::must(by_property.all()).size();
  example.show(found == 25 && by_property.cost().entities_examined == kDays * kLines,
               "a server's day in one table: " + std::to_string(by_property.cost().entities_examined) +
                   " entities examined for 25");
  example.reads(by_property.cost().entities_examined);
  const Table third = Example::must(example.store().open_table("examples", "Log" + day_name(3)));
  Cursor<Entity> by_key = Query<>().where(field("PartitionKey") == "s5").run(third);
  example.show(Example::must(by_key.all()).size() == 25 && by_key.cost().entities_examined == 25,
               "in the table of that day, by key: 25 entities examined for 25");

  const std::uint64_t before = batch_bytes(example);
  // [shown]
  EntityGroupTransaction deletes;
  for (const Result<Entity>& old : Query<>().where(field("Day") == day_name(0)).run(everything)) {
    deletes.remove("log", Example::must(old).row_key(), ETag::any());
  }
  write(everything, deletes);
  // [/shown]
  const std::uint64_t one_by_one = batch_bytes(example) - before;
  Example::must(example.store().drop_table("examples", "Log" + day_name(0)));
  const std::uint64_t by_drop = batch_bytes(example) - before - one_by_one;
  example.show(by_drop * 10 < one_by_one, "deleting a day: " + std::to_string(one_by_one) +
                                              " bytes written entity by entity, " + std::to_string(by_drop) +
                                              " by a drop");
  return example.end();
}
