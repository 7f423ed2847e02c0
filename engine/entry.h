// Owns: what one version of one key looks like to those who read it, wherever it lies.
// Must never: own the bytes it shows.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/internal_key.h"

namespace varve::engine {

using format::CommitVersion;
using format::Kind;

/// Valid as long as whoever handed it out says.
struct Entry {
  std::string_view sort_key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  std::string_view value;
};

/// Whether (key, version) comes before (other_key, other_version) in the order of internal keys: by key, then newest
/// first.
inline bool is_before(std::string_view key, CommitVersion version, std::string_view other_key,
                      CommitVersion other_version) noexcept {
  const int compared = key.compare(other_key);
  return compared != 0 ? compared < 0 : version > other_version;
}

}  // namespace varve::engine
