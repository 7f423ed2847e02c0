// Anti-pattern: prepend or append. Ascending keys direct all writes of the table to one end of it. In a service this
// end is one server, whose capacity is the limit. In one store such writes are cheap. The remaining cost is reading:
// with ascending keys the latest entries follow all others, and no other order exists.
#include "example.h"

namespace {

using namespace varve;
using patterns::Example;

constexpr std::uint64_t kEntries = 2000;

struct Cost {
  std::uint64_t batch_bytes = 0;
  std::uint64_t partition_waits = 0;
};

/// Writes one entry after another. `partition_of` and `row_of` return the keys.
template <typename PartitionOf, typename RowOf>
Cost fill(Example& example, Table& table, PartitionOf partition_of, RowOf row_of) {
  const Statistics before = Example::must(example.store().statistics());
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    Entity entry(partition_of(i), row_of(DateTime{638'000'000'000'000'000 + i}));
    Example::must(table.insert(entry.set("N", static_cast<std::int64_t>(i))));
  }
  const Statistics after = Example::must(example.store().statistics());
  return {after.batch_bytes - before.batch_bytes, after.partition_waits - before.partition_waits};
}

}  // namespace

int main() {
  Example example("Prepend and append: what keys that only grow cost here");
  Table appended = example.table("Appended");
  Table spread = example.table("Spread");
  Table prepended = example.table("Prepended");

  // [shown]
  const auto one = [](std::uint64_t) { return std::string("log"); };
  const auto many = [](std::uint64_t i) { return "l" + Example::must(zero_padded(i % 16, 2)); };
  const Cost append = fill(example, appended, one, ascending_ticks);
  const Cost scatter = fill(example, spread, many, ascending_ticks);
  const Cost prepend = fill(example, prepended, one, inverted_ticks);
  // [/shown]
  example.show(append.batch_bytes == scatter.batch_bytes && append.batch_bytes == prepend.batch_bytes,
               "writing: " + std::to_string(append.batch_bytes) + " bytes for 2000 entries, whatever the end");
  example.show(append.partition_waits == 0, "one writer waits for nobody; transactions of one partition take turns");

  // [shown]
  Cursor<Entity> to_the_end = Query<>().in(ScanRange::partition("log")).run(appended);
  const std::vector<Entity> all = Example::must(to_the_end.all());
  // [/shown]
  example.show(to_the_end.cost().entities_examined == kEntries && *all.back().get<std::int64_t>("N") == kEntries - 1,
               "the last 10 behind ascending keys: " + std::to_string(to_the_end.cost().entities_examined) +
                   " entities examined");
  example.reads(to_the_end.cost().entities_examined);
  // [shown]
  Cursor<Entity> from_the_front = Query<>().in(ScanRange::partition("log")).take(10).run(prepended);
  const std::vector<Entity> latest = Example::must(from_the_front.all());
  // [/shown]
  example.show(from_the_front.cost().entities_examined == 10 && *latest[0].get<std::int64_t>("N") == kEntries - 1,
               "the last 10 before inverted keys: 10 entities examined");
  return example.end();
}
