// Goal: a sort buffer returns its entries in the order of their keys, however many first bytes the keys share.
// Method: random keys of few letters, of all lengths, and with shared beginnings, against a sorted vector; again after clear().
#include "engine/load/sort_buffer.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::sort_buffer_test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

/// Few different letters, among them the smallest and the largest one, so that keys share beginnings and are prefixes.
std::string random_text(std::mt19937_64& random, std::size_t bytes_max) {
  constexpr std::string_view kLetters("\1\2a~", 4);
  std::string text(random() % (bytes_max + 1), '\0');
  for (char& letter : text) letter = kLetters[random() % kLetters.size()];
  return text;
}

Pairs sorted(const SortBuffer& buffer) {
  Pairs pairs;
  for (SortBuffer::Stream stream(buffer, 5); stream.valid(); stream.next()) {
    pairs.emplace_back(stream.entry().sort_key, stream.entry().value);
  }
  return pairs;
}

TEST(SortBuffer, OrdersKeysWhateverBytesTheyShare) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    SortBuffer buffer(kBytesMax);
    for (int round = 0; round < 3; ++round) {
      const std::string shared = random_text(random, 20);
      Pairs expected;
      for (std::size_t i = 0, count = 1 + random() % 60; i < count; ++i) {
        const std::string key = test::key_of(shared + random_text(random, 12), random_text(random, 3));
        const auto is_there = [&key](const auto& pair) { return pair.first == key; };
        if (std::any_of(expected.begin(), expected.end(), is_there)) continue;
        expected.emplace_back(key, std::to_string(i));
        buffer.add(expected.back().first, expected.back().second);
      }
      buffer.sort();
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(sorted(buffer), expected);
      buffer.clear();
    }
  }
}

}  // namespace
}  // namespace varve::engine::sort_buffer_test
