// Owns: what one version of one key looks like to those who read it, wherever it lies.
// Must never: own the bytes it shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/file_scale.h"
#include "format/keys/internal_key.h"

namespace varve::engine {

using format::CommitVersion;
using format::Kind;

/// Valid as long as whoever handed it out says.
struct Entry {
  std::string_view sort_key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  /// Of a put; of a kPutExternal the pointer (format/keys/value_pointer.h).
  std::string_view value;

  bool is_put() const noexcept { return kind != Kind::kDelete; }
};

/// What of an entry is asked for. Values are copied out of their blocks, and brought from where they lie, which who
/// only judges by versions is spared.
enum class EntryPart : std::uint8_t { kAll, kVersion };

/// Values from here on may stay in the log segment that they were committed to, which becomes a value file, while
/// tables name them there: what is large is written once. Small ones are better together with their neighbours.
inline constexpr std::size_t kExternalValueBytesMin = (std::size_t{16} << 10) / kFileScale;

/// Where bytes stand in the log; segment zero: nowhere that is known.
struct LogPlace {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
};

/// Whether (key, version) comes before (other_key, other_version) in the order of internal keys: by key, then newest
/// first.
inline bool is_before(std::string_view key, CommitVersion version, std::string_view other_key,
                      CommitVersion other_version) noexcept {
  const int compared = key.compare(other_key);
  return compared != 0 ? compared < 0 : version > other_version;
}

}  // namespace varve::engine
