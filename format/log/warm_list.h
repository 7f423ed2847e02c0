// Owns: WARM: the list of the blocks that a store had in its cache, for the next open.
// Must never: be needed. A store without it, or with a damaged one, only begins with a cold cache.
//
// The file is a file header (type 7, number 0), then tagged fields, then a checksum (8 bytes) of the fields at
// (seed, 64). Field 1, repeated, names blocks of one table file, hottest first: varint heat, varint file number, varint
// seed of the file, varint number of blocks (not zero), and for each block a varint: the first offset, or the distance
// from the offset before (not zero). Heats never fall from one field to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::format {

/// How much a block was worth to the cache.
enum class Heat : std::uint8_t {
  kProven = 1,  // was read more than once, or leads to data
  kRecent = 2,
};

/// Blocks of one file and one heat.
struct WarmBlocks {
  Heat heat = Heat::kProven;
  std::uint64_t file_number = 0;
  std::uint64_t file_seed = 0;
  /// They rise.
  std::vector<std::uint64_t> offsets;
  bool operator==(const WarmBlocks&) const = default;
};

struct WarmList {
  /// By heat, the hottest first.
  std::vector<WarmBlocks> files;
  /// Unknown even fields, byte for byte.
  std::string unknown_fields;
  bool operator==(const WarmList&) const = default;
};

inline constexpr std::string_view kWarmListName = "WARM";
inline constexpr std::size_t kWarmListBytesMax = std::size_t{4} << 20;

/// Encodes the list. The blocks that exceed kWarmListBytesMax are left out; they are the last ones.
std::string encode_warm_list(const WarmList& list, std::uint64_t seed);
/// Errors: kCorruption, kUnsupported.
Result<WarmList> decode_warm_list(std::string_view bytes);

}  // namespace varve::format
