#include "bench/indexes/varve_orders.h"

#include "bench/blobs/measure.h"
#include "bench/indexes/orders.h"
#include "varve/loader.h"

namespace varve::bench {

std::unique_ptr<VarveOrders> VarveOrders::open(const std::string& directory, const TableOptions& options) {
  ResourceOptions budgets;
  budgets.write_buffer_bytes = std::uint64_t{256} << 20;
  budgets.block_cache_bytes = std::uint64_t{512} << 20;
  StoreOptions store_options;
  store_options.create_if_absent = true;
  store_options.resources = take(Resources::create(budgets));
  auto varve = std::make_unique<VarveOrders>();
  varve->store_ = take(Store::open(directory + "/store", store_options));
  check(varve->store_->create_account(kAccount));
  varve->orders_.emplace(take(varve->store_->create_table(kAccount, kOrders, options)));
  return varve;
}

void VarveOrders::load(std::uint64_t count, const std::function<void(std::uint64_t, Entity&)>& edit) {
  Loader loader = take(store_->load_table(kAccount, kOrders));
  for (std::uint64_t n = 0; n < count; ++n) {
    Entity order = order_of(n);
    if (edit) edit(n, order);
    check(loader.add(order));
  }
  check(loader.finish().status());
}

double VarveOrders::build(const IndexDefinition& definition) {
  return seconds_of([&] { check(store_->create_index(kAccount, kOrders, definition)); });
}

void VarveOrders::insert(std::uint64_t n, Durability durability) {
  WriteOptions options;
  options.durability = durability;
  check(orders_->insert(order_of(n), options).status());
}

Scan VarveOrders::scan_for(std::uint64_t n) {
  Scan scan;
  scan.filter = "Number eq '" + number_of(n) + "'";
  return scan;
}

PageCost VarveOrders::find(std::uint64_t n) {
  const Page page = take(orders_->scan(scan_for(n)));
  if (page.entities.size() != 1) check(Status::corruption("a look-up by number found another number of orders"));
  return page.cost;
}

std::string VarveOrders::plan_of(const Scan& scan) {
  const ScanPlan plan = take(orders_->explain(scan));
  std::string text(access_path_name(plan.path));
  if (!plan.residual.empty()) text += ", filter " + plan.residual;
  for (const IndexCandidate& index : plan.indexes) {
    if (index.is_taken) text += ", entities from index " + index.name;
  }
  return plan.order_index.empty() ? text : text + ", order from index " + plan.order_index;
}

std::uint64_t VarveOrders::read_all() {
  std::uint64_t orders = 0;
  Scan scan;
  for (;;) {
    const Page page = take(orders_->scan_in_place(scan, [&orders](const EntityView& /*order*/) { ++orders; }));
    if (!page.continuation) return orders;
    scan.continuation = *page.continuation;
  }
}

}  // namespace varve::bench
