// Owns: the values of unique indexes that one commit gives to entities, and the search for the entities that have them (I3).
// Must never: accept a value while the entity that has it keeps it.
//
// A value is the components of an entity in one index. A commit that gives a value to an entity holds the lock of the value,
// which is the partition lock of its entries. Under the lock, the newest assigned entries of the value are searched. Entries
// that the same commit removes do not count. A commit whose values need other locks than it holds is refused, and made anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/index_rows.h"
#include "api/commit/commit.h"
#include "engine/engine.h"
#include "format/keys/entity.h"
#include "varve/status.h"

namespace varve {

/// The error string of a write that would give an entity a value which another one has. It is no string of the table
/// service.
inline constexpr ErrorName kIndexValueAlreadyExists("IndexValueAlreadyExists");

/// Returns whether writers must check a unique index of the table.
bool has_unique_index(const TableIndexes& indexes) noexcept;

/// Returns whether the index compares the entity with others: it is unique, and no component is NaN.
bool compares_value(const TableIndex& index, const format::EncodedEntity& properties);

/// Appends the hash of the lock that a write needs which gives the entity these properties, if the index compares it.
void append_value_lock(const TableIndex& index, std::string_view sort_key, const format::EncodedEntity& properties,
                       std::vector<std::uint64_t>& hashes);

class UniqueValues {
 public:
  /// The operation of a commit that gives a value.
  struct Giver {
    std::size_t operation = 0;
    /// Whether a refusal may show the keys of another entity.
    bool may_see_others = false;
  };

  /// `locks` are the hashes that the commit holds, ascending. They outlive the object.
  explicit UniqueValues(std::span<const std::uint64_t> locks) noexcept : locks_(locks) {}

  /// Notes that the entity gets these components. `index` outlives the object. Errors: kTooLarge (PropertyValueTooLarge: a
  /// value was cut); kConflict (kTableReshaped: the commit does not hold the lock).
  Status give(const TableIndex& index, std::string_view components, bool was_cut, std::string_view sort_key,
              const Giver& giver);
  /// Notes that the commit removes this entry.
  void take(std::string entry_key) { taken_.push_back(std::move(entry_key)); }

  /// Searches for the entities that have the values, and for values that are given twice. Called once, after all operations
  /// were noted. `view` was made under the locks. `operation` receives the operation that is refused.
  /// Errors: kExists (IndexValueAlreadyExists), those of reading.
  Refusal check(const engine::ReadView& view, std::size_t& operation);

 private:
  struct Gift {
    const TableIndex* index;
    std::string value;  // the part of its entries' keys that all entities with the value share
    std::string entry_key;
    Giver giver;
  };

  Refusal search(const engine::ReadView& view, const Gift& gift) const;

  const std::span<const std::uint64_t> locks_;
  std::vector<Gift> gifts_;
  std::vector<std::string> taken_;  // ascending in check()
};

}  // namespace varve
