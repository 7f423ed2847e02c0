// Owns: the byte-order mark that some clients send before a text in UTF-8.
// Must never: remove more than one mark.
#pragma once

#include <string_view>

namespace varve::serve {

/// Returns the body without the mark at its start, or the whole body if it has none.
inline std::string_view without_byte_order_mark(std::string_view body) noexcept {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (body.starts_with(kMark)) body.remove_prefix(kMark.size());
  return body;
}

}  // namespace varve::serve
