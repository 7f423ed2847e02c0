// Owns: the choice of blocks for learning and for trials (dictionary_learner.h).
#include "format/block/dictionary_learner.h"

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
  if (!is_worth_learning()) return std::nullopt;
  Result<std::string> dictionary = train_dictionary(samples_, kDictionaryBytes);
  if (!dictionary.ok()) return std::nullopt;
  Result<Compressor> compressor = Compressor::make(level_, *dictionary);
  if (!compressor.ok() || !saves_a(kShareWorthHaving, *compressor)) return std::nullopt;
  return Learned{*std::move(dictionary), *std::move(compressor)};
}

/// Referring to the latest samples gives most of the gain of a dictionary, and is measured at once.
bool DictionaryLearner::is_worth_learning() const {
  std::string content;
  for (auto sample = samples_.rbegin(); sample != samples_.rend() && content.size() < kDictionaryBytes; ++sample) {
    content.append(*sample);
  }
  if (content.empty()) return false;
  Result<Compressor> trial = Compressor::make_for_trial(level_, content);
  return trial.ok() && saves_a(kShareWorthLearning, *trial);
}

bool DictionaryLearner::saves_a(std::size_t share, Compressor& compressor) const {
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
  return bytes_with <= bytes_without - bytes_without / share;
}

}  // namespace varve::format
