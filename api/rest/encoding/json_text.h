// Owns: writing JSON: a thin wrapper of RapidJSON's writer, so that only one file is compiled against RapidJSON.
// Must never: build a tree. Each call appends text at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace varve::serve {

/// Writes one JSON value front to back. Texts are UTF-8.
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
  /// Appends a number that is already spelled as JSON.
  JsonText& number(std::string_view written);

  /// Returns the number of bytes written so far.
  std::size_t size() const noexcept;
  /// Returns the text. The caller calls it once, and writes nothing afterwards.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
