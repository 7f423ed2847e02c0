// Pattern: asynchronous. A program that serves many callers at once needs no thread for each. An operation is a task,
// which a coroutine awaits, or whose end calls a callback. Hundreds are in flight from one thread.
#include <atomic>
#include <stop_token>

#include "example.h"
#include "varve/async.h"

namespace {

using namespace varve;
using patterns::Example;

/// Handles one customer's day: an order is written, read again, confirmed with its ETag, and counted.
Task<Status> order(AsyncTable orders, int customer) {
  const std::string partition = std::to_string(customer);
  const Result<ETag> placed = co_await orders.insert(Entity(partition, "order").set("State", "placed"));
  if (!placed.ok()) co_return placed.status();

  Result<std::optional<Entity>> found = co_await orders.get(partition, "order");
  if (!found.ok()) co_return found.status();
  Entity confirmed = **std::move(found);
  confirmed.set("State", "confirmed");
  const Result<ETag> written = co_await orders.replace(confirmed, confirmed.etag());
  co_return written.status();
}

/// Adds one to a number that all customers share. If another writer was faster, it tries again.
Task<Status> count(AsyncTable orders) {
  for (;;) {
    Result<std::optional<Entity>> found = co_await orders.get("all", "count");
    if (!found.ok()) co_return found.status();
    Entity counter = **std::move(found);
    counter.set("Count", *counter.get<std::int32_t>("Count") + 1);
    const Result<ETag> written = co_await orders.replace(counter, counter.etag());
    if (written.code() != Code::kPreconditionFailed) co_return written.status();
  }
}

bool all_ok(const std::vector<Status>& ends) {
  return std::all_of(ends.begin(), ends.end(), [](const Status& end) { return end.ok(); });
}

}  // namespace

int main() {
  Example example("Asynchronous: hundreds of operations in flight from one thread");
  Table table = example.table("Orders");
  const AsyncTable orders(table);
  Example::must(table.insert(Entity("all", "count").set("Count", 0)));

  std::vector<Task<Status>> customers;
  for (int customer = 0; customer < 300; ++customer) customers.push_back(order(orders, customer));
  example.show(all_ok(wait(all(std::move(customers)))), "300 customers order, read and confirm, side by side");

  std::vector<Task<Status>> counts;
  for (int i = 0; i < 50; ++i) counts.push_back(count(orders));
  const bool counted = all_ok(wait(all(std::move(counts))));
  const std::optional<Entity> counter = Example::must(table.get("all", "count"));
  example.show(counted && *counter->get<std::int32_t>("Count") == 50,
               "50 writers of one entity: none is lost, by ETags");

  std::atomic<int> answered = 0;
  start(orders.get("7", "order"), [&answered](const Result<std::optional<Entity>>& entity) {
    answered = entity.ok() && entity->has_value() ? 1 : 2;
    answered.notify_one();
  });
  answered.wait(0);
  example.show(answered == 1, "a callback is told, on the store's own thread");

  std::stop_source nobody_waits;
  nobody_waits.request_stop();
  const Status stopped = wait(orders.remove("7", "order", ETag::any(), {}, nobody_waits.get_token()));
  example.show(stopped.code() == Code::kCancelled && Example::must(table.get("7", "order")).partition_key() == "7",
               "what was stopped before it began has changed nothing");
  return example.end();
}
