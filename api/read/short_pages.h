// Owns: where pages end if a store is asked for short and empty pages, to test its clients (StoreOptions::short_pages).
// Must never: end two consecutive pages at the same place. Otherwise a client would never advance.
//
// If a page does not begin exactly at an entity that its token names, it is empty. Any other page ends after two
// entities, whether they match or not, and before another partition. Its token then names the partition alone, so the
// next page is empty again. All of this follows from the token, so every run gives the same pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/keys/sort_key.h"

namespace varve {

class ShortPages {
 public:
  /// `named` is the sort key that the page's token names. It is empty if there is no token.
  ShortPages(std::string named, bool backward) : named_(std::move(named)), backward_(backward) {}

  enum class Verdict : std::uint8_t {
    kTake,
    kEndHere,         // the next page begins at this entity
    kEndAtPartition,  // the next page begins at the start of its partition
  };
  /// Returns the verdict for a candidate. Call it for each candidate, in order.
  Verdict judge(std::string_view sort_key) {
    const std::string_view partition = format::partition_of(sort_key);
    if (taken_ == 0 && sort_key != named_) return Verdict::kEndHere;
    if (taken_ > 0 && partition != partition_) return backward_ ? Verdict::kEndHere : Verdict::kEndAtPartition;
    if (taken_ == kEntitiesMax) return Verdict::kEndHere;
    partition_ = partition;
    ++taken_;
    return Verdict::kTake;
  }

 private:
  static constexpr std::uint32_t kEntitiesMax = 2;

  const std::string named_;
  const bool backward_;
  std::string partition_;
  std::uint32_t taken_ = 0;
};

}  // namespace varve
