#include "tools/serve/json_text.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace varve::serve {
namespace {

rapidjson::SizeType size_of(std::string_view text) noexcept {
  return static_cast<rapidjson::SizeType>(text.size());
}

}  // namespace

struct JsonText::State {
  /// For a type of its own the writer looks at each character. In blocks it passes over some control characters, which
  /// have to be escaped (RapidJSON 1.1.0, 1A to 1F).
  struct Buffer : rapidjson::StringBuffer {};

  Buffer buffer;
  rapidjson::Writer<Buffer> writer{buffer};
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
  state_->writer.Key(name.data(), size_of(name));
  return *this;
}
JsonText& JsonText::text(std::string_view value) {
  state_->writer.String(value.data(), size_of(value));
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
