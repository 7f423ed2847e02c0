// Owns: CURRENT, the only file that is replaced. It names the manifest and records how the store was closed.
// Must never: have an older copy next to it that a reader could fall back to.
//
// The file is a file header (type 1), then tagged fields, then a checksum (8 bytes) of the fields at (seed, 64).
// Fields: 1 store id (16 bytes), 3 generation, 5 compatible, 7 read-compatible, 9 incompatible features (8 bytes each),
// 11 manifest (number, seed: two varints), 13 state, 15 final manifest bytes, 17 final manifest content hash, 19 final
// segment (number, size, hash of its last 4,096 bytes: three varints; repeated), 21 last version. Fields 15 to 21 are
// present only after a clean close.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

using StoreId = std::array<std::uint8_t, 16>;

/// The feature bits that a store uses. An unknown compatible bit is ignored and kept. With an unknown read-compatible
/// bit, the store can only be read. With an unknown incompatible bit, the store is refused.
struct Features {
  std::uint64_t compatible = 0;
  std::uint64_t read_compatible = 0;
  std::uint64_t incompatible = 0;
  bool operator==(const Features&) const = default;
};
/// An incompatible feature: entities of the store may have an end. It is set before the first of them is written.
inline constexpr std::uint64_t kExpiryFeature = 1;
/// An incompatible feature: tables of the store may have indexes, which every writer must maintain. It is set before the
/// first index is declared. The keys of entries may be longer than those of entities.
inline constexpr std::uint64_t kIndexFeature = 2;
/// The feature bits that this build knows.
inline constexpr Features kKnownFeatures{0, 0, kExpiryFeature | kIndexFeature};

/// Errors: kUnsupported, naming the lowest unknown bit and its set.
Status check_features(const Features& features, bool for_writing);

enum class RootState : std::uint8_t {
  kOpen = 1,
  kClean = 2,
  /// The store is being created, and no commit in it was ever acknowledged. No manifest is named (number 0).
  kCreating = 3,
};

struct FinalSegment {
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
  /// Content hash of the last 4,096 bytes, which contain the footer.
  std::uint64_t footer_hash = 0;
  bool operator==(const FinalSegment&) const = default;
};

struct Root {
  StoreId store_id{};
  /// The number of replacements: each replacement adds one.
  std::uint64_t generation = 0;
  Features features;
  std::uint64_t manifest_number = 0;
  std::uint64_t manifest_seed = 0;
  RootState state = RootState::kOpen;
  // Set only after a clean close:
  std::uint64_t manifest_bytes = 0;
  std::uint64_t manifest_hash = 0;
  std::vector<FinalSegment> segments;
  CommitVersion last_version = 0;
  /// Unknown even fields, byte for byte.
  std::string unknown_fields;

  bool operator==(const Root&) const = default;
};

inline constexpr std::string_view kRootName = "CURRENT";
inline constexpr std::size_t kRootBytesMax = 64 << 10;

std::string encode_root(const Root& root, std::uint64_t seed);
/// Errors: kCorruption, kUnsupported.
Result<Root> decode_root(std::string_view bytes);

}  // namespace varve::format
