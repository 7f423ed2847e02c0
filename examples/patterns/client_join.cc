// Relationship: a join in the client. Orders name their customers, which are in another table. The orders are read,
// then each customer once, all at the same snapshot, so that both are consistent.
#include <map>
#include <set>

#include "example.h"

struct Order {
  std::string day;
  std::string number;
  std::string customer;
  double total = 0;
};
struct Customer {
  std::string country;
  std::string id;
  std::string name;
};

template <>
inline constexpr auto varve::mapping<Order> = varve::mapped::members(
    varve::mapped::partition_key(&Order::day), varve::mapped::row_key(&Order::number),
    varve::mapped::property("Customer", &Order::customer), varve::mapped::property("Total", &Order::total));
template <>
inline constexpr auto varve::mapping<Customer> =
    varve::mapped::members(varve::mapped::partition_key(&Customer::country), varve::mapped::row_key(&Customer::id),
                           varve::mapped::property("Name", &Customer::name));

namespace {

using namespace varve;
using patterns::Example;

}  // namespace

int main() {
  Example example("Join in the client: orders with the names of their customers");
  TypedTable<Order> orders(example.table("Orders"));
  TypedTable<Customer> customers(example.table("Customers"));
  for (const std::string id : {"c1", "c2", "c3"}) Example::must(customers.insert(Customer{"eu", id, "name of " + id}));
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Order order{"2026-03-03", Example::must(zero_padded(i, 4)), i % 2 == 0 ? "c1" : "c3", 1.5};
    Example::must(orders.insert(order));
  }

  // [shown]
  const Snapshot moment = Example::must(example.store().snapshot());
  // [/shown]
  Example::must(customers.table().remove("eu", "c3", ETag::any()));  // after the moment of the snapshot

  // [shown]
  Query<Order> of_day;
  of_day.where(field<&Order::day>() == "2026-03-03").at(moment);
  const std::vector<Order> found = Example::must(orders.run(of_day).all());
  std::set<std::string> wanted;
  for (const Order& order : found) wanted.insert(order.customer);

  std::vector<EntityKey> keys;
  for (const std::string& id : wanted) keys.push_back({"eu", id});
  std::map<std::string, Customer> by_id;
  for (const auto& entity : Example::must(customers.table().get_many(keys, {.select = {}, .snapshot = moment}))) {
    if (!entity) continue;
    Customer customer = Example::must(from_entity<Customer>(*entity));
    by_id.emplace(customer.id, std::move(customer));
  }
  // [/shown]

  example.show(keys.size() == 2, "30 orders are of two customers: each is read once, both by one call");
  example.reads(found.size() + keys.size());
  std::size_t joined = 0;
  for (const Order& order : found) joined += by_id.contains(order.customer) ? 1U : 0U;
  example.show(joined == 30 && by_id.at("c3").name == "name of c3",
               "every order finds its customer, though one was deleted since: both were read at one snapshot");
  return example.end();
}
