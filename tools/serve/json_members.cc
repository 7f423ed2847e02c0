#include "tools/serve/json_members.h"

#include <utility>

#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "api/service_error.h"
#include "format/sort_key.h"

namespace varve::serve {
namespace {

constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;

/// Told each piece while it is read; false ends the reading.
class MemberCollector : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, MemberCollector> {
 public:
  explicit MemberCollector(std::vector<JsonMember>& members) : members_(members) {}
  bool found_nesting() const noexcept { return found_nesting_; }

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
    members_.push_back({std::string(text, size)});
    return is_text(members_.back().name);
  }
  bool Null() { return set(JsonKind::kNull, {}); }
  bool Bool(bool value) { return set(value ? JsonKind::kTrue : JsonKind::kFalse, {}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return set(JsonKind::kNumber, std::string(text, size));
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return set(JsonKind::kText, std::string(text, size)) && is_text(members_.back().text);
  }
  /// What has no case above.
  bool Default() { return false; }

 private:
  /// The reader takes escapes of half a character, which make bytes that begin with ED; other bytes it has judged
  /// itself. Source: D-39.
  static bool is_text(std::string_view text) noexcept {
    return text.find('\xED') == std::string_view::npos || format::is_valid_utf8(text);
  }
  bool set(JsonKind kind, std::string text) {
    if (!is_inside_) return false;  // a value alone
    members_.back().kind = kind;
    members_.back().text = std::move(text);
    return true;
  }

  std::vector<JsonMember>& members_;
  bool is_inside_ = false;
  bool found_nesting_ = false;
};

}  // namespace

Result<std::vector<JsonMember>> read_members(std::string_view body) {
  // To the reader the byte 0 is the end, whatever follows.
  if (body.find('\0') != std::string_view::npos) return service_error::invalid_input("the body holds a byte 0");
  std::vector<JsonMember> members;
  MemberCollector collector(members);
  rapidjson::MemoryStream raw(body.data(), body.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(raw);  // skips a byte order mark
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kParseFlags>(stream, collector);
  if (!parsed.IsError()) return members;
  if (collector.found_nesting()) {
    return service_error::invalid_input("\"" + (members.empty() ? std::string() : members.back().name) +
                                        "\" is an object or an array, which no property can hold");
  }
  return service_error::invalid_input("the body is no JSON object of plain members, at byte " +
                                      std::to_string(parsed.Offset()));
}

}  // namespace varve::serve
