// Owns: how what is found in a file is told: lines for people, JSON Lines for machines, from the same words.
// Must never: let bytes of a file reach a terminal as commands, or hide damage behind what was shown before it.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/status.h"

namespace varve::tool {

/// One thing known about an item.
struct InspectField {
  std::string name;
  nlohmann::ordered_json value;
  /// The value for people.
  std::string text;
};
using InspectFields = std::vector<InspectField>;

InspectField number_field(std::string name, std::uint64_t number);
/// A commit version, as ticks and as the time it stands for.
InspectField version_field(std::string name, format::CommitVersion version);
/// Seeds and hashes: sixteen digits.
InspectField hex_field(std::string name, std::uint64_t number);
/// Of people's own words, which are cut where they are long.
InspectField text_field(std::string name, std::string_view text);
/// Our own words, shown as they are.
InspectField word_field(std::string name, std::string_view word);
/// "1.7": account and table.
InspectField table_field(std::string name, format::TableId table);
/// "table", "partition_key" and "row_key" of a sort key; its bytes, where it is none.
InspectFields key_fields(std::string_view sort_key);
/// "value_bytes", and "properties" where the value is an entity.
InspectFields value_fields(std::string_view value);

class InspectOutput {
 public:
  InspectOutput(std::ostream& out, bool json) : out_(out), json_(json) {}

  /// Something that begins at `offset` of the file.
  void item(std::uint64_t offset, std::string_view kind, const InspectFields& fields);
  /// Something within it.
  void part(std::string_view kind, const InspectFields& fields);
  /// What the file's bytes contradict, at `offset` if that is known. Nothing follows.
  void damage(std::optional<std::uint64_t> offset, const Status& status);

  /// Ok, or what damage() was told.
  const Status& status() const noexcept { return status_; }
  /// Somebody still reads.
  bool wanted() const noexcept { return static_cast<bool>(out_); }

 private:
  void write(std::optional<std::uint64_t> offset, std::string_view kind, const InspectFields& fields);
  std::ostream& out_;
  bool json_;
  Status status_;
};

}  // namespace varve::tool
