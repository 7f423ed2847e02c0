#include "tools/serve/json_text.h"

#include <algorithm>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace varve::serve {
namespace {

rapidjson::SizeType size_of(std::string_view text) noexcept {
  return static_cast<rapidjson::SizeType>(text.size());
}

/// The control characters that RapidJSON 1.1.0 passes over where it looks at texts in blocks, and which have to be
/// escaped.
bool has_overlooked(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c - 0x1A) < 6; });
}

/// Not the buffer that the writer has a way in blocks for: it looks at each character.
struct PlainBuffer : rapidjson::StringBuffer {};

}  // namespace

struct JsonText::State {
  void text(std::string_view value) {
    if (!has_overlooked(value)) {
      writer.String(value.data(), size_of(value));
      return;
    }
    PlainBuffer escaped;
    rapidjson::Writer<PlainBuffer>(escaped).String(value.data(), size_of(value));
    writer.RawValue(escaped.GetString(), escaped.GetSize(), rapidjson::kStringType);
  }

  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
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

std::string JsonText::take() {
  return {state_->buffer.GetString(), state_->buffer.GetSize()};
}

}  // namespace varve::serve
