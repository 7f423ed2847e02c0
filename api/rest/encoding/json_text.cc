#include "api/rest/encoding/json_text.h"

#include <algorithm>
#include <cstring>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace varve::serve {
namespace {

rapidjson::SizeType size_of(std::string_view text) noexcept {
  return static_cast<rapidjson::SizeType>(text.size());
}

using Word = std::uint64_t;

constexpr Word repeated(unsigned char byte) noexcept {
  return 0x0101'0101'0101'0101U * byte;
}
/// Returns a nonzero word if a byte of the word is below `limit`, which is at most 128.
constexpr Word any_below(Word word, unsigned char limit) noexcept {
  return (word - repeated(limit)) & ~word & repeated(0x80);
}

/// Returns a nonzero word if JSON escapes a character of the word.
Word needs_escape(Word word) noexcept {
  return any_below(word, 0x20) | any_below(word ^ repeated('"'), 1) | any_below(word ^ repeated('\\'), 1);
}

/// Returns whether RapidJSON 1.1.0 fails to escape the control character when it scans a text in blocks.
bool is_overlooked(char c) noexcept {
  return static_cast<unsigned char>(c - 0x1A) < 6;
}

Word word_at(const char* at) noexcept {
  Word word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

/// Checks whole words first. The last word may overlap the word before it.
bool is_plain(std::string_view text) noexcept {
  Word found = 0;
  if (text.size() < sizeof(Word)) {
    for (const char c : text) found |= needs_escape(repeated(static_cast<unsigned char>(c)));
    return found == 0;
  }
  const char* const last = text.data() + text.size() - sizeof(Word);
  for (const char* at = text.data(); at < last; at += sizeof(Word)) found |= needs_escape(word_at(at));
  return (found | needs_escape(word_at(last))) == 0;
}

/// A distinct buffer type: for it the writer checks each character. For RapidJSON's own buffer it scans blocks.
struct PlainBuffer : rapidjson::StringBuffer {};

/// Copies texts without escapes as a whole. Most texts of a page have none.
class TextWriter : public rapidjson::Writer<rapidjson::StringBuffer> {
 public:
  using Writer::Writer;

  void plain_text(std::string_view value) {
    Prefix(rapidjson::kStringType);
    char* const at = os_->Push(value.size() + 2);
    at[0] = '"';
    std::copy(value.begin(), value.end(), at + 1);
    at[value.size() + 1] = '"';
    EndValue(true);
  }
};

}  // namespace

struct JsonText::State {
  void text(std::string_view value) {
    if (is_plain(value)) return writer.plain_text(value);
    if (std::none_of(value.begin(), value.end(), is_overlooked)) {
      writer.String(value.data(), size_of(value));
      return;
    }
    PlainBuffer escaped;
    rapidjson::Writer<PlainBuffer>(escaped).String(value.data(), size_of(value));
    writer.RawValue(escaped.GetString(), escaped.GetSize(), rapidjson::kStringType);
  }

  /// Enough for most entities. A buffer that grows copies its text.
  static constexpr std::size_t kUsualBytes = 1024;

  rapidjson::CrtAllocator allocator{};  // Without one, buffer and writer allocate one each.
  rapidjson::StringBuffer buffer{&allocator, kUsualBytes};
  TextWriter writer{buffer, &allocator};
};

JsonText::JsonText() : state_(std::make_unique<State>()) {}
JsonText::~JsonText() = default;

JsonText& JsonText::begin_object() {
  state_->writer.StartObject();
  return *this;
}
JsonText& JsonText::end_object() {
  state_->writer.EndObject();
  return *this;
}
JsonText& JsonText::begin_array() {
  state_->writer.StartArray();
  return *this;
}
JsonText& JsonText::end_array() {
  state_->writer.EndArray();
  return *this;
}
JsonText& JsonText::member(std::string_view name) {
  state_->text(name);
  return *this;
}
JsonText& JsonText::text(std::string_view value) {
  state_->text(value);
  return *this;
}
JsonText& JsonText::integer(std::int32_t value) {
  state_->writer.Int(value);
  return *this;
}
JsonText& JsonText::boolean(bool value) {
  state_->writer.Bool(value);
  return *this;
}
JsonText& JsonText::null() {
  state_->writer.Null();
  return *this;
}
JsonText& JsonText::number(std::string_view written) {
  state_->writer.RawValue(written.data(), written.size(), rapidjson::kNumberType);
  return *this;
}

std::size_t JsonText::size() const noexcept {
  return state_->buffer.GetSize();
}

std::string JsonText::take() {
  std::string text(state_->buffer.GetString(), state_->buffer.GetSize());
  state_.reset();  // the text can be taken only once
  return text;
}

}  // namespace varve::serve
