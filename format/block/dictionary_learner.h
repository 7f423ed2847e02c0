// Owns: learning a zstd dictionary from the blocks of a file, and the judgement whether it is worth having.
// Must never: believe that a dictionary helps: it is tried on blocks that it was not learned from.
//
// Entities of a table repeat each other's property names and values, but a block of 4 KiB holds too few of them for
// zstd to see it. What the first blocks have in common helps all that follow: 12 percent on an index of Debian's
// packages. Source: the parameters were found by trying them on that index. Learning takes 40 to 100 ms, which is a
// tenth of what a file of 32 MB costs: where plain samples save little when they are referred to, none begins.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/compression.h"

namespace varve::format {

/// One thread at a time. The same blocks give the same dictionary.
class DictionaryLearner {
 public:
  /// For blocks compressed at `level`, kCompressionLevelMin to kCompressionLevelMax.
  explicit DictionaryLearner(int level) noexcept : level_(level) {}

  /// Looks at the content of a block, and keeps some of it.
  void take(std::string_view content);
  /// Whether it has seen enough to learn from.
  bool is_ready() const noexcept { return blocks_ >= kBlocksMin; }

  struct Learned {
    std::string dictionary;
    Compressor compressor;
  };
  /// Nothing where the blocks have too little in common. Call once, when is_ready() (asserted).
  std::optional<Learned> learn() const;

 private:
  static constexpr std::size_t kBlocksMin = 128;
  static constexpr std::size_t kBlocksMax = 256;
  static constexpr std::size_t kSampleBytesMax = 4096;  // of the front of every other block
  static constexpr std::size_t kBlocksPerTrial = 32;    // kept whole, and not learned from
  static constexpr std::size_t kDictionaryBytes = std::size_t{32} << 10;

  /// A dictionary costs its own size in every file, and in memory while the file is open: it must save a sixteenth.
  static constexpr std::size_t kShareWorthHaving = 16;
  /// Saved by plain samples: 0.101 where a dictionary saved 0.150, 0.040 and 0.053, 0.016 and 0.042, 0.023 and 0.020.
  static constexpr std::size_t kShareWorthLearning = 32;

  bool is_worth_learning() const;
  /// Of the trials' bytes, one in `share` or more.
  bool saves_a(std::size_t share, Compressor& compressor) const;

  int level_;
  std::size_t blocks_ = 0;
  std::vector<std::string> samples_;
  std::vector<std::string> trials_;
};

}  // namespace varve::format
