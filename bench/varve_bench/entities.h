// Owns: the data of every race: keys, payloads, and the order in which they are visited.
// Must never: differ between contenders or between runs; entity n is the same everywhere.
//
// 32 bytes of keys, a hundred RowKeys a PartitionKey, and one String of 256 bytes of which zstd leaves about half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::bench {

inline constexpr std::uint64_t kEntitiesOfPartition = 100;
inline constexpr std::size_t kPayloadBytes = 256;
/// What a user would say an entity has: both keys and the payload.
inline constexpr std::size_t kEntityBytes = 32 + kPayloadBytes;
inline constexpr std::string_view kPayloadName = "Payload";

/// Numbers without a pattern, from a seed (Vigna, splitmix64).
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

/// 16 characters each; their order is that of the numbers, which are below 10^9.
std::string partition_key(std::uint64_t partition);
std::string row_key(std::uint64_t row);
/// A key that sorts between those of rows but is none of them.
std::string absent_row_key(std::uint64_t row);

struct Keys {
  std::string partition;
  std::string row;
};
Keys keys_of(std::uint64_t entity);

/// The payload of entity n; lives as long as the program.
std::string_view payload_of(std::uint64_t entity);

/// The same, of any length below a megabyte and a little more.
std::string_view payload_of(std::uint64_t entity, std::size_t bytes);

/// How an entity holds its payload.
enum class Shape : std::uint8_t {
  kText,      // one String
  kTenTexts,  // ten Strings of a tenth each, as YCSB has its records
  kBinaries,  // as many Binaries of at most 60,000 bytes as it takes
};
inline constexpr std::int32_t kNoGroup = -1;
inline constexpr std::string_view kGroupName = "Group";

struct Row {
  std::string key;
  std::string_view payload;
  Shape shape = Shape::kText;
  /// An Int32 beside the payload, to filter by.
  std::int32_t group = kNoGroup;
};
/// Names of Shape::kTenTexts.
std::string field_name(std::size_t field);
inline constexpr std::size_t kFields = 10;

/// Visits each property of the payload with its name, its text and whether that is Binary.
template <typename Visit>
void for_properties(const Row& row, const Visit& visit) {
  if (row.shape == Shape::kText) return visit(std::string(kPayloadName), row.payload, false);
  constexpr std::size_t kBinaryBytes = 60'000;
  const bool is_binary = row.shape == Shape::kBinaries;
  const std::size_t each = is_binary ? kBinaryBytes : row.payload.size() / kFields;
  for (std::size_t at = 0, number = 0; at < row.payload.size(); at += each, ++number) {
    visit(field_name(number), row.payload.substr(at, each), is_binary);
  }
}

/// A permutation of the numbers below `count`: where the nth visit goes.
std::uint64_t shuffled(std::uint64_t n, std::uint64_t count) noexcept;

}  // namespace varve::bench
