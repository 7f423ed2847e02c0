// Owns: the nine bytes that follow a sort key (internal_key.h).
// Must never: judge the key that it splits. The reader of a file checks the version and the kind.
#include "format/keys/internal_key.h"

#include <cassert>

#include "format/bytes/bytes.h"

namespace varve::format {
namespace {

constexpr std::size_t kVersionBytes = 8;
static_assert(kVersionBytes + sizeof(Kind) == kInternalSuffixBytes);

}  // namespace

void store_internal_suffix(char* at, CommitVersion version, Kind kind) noexcept {
  assert(version <= kCommitVersionMax);
  store_u64_big_endian(at, ~version);
  at[kVersionBytes] = static_cast<char>(kind);
}

InternalKey split_internal_key(std::string_view key) noexcept {
  assert(key.size() >= kInternalSuffixBytes);
  const std::size_t sort_key_bytes = key.size() - kInternalSuffixBytes;
  const char* suffix = key.data() + sort_key_bytes;
  InternalKey split;
  split.sort_key = key.substr(0, sort_key_bytes);
  split.version = ~load_u64_big_endian(suffix);
  split.kind = static_cast<Kind>(suffix[kVersionBytes]);
  return split;
}

}  // namespace varve::format
