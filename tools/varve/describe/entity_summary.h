// Owns: what the entities of a table have in common: names, types, how many have each, examples, and about how many
// different values there are.
// Must never: use more memory for more entities. Names beyond a limit are counted together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "varve/types.h"

namespace varve::tool {

/// Estimates how many different texts it was given, within some percent (HyperLogLog with 2^11 registers).
class DistinctCount {
 public:
  void add(std::string_view text);
  std::uint64_t estimate() const;

 private:
  std::vector<std::uint8_t> registers_;
};

struct PropertySummary {
  std::uint64_t entities = 0;
  /// The entities with each type, by the number of the type.
  std::map<PropertyType, std::uint64_t> types;
  /// Some first different values, as texts, cut to kExampleBytesMax.
  std::vector<std::string> examples;
  DistinctCount distinct;
};

class EntitySummary {
 public:
  static constexpr std::size_t kNamesMax = 1000;
  static constexpr std::size_t kExamplesMax = 3;
  static constexpr std::size_t kExampleBytesMax = 40;

  void add(const Entity& entity);

  std::uint64_t entities() const noexcept { return entities_; }
  /// Returns the sum of the sizes of all entities, as the service counts.
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t partitions() const { return partitions_.estimate(); }
  /// Returns the names in the order of first appearance. PartitionKey and RowKey come first.
  const std::vector<std::string>& names() const noexcept { return names_; }
  const PropertySummary& of(const std::string& name) const { return properties_.at(name); }
  /// Returns how many values had a name beyond kNamesMax.
  std::uint64_t values_left_out() const noexcept { return left_out_; }

 private:
  void add(const std::string& name, PropertyType type, const std::string& text);

  std::uint64_t entities_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
  DistinctCount partitions_;
  std::vector<std::string> names_;
  std::map<std::string, PropertySummary> properties_;
};

/// Returns "Edm.Int32", or several types with their shares: "Edm.Int32 98.0 %, Edm.Double 2.0 %".
std::string types_text(const PropertySummary& property);

/// Prints a summary as aligned lines, or as one line of JSON members without braces: `"entities":3,"properties":[...]`.
std::string summary_text(const EntitySummary& summary);
std::string summary_json(const EntitySummary& summary);

}  // namespace varve::tool
