// Owns: writing JSON, with what of texts has to be escaped.
// Must never: build a tree; what is written is text at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace varve::serve {

/// One JSON value, written front to back. Texts are UTF-8. Who calls sees to it that what is begun is ended.
class JsonText {
 public:
  JsonText& begin_object() { return begin('{'); }
  JsonText& end_object() { return end('}'); }
  JsonText& begin_array() { return begin('['); }
  JsonText& end_array() { return end(']'); }
  JsonText& member(std::string_view name);
  JsonText& text(std::string_view value);
  JsonText& integer(std::int32_t value);
  JsonText& boolean(bool value) { return number(value ? "true" : "false"); }
  JsonText& null() { return number("null"); }
  /// A number that is already written as JSON has it.
  JsonText& number(std::string_view written);

  std::string take() { return std::move(text_); }

 private:
  JsonText& begin(char bracket);
  JsonText& end(char bracket);
  void separate();
  void append_quoted(std::string_view text);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace varve::serve
