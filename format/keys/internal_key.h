// Owns: the engine's key of an entry: a sort key, the version that wrote it, and the kind of the entry.
// Must never: reuse a kind's number.
//
//   internal key = sort key . version, inverted (8 bytes, big-endian) . kind (1 byte)
// A sort key marks its own end, so memcmp orders whole internal keys: by sort key, then newest version first.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/bytes/commit_version.h"

namespace varve::format {

enum class Kind : std::uint8_t {
  kPut = 1,
  kDelete = 2,
  kMergeOperand = 3,         // reserved: refused as Unsupported
  kPutExternal = 4,          // in tables only: a put whose value lies in a value file (value_pointer.h)
  kPutExpiring = 5,          // a put with an end before its value (ends.h)
  kPutExpiringExternal = 6,  // in tables only: an end, and a value in a value file
  kRetire = 64,              // in batches only
  kAdopt = 65,               // in batches only
};

inline constexpr std::size_t kInternalSuffixBytes = 9;

/// Stores the nine bytes that follow the sort key.
void store_internal_suffix(char* at, CommitVersion version, Kind kind) noexcept;

struct InternalKey {
  std::string_view sort_key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
};
/// Splits a key that has at least kInternalSuffixBytes bytes.
InternalKey split_internal_key(std::string_view key) noexcept;

}  // namespace varve::format
