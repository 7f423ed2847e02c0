// Owns: the entities of the race of indexes, and the interface of its peers, so that each row is the same work for all.
// Must never: let one peer give a weaker promise than another in the same row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"
#include "varve/types.h"

namespace varve::bench {

/// Order n: a Number that no other order has, one of 50 Countries, a Total below a million, and a text of 100 bytes. Its
/// keys are those of entity n of all races.
Entity order_of(std::uint64_t n);
std::string number_of(std::uint64_t n);
std::string country_of(std::uint64_t n);
std::int64_t total_of(std::uint64_t n);
/// The bound of the filter `Total lt ...`, which nine of ten orders meet.
inline constexpr std::int64_t kTotalBound = 900'000;

/// What a peer returns for a group of orders.
struct Group {
  std::uint64_t orders = 0;
  std::int64_t total = 0;
};

/// A peer. Any number of threads may use it. If a peer has no counterpart for a verb, the verb returns kUnsupported.
class OrderContender {
 public:
  virtual ~OrderContender() = default;
  /// Inserts an order, and with it its entry of an index by number. All is on stable storage when this returns.
  virtual Status insert(std::uint64_t n, bool with_entry);
  /// Inserts the orders from 0 to `count`, without a wait for the device, and waits until nothing is left to merge.
  virtual Status fill(std::uint64_t count);
  /// Finds an order by its number, and makes an Entity of it.
  virtual Status find(std::uint64_t n);
  /// What it cost to give back the space of ended orders.
  struct Expired {
    double seconds = 0;
    double written_bytes = 0;
  };
  /// Fills it with the orders from 0 to `count`. Then the orders below half of it end, and it gives back their space.
  virtual Result<Expired> expire(std::uint64_t count);
  /// Counts the orders with a Total below kTotalBound, and adds their totals, by country.
  virtual Result<std::vector<Group>> group();
};

#ifdef VARVE_BENCH_ROCKSDB
/// Counts and drops what ends only `with_ends`, since that costs the other verbs.
Result<std::unique_ptr<OrderContender>> open_rocksdb_orders(const std::string& directory, bool with_ends = false);
#endif
#ifdef VARVE_BENCH_SQLITE
Result<std::unique_ptr<OrderContender>> open_sqlite_orders(const std::string& directory);
#endif

}  // namespace varve::bench
