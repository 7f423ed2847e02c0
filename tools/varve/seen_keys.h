// Owns: a bounded memory of the keys that an import wrote (a blocked Bloom filter that grows in layers).
// Must never: deny a key that was added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace varve::tool {

/// About 10 bits a key and at most 85 MiB; beyond 70 million keys it errs more often.
class SeenKeys {
 public:
  /// Adds a key. False: it was certainly not added before.
  bool add(std::string_view partition_key, std::string_view row_key);

 private:
  /// The bits of one key lie in one block: a cache line.
  using Block = std::array<std::uint64_t, 8>;
  struct Layer {
    std::vector<Block> blocks;
    std::size_t keys_left = 0;
  };
  std::vector<Layer> layers_;
};

}  // namespace varve::tool
