// Owns: reading and writing tagged fields by a list of known tags, in rising order, with one line of code for each
// known tag.
// Must never: lose or move an unknown field. A rewrite puts it back among the known fields by its tag.
//
// A reader asks for the known tags in rising order. The fields that it skips on the way are unknown: even ones are
// kept, odd ones are refused. The first failure is final: later calls do not change their outputs, and finish() returns
// that failure.
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
  /// `thing` names the parsed structure in error messages. `thing` and `fields` must outlive the reader.
  OrderedFieldReader(std::string_view thing, std::string_view fields);

  /// Takes the next field if it has this tag. For a list, returns true once for each element. For an optional field,
  /// returns true at most once.
  bool take(Tag tag, std::string_view* value);
  bool take_number(Tag tag, std::uint64_t* value);

  // Reads a field that must occur exactly once.
  void require(Tag tag, std::string_view* value);
  void require_number(Tag tag, std::uint64_t* value);
  /// Reads a number of at most kCommitVersionMax.
  void require_version(Tag tag, CommitVersion* value);
  /// Reads a number that the writer leaves out if it is zero. A stored zero is damage.
  void number_unless_zero(Tag tag, std::uint64_t* value);

  /// Makes the reading fail, unless it has already failed. `message` is appended to the thing's name.
  void refuse(Code code, std::string_view message);

  bool ok() const noexcept { return status_.ok(); }
  /// Skips the remaining fields and returns the unknown even fields, byte for byte.
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

/// Returns the kept unknown fields by their tags, which rise. Allocates nothing. The fields must come from a reader
/// (asserted).
class KeptFields {
 public:
  explicit KeptFields(std::string_view fields) noexcept : rest_(fields) {}
  /// Returns the fields with tags below `tag` that it has not returned yet, byte for byte.
  std::string_view below(Tag tag) noexcept;
  std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

/// Appends known fields in rising order of their tags (asserted), and the kept unknown fields between them.
class OrderedFieldWriter {
 public:
  OrderedFieldWriter(std::string& out, std::string_view unknown_fields) noexcept : out_(out), kept_(unknown_fields) {}

  void bytes(Tag tag, std::string_view value);
  void number(Tag tag, std::uint64_t value);
  /// Appends the unknown fields that follow the last known one.
  void finish();

 private:
  void begin(Tag tag);

  std::string& out_;
  KeptFields kept_;
  Tag last_tag_ = 0;
};

}  // namespace varve::format
