// Owns: the data of every race: keys, payloads, and the order of visits.
// Must never: differ between contenders or between runs: entity n is always the same.
//
// An entity has 32 bytes of keys and one String of 256 bytes, which zstd compresses to about half. Each PartitionKey
// has a hundred RowKeys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::bench {

inline constexpr std::uint64_t kEntitiesOfPartition = 100;
inline constexpr std::size_t kPayloadBytes = 256;
/// The size of an entity in bytes as a user counts it: both keys and the payload.
inline constexpr std::size_t kEntityBytes = 32 + kPayloadBytes;
inline constexpr std::string_view kPayloadName = "Payload";

/// Returns numbers without a pattern from a seed (Vigna, splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// Return keys of 16 characters. Their order is the order of the numbers, which are below 10^9.
std::string partition_key(std::uint64_t partition);
std::string row_key(std::uint64_t row);
/// Returns a key that sorts between the keys of rows, and is none of them.
std::string absent_row_key(std::uint64_t row);

struct Keys {
  std::string partition;
  std::string row;
};
Keys keys_of(std::uint64_t entity);

/// Returns the payload of entity n. It lives as long as the program.
std::string_view payload_of(std::uint64_t entity);

/// Returns a payload of any length up to slightly more than a megabyte.
std::string_view payload_of(std::uint64_t entity, std::size_t bytes);

/// The form of an entity's payload.
enum class Shape : std::uint8_t {
  kText,       // one String
  kTenTexts,   // ten Strings of a tenth each, like a record of YCSB
  kManyTexts,  // 200 Strings of a 200th each
  kBinaries,   // several Binaries of at most 60,000 bytes each
};
inline constexpr std::int32_t kNoGroup = -1;
inline constexpr std::string_view kGroupName = "Group";

struct Row {
  std::string key;
  std::string_view payload;
  Shape shape = Shape::kText;
  /// An Int32 property for filters.
  std::int32_t group = kNoGroup;
};
/// Returns a property name of Shape::kTenTexts or kManyTexts.
std::string field_name(std::size_t field);
inline constexpr std::size_t kFields = 10;
inline constexpr std::size_t kManyFields = 200;

/// Calls `visit` for each property of the payload, with its name, its text, and whether it is Binary.
template <typename Visit>
void for_properties(const Row& row, const Visit& visit) {
  if (row.shape == Shape::kText) return visit(std::string(kPayloadName), row.payload, false);
  constexpr std::size_t kBinaryBytes = 60'000;
  const bool is_binary = row.shape == Shape::kBinaries;
  const std::size_t fields = row.shape == Shape::kManyTexts ? kManyFields : kFields;
  const std::size_t each = is_binary ? kBinaryBytes : row.payload.size() / fields;
  for (std::size_t at = 0, number = 0; at < row.payload.size(); at += each, ++number) {
    visit(field_name(number), row.payload.substr(at, each), is_binary);
  }
}

/// Returns the nth number of a permutation of the numbers below `count`.
std::uint64_t shuffled(std::uint64_t n, std::uint64_t count) noexcept;

}  // namespace varve::bench
