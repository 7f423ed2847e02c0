// Owns: the end of an entity that expires: its place before the value, and the sums of ends in indexes and manifest.
// Must never: read a clock. An end is compared with the time of a reader, which the engine knows.
//
// The value of an entry of kind kPutExpiring is: u64 end . the value of a put.
// The value of an entry of kind kPutExpiringExternal is: u64 end . a pointer (value_pointer.h) to what follows the end
// in the batch.
// An end is a time in ticks, like a commit version: 1 to kCommitVersionMax. The entity is absent from that time on.
//
// The ends of a run or a table file, where some entry has one: varint entries with an end . varint smallest end .
// varint (largest end - smallest end)
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kEndBytes = 8;

/// Returns whether an end precedes the value of entries of this kind.
constexpr bool has_end(Kind kind) noexcept {
  return kind == Kind::kPutExpiring || kind == Kind::kPutExpiringExternal;
}
/// Returns whether the value of entries of this kind lies in a value file.
constexpr bool is_external(Kind kind) noexcept {
  return kind == Kind::kPutExternal || kind == Kind::kPutExpiringExternal;
}
constexpr bool is_end(std::uint64_t end) noexcept {
  return end >= 1 && end <= kCommitVersionMax;
}

/// Returns the end that begins the value of an entry with an end. The value was checked: it has kEndBytes at least.
inline CommitVersion end_in(std::string_view stored) noexcept {
  assert(stored.size() >= kEndBytes);
  return load_u64(stored.data());
}
/// Returns what follows the end.
inline std::string_view behind_end(std::string_view stored) noexcept {
  return stored.substr(kEndBytes);
}

/// An age takes the place of an end in a batch that has no version yet. The commit replaces it with its version plus the
/// age. No log and no table holds an age.
inline constexpr std::uint64_t kAgeMark = std::uint64_t{1} << 63;
constexpr bool is_age(std::uint64_t end) noexcept {
  return end >= kAgeMark && is_end(end - kAgeMark);
}
/// Returns the end of an entity of this age whose commit has this version.
constexpr CommitVersion end_of_age(std::uint64_t age, CommitVersion version) noexcept {
  return std::min(version + (age - kAgeMark), kCommitVersionMax);
}

/// The ends of the entries of a run or a file.
struct Ends {
  std::uint64_t count = 0;
  // Zero while there are none:
  CommitVersion smallest = 0;
  CommitVersion largest = 0;

  void add(CommitVersion end) noexcept { add(Ends{1, end, end}); }
  void add(const Ends& more) noexcept;
  bool operator==(const Ends&) const = default;
};
void append_ends(std::string& out, const Ends& ends);
/// Errors: kCorruption (also: no entry, an end out of its range).
Result<Ends> decode_ends(std::string_view bytes);

}  // namespace varve::format
