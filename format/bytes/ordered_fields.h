// Owns: reading and writing tagged fields by a list of known tags, in rising order, each known tag in one line.
// Must never: lose or move an unknown field; a rewrite puts it back among the known ones by its tag.
//
// A reader asks for the known tags in rising order. What it passes over on the way is unknown: even fields are kept,
// odd ones refused. The first failure sticks; later calls then leave their outputs alone, and finish() returns it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/commit_version.h"
#include "format/bytes/tagged_fields.h"
#include "varve/status.h"

namespace varve::format {

class OrderedFieldReader {
 public:
  /// `thing` names what is read in messages; it and `fields` must outlive the reader.
  OrderedFieldReader(std::string_view thing, std::string_view fields);

  /// Takes the next field if it has this tag. For lists: true once for each; for optional fields: at most once.
  bool take(Tag tag, std::string_view* value);
  bool take_number(Tag tag, std::uint64_t* value);

  // A field that must stand exactly once.
  void require(Tag tag, std::string_view* value);
  void require_number(Tag tag, std::uint64_t* value);
  /// A number of at most kCommitVersionMax.
  void require_version(Tag tag, CommitVersion* value);
  /// A number that is left out when it is zero, and so may not stand as zero.
  void number_unless_zero(Tag tag, std::uint64_t* value);

  /// Fails the reading, if it has not failed already: `message` follows the thing's name.
  void refuse(Code code, std::string_view message);

  bool ok() const noexcept { return status_.ok(); }
  /// Passes over the rest and hands out the unknown even fields, as they stood.
  Status finish(std::string* unknown_fields);

 private:
  void advance();
  void pass_below(std::uint64_t tag);

  std::string_view thing_;
  FieldReader reader_;
  std::optional<Field> next_;
  Tag last_known_ = 0;
  std::string unknown_;
  Status status_;
};

/// Hands kept unknown fields out again, by their tags, which rise. Allocates nothing. The fields must be what a
/// reader kept (asserted).
class KeptFields {
 public:
  explicit KeptFields(std::string_view fields) noexcept : rest_(fields) {}
  /// Those with tags below `tag` that were not handed out yet, as they stood.
  std::string_view below(Tag tag) noexcept;
  std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

/// Appends known fields in rising order of their tags (asserted), with the kept unknown ones among them.
class OrderedFieldWriter {
 public:
  OrderedFieldWriter(std::string& out, std::string_view unknown_fields) noexcept : out_(out), kept_(unknown_fields) {}

  void bytes(Tag tag, std::string_view value);
  void number(Tag tag, std::uint64_t value);
  /// The unknown fields behind the last known one.
  void finish();

 private:
  void begin(Tag tag);

  std::string& out_;
  KeptFields kept_;
  Tag last_tag_ = 0;
};

}  // namespace varve::format
