// Owns: making a LargeValue from its stored form, or from a form that a caller in another language gives back.
// Must never: replace the check of a commit: that the account has a large value with this number and this length. A forged
// number could name the content of a blob.
#pragma once

#include "format/keys/entity.h"
#include "varve/types.h"

namespace varve {

struct LargeValueMaker {
  static constexpr LargeValue make(const format::ContentReference& stored) noexcept {
    return {stored.content, stored.length};
  }
  static constexpr format::ContentReference stored(const LargeValue& value) noexcept {
    return {value.id(), value.length()};
  }
};

}  // namespace varve
