// Owns: the place of a name in the ghost table, and the choice of the name that it replaces.

#include "engine/cache/ghost_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

namespace {

constexpr std::align_val_t kGhostAlignment{kCacheLineBytes};

}  // namespace

void GhostTable::Free::operator()(Set* sets) const noexcept {
  ::operator delete(sets, kGhostAlignment);  // sets contain only words
}

bool GhostTable::resize(std::uint64_t set_count) noexcept {
  Sets made;
  if (set_count > 0) {
    assert(std::has_single_bit(set_count));
    void* const memory = ::operator new(bytes_for(set_count), kGhostAlignment, std::nothrow);
    if (memory == nullptr) return false;
    Set* const first = static_cast<Set*>(memory);
    for (std::uint64_t at = 0; at < set_count; ++at) new (first + at) Set;
    made.reset(first);
  }
  const Sets old = std::exchange(sets_, std::move(made));
  const std::uint64_t old_count = std::exchange(set_count_, set_count);
  if (set_count == 0) return true;
  for (std::uint64_t at = 0; at < old_count; ++at) {
    for (const std::uint64_t word : old.get()[at].words) {
      if (word != 0) put(word);
    }
  }
  return true;
}

void GhostTable::add(std::uint64_t hash) noexcept {
  if (++time_ == 0) time_ = 1;  // so that no word is zero
  if (set_count_ > 0) put(std::uint64_t{time_} << kTimeShift | (hash & kNameMask));
}

bool GhostTable::has(std::uint64_t hash, std::uint64_t window) const noexcept {
  if (set_count_ == 0) return false;
  const auto& words = set_of(hash).words;
  return std::any_of(words.begin(), words.end(), [&](std::uint64_t word) {
    return word != 0 && (word & kNameMask) == (hash & kNameMask) && age_of(word) < window;
  });
}

bool GhostTable::take(std::uint64_t hash, std::uint64_t window) noexcept {
  if (set_count_ == 0) return false;
  for (std::uint64_t& word : set_of(hash).words) {
    if (word == 0 || (word & kNameMask) != (hash & kNameMask)) continue;
    return age_of(std::exchange(word, 0)) < window;
  }
  return false;
}

void GhostTable::put(std::uint64_t word) noexcept {
  auto& words = set_of(word).words;
  std::uint64_t& oldest = *std::max_element(words.begin(), words.end(),
                                            [this](std::uint64_t a, std::uint64_t b) { return age_of(a) < age_of(b); });
  if (age_of(oldest) > age_of(word)) oldest = word;
}

/// Returns the age of a word. A free word is older than any name.
std::uint32_t GhostTable::age_of(std::uint64_t word) const noexcept {
  return word == 0 ? ~std::uint32_t{0} : time_ - static_cast<std::uint32_t>(word >> kTimeShift);
}

}  // namespace varve::engine
