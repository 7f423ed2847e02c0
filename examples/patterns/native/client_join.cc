// Native twin of the join in the client: the store groups the orders by customer. With an index that repeats the
// customer, it reads no order for that. The customers are read by one call, at the same snapshot.
#include <varve/aggregate.h>
#include <varve/table_index.h>

#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Join in the client, natively: orders in groups, with the names of their customers");
  Table orders = example.table("Orders");
  Table customers = example.table("Customers");
  for (const std::string id : {"c1", "c2", "c3"}) {
    Example::must(customers.insert(Entity("eu", id).set("Name", "name of " + id)));
  }
  // [shown]
  Example::must(example.store().create_index("examples", "Orders", {"ByDay", {{"Day"}}, {"Customer"}}));
  for (int i = 0; i < 30; ++i) {
    Entity order("eu", std::to_string(1000 + i));
    Example::must(orders.insert(order.set("Day", "2026-03-03").set("Customer", i % 2 == 0 ? "c1" : "c3")));
  }

  Scan of_day;
  of_day.filter = "Day eq '2026-03-03'";
  of_day.read.snapshot = Example::must(example.store().snapshot());
  Example::must(customers.remove("eu", "c3", ETag::any()));  // after the moment of the snapshot

  Aggregation by_customer = Example::must(Aggregation::create({Aggregate::count()}, {{"Customer"}}));
  const Count counted = Example::must(orders.aggregate(of_day, by_customer));
  const std::vector<AggregateRow> groups = Example::must(by_customer.rows());
  std::vector<EntityKey> keys;
  for (const AggregateRow& group : groups) keys.push_back({"eu", *group.group[0]->get_if<std::string>()});
  const auto joined = Example::must(customers.get_many(keys, {.select = {}, .snapshot = of_day.read.snapshot}));
  // [/shown]
  example.show(counted.entities == 30 && !counted.continuation && keys.size() == 2,
               "30 orders are of two customers: each is read once, both by one call");
  const bool has_names = joined[0] && joined[1] && *joined[1]->get<std::string>("Name") == "name of c3";
  const bool has_counts =
      *groups[0].figures[0] == Value(std::int64_t{15}) && *groups[1].figures[0] == *groups[0].figures[0];
  example.show(has_names && has_counts, "every order finds its customer, though one was deleted since");
  example.reads(counted.cost.entities_examined + keys.size());
  return example.end();
}
