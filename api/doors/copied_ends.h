// Owns: the ends of stored entities, and loads that give entities the ends they have elsewhere.
// Must never: be reached by a request of a client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/loader.h"
#include "varve/snapshot.h"

namespace varve {

/// The ends of the entities of a table, in a snapshot.
class CopiedEnds {
 public:
  /// Errors: kNotFound (TableNotFound), those of reading.
  static Result<CopiedEnds> of(const Snapshot& snapshot, std::string_view account, std::string_view table);

  /// Returns the end of an entity that the snapshot shows, or zero if it has none. Errors: those of reading.
  Result<std::uint64_t> end_of(const Entity& entity) const;

  /// Returns the time at which the snapshot judges ends. Zero if no entity of its store has an end.
  static std::uint64_t time_of(const Snapshot& snapshot) noexcept;

  /// Adds an entity, as Loader::add(), but with this end, or with none if it is zero, whatever the rule of the loaded table.
  /// Errors: those of Loader::add() and of Engine::allow_ends().
  static Status add(Loader& loader, const Entity& entity, std::uint64_t end);

 private:
  explicit CopiedEnds(const Snapshot& snapshot) : snapshot_(snapshot) {}

  Snapshot snapshot_;
  std::string encoded_id_;  // of the table; empty if no entity of the store has an end
};

}  // namespace varve
