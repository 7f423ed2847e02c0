// Owns: where pages end when a store is asked to make them short and empty, for tests of clients
// (StoreOptions::short_pages).
// Must never: end two pages in a row at one place, so that whoever goes on gets on.
//
// A page that does not begin exactly at an entity named by its token is empty. Others end behind two entities, whether
// they match or not, and before another partition; the next token then names the partition alone, so that the next page
// is empty again. All of this follows from the token, so that it is the same at every run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/keys/sort_key.h"

namespace varve {

class ShortPages {
 public:
  /// `named` is the sort key that the page's token names; empty without a token.
  ShortPages(std::string named, bool backward) : named_(std::move(named)), backward_(backward) {}

  enum class Verdict : std::uint8_t {
    kTake,
    kEndHere,         // the next page begins at this entity
    kEndAtPartition,  // the next page begins where its partition does
  };
  /// Of each candidate, in order.
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
