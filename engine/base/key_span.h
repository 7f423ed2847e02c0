// Owns: a span of sort keys with an exclusive end.
// Must never: own the keys.
#pragma once

#include <string_view>

namespace varve::engine {

/// Sort keys at or after `from` and before `to`. An empty bound is none.
struct KeySpan {
  std::string_view from;
  std::string_view to;

  bool ends_before(std::string_view key) const noexcept { return !to.empty() && to <= key; }
  bool holds(std::string_view key) const noexcept { return from <= key && !ends_before(key); }
  bool holds(const KeySpan& other) const noexcept {
    return from <= other.from && (to.empty() || (!other.to.empty() && other.to <= to));
  }
};

}  // namespace varve::engine
