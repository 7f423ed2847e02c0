#include "tools/varve/import/seen_keys.h"

#include <algorithm>
#include <functional>

#include "tools/varve/base/mixed_hash.h"

namespace varve::tool {

namespace {

constexpr std::size_t kFirstBlocks = std::size_t{1} << 12;  // 256 KiB
constexpr std::size_t kLastBlocks = std::size_t{1} << 20;   // 64 MiB
constexpr std::size_t kKeysOfBlock = 50;
constexpr int kBitsOfKey = 6;

std::array<std::uint64_t, 8> mask_of(std::uint64_t hash) noexcept {
  std::array<std::uint64_t, 8> mask{};
  for (int i = 0; i < kBitsOfKey; ++i, hash >>= 9) mask[hash >> 6 & 7] |= std::uint64_t{1} << (hash & 63);
  return mask;
}

bool contains(const std::array<std::uint64_t, 8>& block, const std::array<std::uint64_t, 8>& mask) noexcept {
  for (std::size_t i = 0; i < block.size(); ++i) {
    if ((block[i] & mask[i]) != mask[i]) return false;
  }
  return true;
}

}  // namespace

bool SeenKeys::add(std::string_view partition_key, std::string_view row_key) {
  const std::hash<std::string_view> hash;
  const std::uint64_t of_key = mixed_hash(hash(partition_key) + 0x9E3779B97F4A7C15U * mixed_hash(hash(row_key)));
  const std::array<std::uint64_t, 8> mask = mask_of(mixed_hash(of_key));
  const auto block_in = [of_key](Layer& layer) -> Block& { return layer.blocks[of_key & (layer.blocks.size() - 1)]; };
  const bool seen =
      std::any_of(layers_.begin(), layers_.end(), [&](Layer& layer) { return contains(block_in(layer), mask); });
  if (layers_.empty() || (layers_.back().keys_left == 0 && layers_.back().blocks.size() < kLastBlocks)) {
    const std::size_t blocks = layers_.empty() ? kFirstBlocks : layers_.back().blocks.size() * 4;
    layers_.push_back({std::vector<Block>(blocks), blocks * kKeysOfBlock});
  }
  Layer& last = layers_.back();
  if (last.keys_left > 0) --last.keys_left;
  Block& block = block_in(last);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] |= mask[i];
  return seen;
}

}  // namespace varve::tool
