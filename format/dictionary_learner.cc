// Owns: which blocks are learned from and which are tried (dictionary_learner.h).
#include "format/dictionary_learner.h"

#include <cassert>
#include <utility>

namespace varve::format {

void DictionaryLearner::take(std::string_view content) {
  if (blocks_ == kBlocksMax) return;
  const std::size_t block = blocks_++;
  if (block % kBlocksPerTrial == 1) {
    trials_.emplace_back(content);
  } else if (block % 2 == 0) {
    samples_.emplace_back(content.substr(0, kSampleBytesMax));
  }
}

std::optional<DictionaryLearner::Learned> DictionaryLearner::learn() const {
  assert(is_ready());
  Result<std::string> dictionary = train_dictionary(samples_, kDictionaryBytes);
  if (!dictionary.ok()) return std::nullopt;
  Result<Compressor> compressor = Compressor::make(level_, *dictionary);
  if (!compressor.ok() || !is_worth_having(*compressor)) return std::nullopt;
  return Learned{*std::move(dictionary), *std::move(compressor)};
}

/// It costs its own size in every file, and in memory while the file is open: it must save a sixteenth.
bool DictionaryLearner::is_worth_having(Compressor& compressor) const {
  std::size_t bytes_without = 0;
  std::size_t bytes_with = 0;
  for (const std::string& block : trials_) {
    const auto bytes = [&](bool with_dictionary) {
      const std::string_view compressed = compressor.compress(block, with_dictionary, block.size());
      return compressed.empty() ? block.size() : compressed.size();
    };
    bytes_without += bytes(false);
    bytes_with += bytes(true);
  }
  return bytes_with <= bytes_without - bytes_without / 16;
}

}  // namespace varve::format
