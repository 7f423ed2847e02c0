// Owns: a bounded memory of the keys that an import wrote (a blocked Bloom filter that grows in layers).
// Must never: deny a key that was added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace varve::tool {

/// Uses about 10 bits per key and at most 85 MiB. Above 70 million keys, false positives become more frequent.
class SeenKeys {
 public:
  /// Adds a key. Returns false if the key was certainly not added before.
  bool add(std::string_view partition_key, std::string_view row_key);

 private:
  /// The bits of one key are in one block, which is a cache line.
  using Block = std::array<std::uint64_t, 8>;
  struct Layer {
    std::vector<Block> blocks;
    std::size_t keys_left = 0;
  };
  std::vector<Layer> layers_;
};

}  // namespace varve::tool
