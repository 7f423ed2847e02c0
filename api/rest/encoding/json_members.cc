#include "api/rest/encoding/json_members.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include "api/model/service_error.h"
#include "api/rest/encoding/byte_order_mark.h"
#include "format/keys/sort_key.h"

namespace varve::serve {
namespace {

constexpr unsigned kParseFlags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;
/// Bytes after the text. The reader looks at whole blocks of this size, including the block with the final byte 0.
constexpr std::size_t kBlockBytes = 16;
/// The usual number of members of an entity.
constexpr std::size_t kUsualMembers = 12;

/// Returns whether a text contains control characters, which JSON never contains. The reader treats the byte 0 as the
/// end, and skips some other control characters when it reads blocks.
bool has_control_characters(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

/// Receives each member while the reader parses it. Returns false to stop the reader, so content of objects and arrays
/// is never read.
class MemberCollector : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, MemberCollector> {
 public:
  MemberCollector(std::vector<JsonMember>& members, const JsonLimits& limits) : members_(members), limits_(limits) {}
  bool found_nesting() const noexcept { return found_nesting_; }
  bool found_excess() const noexcept { return found_excess_; }

  bool StartObject() {
    if (!is_inside_) return is_inside_ = true;
    found_nesting_ = true;
    return false;
  }
  bool StartArray() {
    found_nesting_ = is_inside_;
    return false;
  }
  bool EndObject(rapidjson::SizeType /*members*/) { return true; }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    found_excess_ = members_.size() == limits_.members_max;
    if (found_excess_) return false;
    members_.push_back({{text, size}});
    return is_text(members_.back().name);
  }
  bool Null() { return set(JsonKind::kNull, {}); }
  bool Bool(bool value) { return set(value ? JsonKind::kTrue : JsonKind::kFalse, {}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return set(JsonKind::kNumber, {text, size});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return set(JsonKind::kText, {text, size}) && is_text(members_.back().text);
  }
  /// Refuses every event without a function above.
  bool Default() { return false; }

 private:
  /// Checks the UTF-8 of a text. The reader accepts escapes of lone surrogates, which become bytes that begin with ED.
  /// All other bytes were checked before. Source: D-39.
  static bool is_text(std::string_view text) noexcept {
    return text.find('\xED') == std::string_view::npos || format::is_valid_utf8(text);
  }
  bool set(JsonKind kind, std::string_view text) {
    if (!is_inside_) return false;  // a value alone
    members_.back().kind = kind;
    members_.back().text = text;
    if (limits_.counts(members_.back())) found_excess_ = ++counted_ > limits_.counted_max;
    return !found_excess_;
  }

  std::vector<JsonMember>& members_;
  const JsonLimits& limits_;
  std::size_t counted_ = 0;
  bool is_inside_ = false;
  bool found_nesting_ = false;
  bool found_excess_ = false;
};

}  // namespace

JsonObject::JsonObject(std::string_view body) : bytes_(std::make_unique<char[]>(body.size() + kBlockBytes)) {
  std::copy(body.begin(), body.end(), bytes_.get());
  members_.reserve(kUsualMembers);
}

Status JsonObject::read_in_place(const JsonLimits& limits) {
  MemberCollector collector(members_, limits);
  rapidjson::InsituStringStream stream(bytes_.get());
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kParseFlags>(stream, collector);
  if (!parsed.IsError()) return Status();
  if (collector.found_excess()) {
    return service_error::too_many_properties("the body has more than " + std::to_string(limits.counted_max) +
                                              " properties besides its keys and Timestamp, or more than " +
                                              std::to_string(limits.members_max) + " members");
  }
  if (collector.found_nesting()) {
    return service_error::invalid_input("\"" + std::string(members_.empty() ? "" : members_.back().name) +
                                        "\" is an object or an array; a property value must be plain");
  }
  return service_error::invalid_input("the body must be a JSON object of plain members; error at byte " +
                                      std::to_string(parsed.Offset()));
}

Result<JsonObject> JsonObject::read(std::string_view body, const JsonLimits& limits) {
  body = without_byte_order_mark(body);
  if (has_control_characters(body))
    return service_error::invalid_input("the body contains a control character; write it as an escape in JSON");
  if (!format::is_valid_utf8(body)) return service_error::invalid_input("the body is not valid UTF-8");
  JsonObject object(body);
  if (Status read = object.read_in_place(limits); !read.ok()) return read;
  return object;
}

}  // namespace varve::serve
