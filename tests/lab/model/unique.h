// Owns: the rules of the model for unique indexes: the value of an entity, and the writes that would give one to two.
// Must never: share code with the store except the value types of its interface.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/lab/model/state.h"

namespace varve::lab {

/// A value of all components of an index.
struct IndexedValue {
  std::string text;
  bool is_too_long = false;  // a unique index refuses it
};

/// Returns nothing if the entity has no value that could be equal to another one: it lacks a component, or one is NaN.
std::optional<IndexedValue> value_in(const IndexDefinition& definition, const Entity& entity);

/// Returns whether writers to the table may have to check the index.
bool may_refuse(const IndexRow& index);

/// One of the writes of a commit.
struct JudgedWrite {
  std::string table_name;
  TablePointer table;  // as it is before the commit, of which no entity has ended
  WriteOperation write;
  std::optional<std::uint32_t> operation{};
};

/// Judges writes that break no other rule. If they give values to entities that others have, `taken` has all refusals that
/// the store may choose from.
Expected judge_values(std::span<const JudgedWrite> writes, Planted planted);

/// Returns whether a build of the index must fail: two entities have one value, or a value is too long.
bool breaks_index(const TableState& table, const IndexDefinition& definition);

}  // namespace varve::lab
