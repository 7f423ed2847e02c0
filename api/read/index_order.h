// Owns: the first entities of an order, found by an index.
// Must never: end before an entity that comes before one that it offers, or read more entries than its budget (I6, I7).
//
// The entries of an index are ordered by type, and each type by its values. So the walk merges a range of each type, and
// compares the values as the order does. The entries of one value are ordered so by the next component. So if a value has more
// than a few entries, a range of each type of the next component takes their place. If the order has no further component, or
// goes on by key, an entry gives the entity's place: its values and its key. Then only the entities that come first are read.
// Otherwise, and for a text that was cut, an entry gives a bound of the place. The walk ends when no entity that is left can
// come before the last one of the page.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "api/filter/index_plan.h"
#include "api/read/entity_order.h"
#include "api/read/first_entities.h"
#include "api/read/index_scan.h"
#include "api/read/page_scan.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve {

/// An index that has the order of a scan.
struct IndexOrder {
  std::string name;
  OrderPlan plan;
  /// It outlives this object.
  const EntityOrder* of = nullptr;
  /// The first component of the order that the index has. Those before it have one value: the filter fixes them, or they are
  /// the PartitionKey of the only partition.
  std::size_t component = 0;
  /// Whether entities that are equal in those, and in what the index has, are in the order of their keys.
  bool is_whole = false;

  /// How many components of the order the index has, or have one value.
  std::size_t served() const noexcept { return component + plan.components.size(); }
};

/// Chooses an index. Returns nothing if none has the order, or if only entities follow that lack its property.
/// `in_one_partition`: the entities and the position have one PartitionKey.
Result<std::optional<IndexOrder>> index_of_order(const IndexedScan& scan, const EntityOrder& order,
                                                 const OrderedPosition& after, bool in_one_partition);
/// What ends the reading of an index early. All of it outlives the reading.
struct OrderReading {
  io::Clock& clock;
  std::chrono::nanoseconds deadline;
  const std::stop_token& stop;
};
/// Offers entities to the page until it has the first ones, or after the deadline at least one. Returns false if the page has
/// to read all ranges instead: the budget was not enough, or entities without the property may belong to the page. Errors:
/// those of reading.
Result<bool> offer_in_order(const IndexedScan& scan, const IndexOrder& order, PageScan& page, FirstEntities& first,
                            const OrderReading& reading);

}  // namespace varve
