// Owns: learning a zstd dictionary from the blocks of a file, and deciding whether the dictionary is worth its size.
// Must never: assume that a dictionary helps. It is tested on blocks that it was not learned from.
//
// Entities of a table repeat each other's property names and values, but a block of 4 KiB contains too few for zstd to
// see it. A dictionary of the first blocks' common content helps all later blocks: it saves 12 percent on an index of
// Debian's packages. Source: the parameters were found by experiments with that index. Learning takes 40 to 100 ms, a
// tenth of the cost of a 32 MB file. It is skipped if plain samples save little when zstd refers to them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/compression.h"

namespace varve::format {

/// Learns a dictionary. One thread at a time may use a learner. Equal blocks give an equal dictionary.
class DictionaryLearner {
 public:
  /// Learns for blocks that are compressed at `level`, from kCompressionLevelMin to kCompressionLevelMax.
  explicit DictionaryLearner(int level) noexcept : level_(level) {}

  /// Samples the content of a block.
  void take(std::string_view content);
  /// Returns whether it has seen enough blocks to learn from.
  bool is_ready() const noexcept { return blocks_ >= kBlocksMin; }

  struct Learned {
    std::string dictionary;
    Compressor compressor;
  };
  /// Returns nothing if the blocks have too little in common. The caller calls it once, when is_ready() (asserted).
  std::optional<Learned> learn() const;

 private:
  static constexpr std::size_t kBlocksMin = 128;
  static constexpr std::size_t kBlocksMax = 256;
  static constexpr std::size_t kSampleBytesMax = 4096;  // from the front of every second block
  static constexpr std::size_t kBlocksPerTrial = 32;    // kept whole, and not learned from
  static constexpr std::size_t kDictionaryBytes = std::size_t{32} << 10;

  /// The inverse of the share that a dictionary must save: a sixteenth. A dictionary costs its own size in every file,
  /// and in memory while the file is open.
  static constexpr std::size_t kShareWorthHaving = 16;
  /// The inverse of the share that plain samples must save before learning starts. Measured savings of plain samples
  /// and of the dictionary: 0.101 and 0.150, 0.040 and 0.053, 0.016 and 0.042, 0.023 and 0.020.
  static constexpr std::size_t kShareWorthLearning = 32;

  bool is_worth_learning() const;
  /// Returns whether the compressor's dictionary saves at least 1/`share` of the trials' bytes.
  bool saves_a(std::size_t share, Compressor& compressor) const;

  int level_;
  std::size_t blocks_ = 0;
  std::vector<std::string> samples_;
  std::vector<std::string> trials_;
};

}  // namespace varve::format
