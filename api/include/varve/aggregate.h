// SPDX-License-Identifier: Apache-2.0
// Owns: figures over the entities that a scan would return: counts, sums, smallest and largest values, by group.
// Must never: make an entity for each one that it counts, or keep state in the store between two calls.
//
//   Result<Aggregation> totals = Aggregation::create({Aggregate::count(), Aggregate::sum("Total")}, {{"Country"}});
//   Scan scan;
//   scan.filter = "Total gt 100.0";
//   Result<Count> part = orders.aggregate(scan, *totals);
//   while (part.ok() && part->continuation) {
//     scan.continuation = *part->continuation;
//     part = orders.aggregate(scan, *totals);
//   }
//   Result<std::vector<AggregateRow>> rows = totals->rows();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entity_view.h"
#include "query.h"
#include "result.h"
#include "types.h"
#include "version.h"

namespace varve {

/// One figure over the entities of a group. `property` is a custom property, PartitionKey, RowKey or Timestamp. An
/// entity without the property does not change the figure, and a property whose value is null does not exist (D-45).
struct Aggregate {
  enum class Kind : std::uint8_t {
    /// The number of entities that have the property, as an Int64. Without a property: the number of all entities.
    kCount,
    /// The sum: an Int64 if all values are Int32 and Int64, else a Double. Integers are added exactly, so only a sum that
    /// is itself out of range is an error. Doubles are added in the order of the scan. If a value is NaN, so is the sum.
    kSum,
    /// The smallest value, with the type that it has. Numbers of all types compare as numbers, other types only with
    /// themselves. Of equal numbers, for example 1 and 1.0, the first of the scan is returned. NaN is left out. False is
    /// below true, and texts compare as keys do.
    kMin,
    /// The largest value, by the rules of kMin.
    kMax,
    /// The sum divided by the number of values, as a Double.
    kAverage,
    /// The exact number of different values, as an Int64. Equal numbers are one value, whatever their types are, and so
    /// are all NaN. Values of other types are equal only within one type.
    kDistinct,
  };
  /// The figure to compute.
  Kind kind = Kind::kCount;
  /// Name of the property. It may be empty for kCount alone.
  std::string property{};

  /// @{
  /// Returns the figure of the same name.
  static Aggregate count(std::string of = {}) { return {Kind::kCount, std::move(of)}; }
  static Aggregate sum(std::string of) { return {Kind::kSum, std::move(of)}; }
  static Aggregate min(std::string of) { return {Kind::kMin, std::move(of)}; }
  static Aggregate max(std::string of) { return {Kind::kMax, std::move(of)}; }
  static Aggregate average(std::string of) { return {Kind::kAverage, std::move(of)}; }
  static Aggregate distinct(std::string of) { return {Kind::kDistinct, std::move(of)}; }
  /// @}
};

/// What the entities of one group have in common: the value of a property, or the beginning of a key. Values are equal as
/// for Aggregate::Kind::kDistinct. Entities without the property are a group too.
struct GroupBy {
  /// A custom property, PartitionKey, RowKey or Timestamp.
  std::string property;
  /// If above zero: only the first characters of the key make the group. For example, 7 characters of `2026-03-03` are a
  /// month. A shorter key is a group as it is. Needs PartitionKey or RowKey.
  std::uint32_t characters = 0;
  /// If not empty: only the beginning of the key makes the group, up to and with the first delimiter. A key without the
  /// delimiter is a group as it is. Needs PartitionKey or RowKey, and excludes `characters`.
  std::string delimiter{};
};

/// The figures of one group.
struct AggregateRow {
  /// One value for each GroupBy. There is none for entities that lack the property. If equal numbers of several types
  /// are in a group, the first number of the scan is shown.
  std::vector<std::optional<Value>> group;
  /// One value for each Aggregate. Sums, averages, smallest and largest values do not exist if no entity of the group has
  /// such a value.
  std::vector<std::optional<Value>> figures;
};

/// Figures that are being computed. Table::aggregate() adds the entities of a scan, in as many calls as the scan needs.
/// The memory of one Aggregation is bounded by limits::kAggregateBytesMax. Use it from one thread at a time. After an
/// error of a call that adds entities, some of them may have been added, so every later call fails: create another one.
class VARVE_EXPORT Aggregation {
 public:
  /// Makes an aggregation of no entities. Errors:
  ///   kInvalidArgument (InvalidInput)  no figure, or more than limits::kAggregateFiguresMax; more groupings than
  ///                                    limits::kAggregateGroupingsMax; a figure without its property; a beginning of
  ///                                    anything but a key; a delimiter that is not UTF-8
  ///   kInvalidArgument, kTooLarge      a name that no property can have; see Table
  static Result<Aggregation> create(std::vector<Aggregate> figures, std::vector<GroupBy> group_by = {});
  Aggregation(Aggregation&& other) noexcept;
  Aggregation& operator=(Aggregation&& other) noexcept;
  ~Aggregation();

  /// Returns the names that the figures and groups use, each once. A caller who reads entities elsewhere selects these.
  std::vector<std::string> properties() const;
  /// Adds an entity that the caller read elsewhere, for example from a server. Errors: those of Table::aggregate() for one
  /// entity.
  Status add(const EntityView& entity);

  /// Returns the figures of all groups, in the order of their group values. Entities without the property come first,
  /// then numbers (NaN last), String, DateTime, Boolean, Guid and Binary. Without a grouping there is exactly one row.
  /// Errors: kTooLarge (a sum of integers is out of the range of an Int64).
  Result<std::vector<AggregateRow>> rows() const;

 private:
  friend class AsyncTable;
  friend class Table;
  struct State;
  explicit Aggregation(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// What AsyncTable::aggregate() returns.
struct Aggregated {
  /// The figures, with the entities of this call.
  Aggregation figures;
  /// What Table::aggregate() returns: the entities of this call, and where the next call continues.
  Count part;
};

}  // namespace varve
