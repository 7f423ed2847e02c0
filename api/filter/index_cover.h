// Owns: what a count or a page needs of each entity, and the entity as far as the entry of an index shows it.
// Must never: give a value that is not exactly the entity's. For example, a long text is cut in an entry (I6).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/filter/filter.h"
#include "format/keys/index_key.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve {

/// Names of properties, keys and Timestamp among them, each once.
using PropertyNames = std::vector<std::string>;

/// Appends the names that the filter compares.
void add_names(const Filter& filter, PropertyNames& names);

/// An entity as far as an entry shows it.
struct KnownEntity {
  /// Zero if Timestamp is not needed.
  format::CommitVersion version = 0;
  /// The needed properties, as an entity.
  std::string properties{};
};

/// Reads the needed properties from the entries of one index.
class IndexCover {
 public:
  /// Returns nothing if the entries lack a needed property. Entries have the keys. They have Timestamp only as a component,
  /// which is the version of the entity. Of a LargeValue they have nothing. Both arguments outlive the result.
  static std::optional<IndexCover> of(const format::IndexDefinition& definition, const PropertyNames& names,
                                      bool may_have_large_values);

  /// Returns whether entity_of() reads the value of an entry.
  bool uses_values() const noexcept { return !carried_.empty(); }
  /// Returns the entity of an entry, or nothing if the entry lacks the exact value of a needed property. Errors:
  /// kCorruption.
  Result<std::optional<KnownEntity>> entity_of(std::string_view key, std::string_view value) const;

 private:
  explicit IndexCover(const format::IndexDefinition& definition) noexcept : definition_(&definition) {}

  const format::IndexDefinition* definition_;
  std::vector<std::string_view> carried_;
  std::vector<std::size_t> components_;  // of which no carried property has the value
  std::optional<std::size_t> timestamp_;
};

}  // namespace varve
