// Owns: the fuzzer of escaped and composite keys (varve/keys.h).
// Must never: accept a key that the escapes do not write, or change a text.
//
// Input: any bytes, taken as a text and as a key.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "varve/keys.h"
#include "varve/names.h"

namespace varve {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// A text is escaped to a legal key of bounded length, which gives the text back.
void escape(std::string_view text) {
  const Result<std::string> key = escape_key(text);
  if (!key.ok()) return require(key.code() == Code::kInvalidArgument);
  require(key->size() <= 6 * text.size());
  require(check_key_characters(*key, "RowKey", KeyUse::kInsert).ok());
  const Result<std::string> back = unescape_key(*key);
  require(back.ok() && *back == text);
}

/// A key that is read is the one that its text is escaped to.
void unescape(std::string_view key) {
  const Result<std::string> text = unescape_key(key);
  if (!text.ok()) return require(text.code() == Code::kInvalidArgument);
  const Result<std::string> again = escape_key(*text);
  require(again.ok() && *again == key);
}

void split(std::string_view key) {
  const Result<std::vector<std::string>> parts = split_composite_key(key);
  if (!parts.ok()) return require(parts.code() == Code::kInvalidArgument);
  std::string joined;
  for (const std::string& part : *parts) {
    const Result<std::string> escaped = escape_key(part);
    require(escaped.ok());
    if (&part != parts->data()) joined += kKeySeparator;
    joined += *escaped;
  }
  require(joined == key);
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  varve::escape(input);
  varve::unescape(input);
  varve::split(input);
  return 0;
}
