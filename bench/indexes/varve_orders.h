// Owns: a store with tables of orders, and the operations that the rows of the race of indexes repeat.
// Must never: include code below api/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "varve/store.h"

namespace varve::bench {

class VarveOrders {
 public:
  static constexpr std::string_view kAccount = "bench";
  static constexpr std::string_view kOrders = "Orders";

  /// Creates a store in the directory `store` below `directory`, with an empty table of orders. Its cache has 512 MiB.
  static std::unique_ptr<VarveOrders> open(const std::string& directory, const TableOptions& options = {});
  /// Loads the orders from 0 to `count` into the table, each after a change by `edit`.
  void load(std::uint64_t count, const std::function<void(std::uint64_t, Entity&)>& edit = {});
  /// Builds an index of the table. Returns the seconds that it took.
  double build(const IndexDefinition& definition);
  /// Inserts an order, durably or not.
  void insert(std::uint64_t n, Durability durability);
  /// Finds an order by an index on its number. Returns the cost.
  PageCost find(std::uint64_t n);
  static Scan scan_for(std::uint64_t n);
  /// Returns the plan of a scan of the orders.
  std::string plan_of(const Scan& scan);
  /// Reads all orders in place. Returns how many there are.
  std::uint64_t read_all();

  Store& store() noexcept { return *store_; }
  Table& orders() noexcept { return *orders_; }

 private:
  std::unique_ptr<Store> store_;
  std::optional<Table> orders_;
};

}  // namespace varve::bench
