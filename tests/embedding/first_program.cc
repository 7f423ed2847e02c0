// Owns: the program that README.md shows, word for word, and that the test of the installed package builds and runs.
// Must never: need more than the public headers.
#include <iostream>

#include <varve/store.h>

int main() {
  auto store = varve::Store::open("./shop", {.create_if_absent = true});
  if (!store.ok()) {
    std::cerr << store.status().to_string() << "\n";
    return 1;
  }
  (void)(*store)->create_account("myaccount");  // there already on the second run
  (void)(*store)->create_table("myaccount", "Orders");
  auto orders = (*store)->open_table("myaccount", "Orders");
  if (!orders.ok()) return 1;

  varve::Entity order("eu", "0001");
  order.set("Customer", "Ann").set("Lines", 3).set("Total", 12.5);
  auto etag = orders->insert_or_replace(order);
  if (!etag.ok()) return 1;

  order.set("Lines", 4);
  auto updated = orders->replace(order, *etag);       // only if nobody changed it in between
  auto refused = orders->replace(order, *etag);       // *etag is stale now
  std::cout << refused.status().to_string() << "\n";  // PreconditionFailed (UpdateConditionNotSatisfied): ...
  return updated.ok() && (*store)->close().ok() ? 0 : 1;
}
