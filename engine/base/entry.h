// Owns: the form in which readers see one version of one key, wherever it is stored.
// Must never: own the bytes of the views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/file_scale.h"
#include "format/keys/ends.h"
#include "format/keys/internal_key.h"

namespace varve::engine {

using format::CommitVersion;
using format::Kind;

/// A version of a key. It is valid as long as the function that returned it says.
struct Entry {
  std::string_view sort_key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  /// The value of a put, or the pointer of an external one (format/keys/value_pointer.h). An end precedes either, if the
  /// kind has an end (format/keys/ends.h).
  std::string_view value;

  bool is_put() const noexcept { return kind != Kind::kDelete; }
  bool is_external() const noexcept { return format::is_external(kind); }
  bool has_end() const noexcept { return format::has_end(kind); }
  /// Called if has_end().
  CommitVersion end() const noexcept { return format::end_in(value); }
  /// Returns the value, or the pointer, without an end.
  std::string_view content() const noexcept { return has_end() ? format::behind_end(value) : value; }
};

/// The requested part of an entry. kVersion saves readers that need only the version from copying values out of their
/// blocks and from reading external ones. kPlace is for engine/read/part_read.h: an external value is not read, any
/// other value is copied.
enum class EntryPart : std::uint8_t { kAll, kVersion, kPlace };

/// Minimum size in bytes of a value that may remain in the log segment of its commit. The segment becomes a value file
/// while tables point into it, so a large value is written once. Small values are better stored next to their
/// neighbours.
inline constexpr std::size_t kExternalValueBytesMin = (std::size_t{16} << 10) / kFileScale;

/// A place in the log. Segment zero means that the place is unknown.
struct LogPlace {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
};

/// Returns whether (key, version) comes before (other_key, other_version) in the order of internal keys: by key, then
/// newest first.
inline bool is_before(std::string_view key, CommitVersion version, std::string_view other_key,
                      CommitVersion other_version) noexcept {
  const int compared = key.compare(other_key);
  return compared != 0 ? compared < 0 : version > other_version;
}

}  // namespace varve::engine
