// Owns: looking for a word in a parameter or header that is a list.
// Must never: find a part of a word.
#pragma once

#include <algorithm>
#include <string_view>

#include "api/rest/protocol/message.h"

namespace varve::serve {

/// Returns whether a comma list has the word, in any case.
inline bool has_word(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    if (equal_ignoring_case(trimmed(one), word)) return true;
  }
  return false;
}

}  // namespace varve::serve
