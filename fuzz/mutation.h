// Owns: the shared parts of mutators of structured inputs: chance, numbers, bytes, lists of parts, words of a text.
// Must never: know a format, or make an input longer than its limit.
//
// A mutator splits an input, changes a part, and joins the parts with correct lengths, counts and checksums. So the
// fuzzer reaches code that runs after these checks. One time in four it changes raw bytes, to test the checks
// themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace varve::fuzz {

class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed + 1) {}
  /// `count` is not zero.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_()) % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::uint64_t bits() { return (std::uint64_t{random_()} << 40) ^ (std::uint64_t{random_()} << 20) ^ random_(); }

 private:
  std::minstd_rand random_;
};

/// Returns a number near the given one, or near a limit of numbers.
inline std::uint64_t mutated_number(Chance& chance, std::uint64_t number) {
  switch (chance.below(6)) {
    case 0: return number + 1;
    case 1: return number - 1;
    case 2: return number ^ (std::uint64_t{1} << chance.below(64));
    case 3: return (std::uint64_t{1} << chance.below(64)) - chance.below(2);
    case 4: return chance.below(16);
    default: return chance.bits() >> chance.below(64);
  }
}

/// Changes bytes with libFuzzer's mutator. The result is at most 64 bytes longer.
inline void mutate_bytes(std::string& bytes) {
  constexpr std::size_t kGrowth = 64;
  const std::size_t size = bytes.size();
  bytes.resize(size + kGrowth);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
}

/// Adds, removes, repeats or exchanges a part. Most often `change` changes a part. `change` also fills new parts.
template <typename Part, typename Change>
void mutate_parts(Chance& chance, std::vector<Part>& parts, const Change& change) {
  const std::size_t at = chance.below(parts.size() + 1);
  const auto place = parts.begin() + static_cast<std::ptrdiff_t>(at);
  if (at == parts.size()) {
    Part fresh{};
    change(fresh);
    parts.push_back(std::move(fresh));
    return;
  }
  switch (chance.below(8)) {
    case 0: parts.erase(place); break;
    case 1: {
      Part again = *place;
      if (chance.one_in(2)) change(again);
      parts.insert(place, std::move(again));
      break;
    }
    case 2: std::swap(parts[at], parts[chance.below(parts.size())]); break;
    default: change(parts[at]); break;
  }
}

/// Implements LLVMFuzzerCustomMutator. `mutate` gets the chance and the input. It returns a changed input, or nothing
/// if the input cannot be split.
template <typename Mutate>
std::size_t mutate_structure(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed,
                             const Mutate& mutate) {
  Chance chance(seed);
  if (!chance.one_in(4)) {
    const std::optional<std::string> made = mutate(chance, {reinterpret_cast<const char*>(data), size});
    if (made && made->size() <= size_max) {
      if (!made->empty()) std::memcpy(data, made->data(), made->size());
      return made->size();
    }
  }
  return LLVMFuzzerMutate(data, size, size_max);
}

/// Returns the words of a text: each run of letters and digits, and each other character alone.
inline std::vector<std::string_view> words_of(std::string_view text) {
  const auto joins = [](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  };
  std::vector<std::string_view> found;
  found.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool goes_on = i > 0 && joins(text[i]) && joins(text[i - 1]);
    if (goes_on) found.back() = text.substr(i - found.back().size(), found.back().size() + 1);
    if (!goes_on) found.push_back(text.substr(i, 1));
  }
  return found;
}

/// Implements LLVMFuzzerCustomMutator for texts in a grammar with these words.
inline std::size_t mutate_words(std::span<const std::string_view> words, std::uint8_t* data, std::size_t size,
                                std::size_t size_max, unsigned seed) {
  return mutate_structure(data, size, size_max, seed, [&](Chance& chance, std::string_view text) {
    std::vector<std::string_view> found = words_of(text);
    std::deque<std::string> own;  // words of which `found` has views
    const auto change = [&](std::string_view& word) {
      if (word.empty() || !chance.one_in(4)) {
        word = words[chance.below(words.size())];
        return;
      }
      std::string& changed = own.emplace_back(word);
      if (word.find_first_not_of("0123456789") == std::string_view::npos) {
        changed = std::to_string(mutated_number(chance, word.size() < 19 ? std::stoull(changed) : 0));
      } else {
        mutate_bytes(changed);
      }
      word = changed;
    };
    for (std::size_t i = 1 + chance.below(3); i > 0; --i) mutate_parts(chance, found, change);
    std::string made;
    made.reserve(size_max);
    for (const std::string_view word : found) made += word;
    return std::optional<std::string>(std::move(made));
  });
}

}  // namespace varve::fuzz
