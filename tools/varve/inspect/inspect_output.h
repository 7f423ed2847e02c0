// Owns: the output format of `varve inspect`: text lines and JSON Lines from the same names.
// Must never: let bytes of a file reach a terminal as commands, or omit damage after showing other items.
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

/// One named value of an item.
struct InspectField {
  std::string name;
  nlohmann::ordered_json value;
  /// The value as text.
  std::string text;
};
using InspectFields = std::vector<InspectField>;

InspectField number_field(std::string name, std::uint64_t number);
/// Returns a commit version as ticks and as time.
InspectField version_field(std::string name, format::CommitVersion version);
/// Returns a seed or hash as sixteen digits.
InspectField hex_field(std::string name, std::uint64_t number);
/// Returns a text from the store's users. It is cut if it is long.
InspectField text_field(std::string name, std::string_view text);
/// Returns a word of this program, which is shown unchanged.
InspectField word_field(std::string name, std::string_view word);
/// Returns account and table: "1.7".
InspectField table_field(std::string name, format::TableId table);
/// Returns "table", "partition_key" and "row_key" of a sort key. The key of an index entry has "index" and "components"
/// instead of "table". Returns the bytes if they are no key.
InspectFields key_fields(std::string_view sort_key);
/// Returns "value_bytes", and "properties" if the value is an entity.
InspectFields value_fields(std::string_view value);

class InspectOutput {
 public:
  InspectOutput(std::ostream& out, bool json) : out_(out), json_(json) {}

  /// Writes an item that begins at `offset` of the file.
  void item(std::uint64_t offset, std::string_view kind, const InspectFields& fields);
  /// Writes a part of the last item.
  void part(std::string_view kind, const InspectFields& fields);
  /// Writes a damage, with its offset if that is known. Nothing is written after it.
  void damage(std::optional<std::uint64_t> offset, const Status& status);

  /// Returns Ok, or the status that was passed to damage().
  const Status& status() const noexcept { return status_; }
  /// Returns whether the reader of the output is still there.
  bool wanted() const noexcept { return static_cast<bool>(out_); }

 private:
  void write(std::optional<std::uint64_t> offset, std::string_view kind, const InspectFields& fields);
  std::ostream& out_;
  bool json_;
  Status status_;
};

}  // namespace varve::tool
