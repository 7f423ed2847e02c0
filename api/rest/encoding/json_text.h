// Owns: writing JSON: a thin hand around RapidJSON's writer, so that one file alone is compiled against it.
// Must never: build a tree; what is written is text at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace varve::serve {

/// One JSON value, written front to back. Texts are UTF-8.
class JsonText {
 public:
  JsonText();
  ~JsonText();
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  JsonText& begin_object();
  JsonText& end_object();
  JsonText& begin_array();
  JsonText& end_array();
  JsonText& member(std::string_view name);
  JsonText& text(std::string_view value);
  JsonText& integer(std::int32_t value);
  JsonText& boolean(bool value);
  JsonText& null();
  /// A number that is already written as JSON has it.
  JsonText& number(std::string_view written);

  /// Bytes written so far.
  std::size_t size() const noexcept;
  /// Once; nothing is written afterwards.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
