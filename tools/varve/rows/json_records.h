// Owns: the place of records in a JSON text of any size and layout, and the text of each record.
// Must never: keep more of the text than one record, or take a cut text for a whole one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/input/lines.h"
#include "varve/result.h"

namespace varve::tool {

struct JsonRecord {
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::string text;
  /// The member's name, if the record is a member of an object.
  std::string name;
  /// Whether the record is the root itself.
  bool is_root = false;
  /// Whether the record is longer than kLineBytesMax. Its text is cut then.
  bool too_long = false;
};

/// Parses `features`, the name of a member of the root, or a JSON pointer such as `/data/0/rows`. An empty text is the
/// root. Errors: kInvalidArgument.
Result<std::vector<std::string>> parse_record_path(std::string_view text);

/// Reads a text piece by piece. It checks the structure around the records, and only the brackets and texts of a
/// record. The records are:
/// - with a path, the elements of the array or the members of the object at the path;
/// - without, the elements of a root that is an array, and every other root.
class JsonRecords {
 public:
  explicit JsonRecords(std::optional<std::vector<std::string>> path) : path_(std::move(path)) {}

  /// Takes the next bytes of the text. Errors: kInvalidArgument, with the line (not JSON, no records at the path).
  Status take(std::string_view bytes);
  /// Ends the text. Errors: as take().
  Status finish();
  /// Returns the next record that is whole, or nothing if there is none yet.
  std::optional<JsonRecord> next();

 private:
  enum class Wanted : std::uint8_t { kValueOrEnd, kValue, kNameOrEnd, kName, kColon, kCommaOrEnd };
  /// An array or object on the way to the records, which is open.
  struct Frame {
    bool is_object = false;
    Wanted wanted = Wanted::kValueOrEnd;
    std::size_t index = 0;
    std::string name;
    bool has_records = false;
  };
  enum class Reading : std::uint8_t { kStructure, kName, kText, kNested, kPlain };

  Status take_structure(char c);
  Status take_name(char c);
  Status begin_value(char c);
  Status descend(char c, bool has_records);
  Status end_frame(char c);
  Status take_value(char c, bool* again);
  void keep(char c);
  void end_value();
  bool is_on_path(const Frame& frame) const;
  Status fault(const std::string& what) const;
  Status absent() const;

  std::optional<std::vector<std::string>> path_;
  std::vector<Frame> frames_;
  std::deque<JsonRecord> ready_;
  JsonRecord record_;
  bool keeps_ = false;  // whether the present value is a record
  Reading reading_ = Reading::kStructure;
  std::uint64_t depth_ = 0;  // of brackets in the present value
  bool in_text_ = false;     // of a value with brackets
  bool escaped_ = false;
  std::string name_;  // as it is written
  std::uint64_t line_ = 1;
  bool any_root_ = false;
  bool found_ = false;  // the records' array or object
  /// The names beside the path, for the error.
  std::vector<std::string> seen_;
};

}  // namespace varve::tool
