// Owns: the size of a loaded value, and whether the value begins with the end of its entity, in 32 bits.
// Must never: describe an external value, or one of 2 GiB.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "engine/base/entry.h"

namespace varve::engine {

class ValueSize {
 public:
  static constexpr std::size_t kBytesMax = UINT32_MAX >> 1;

  ValueSize() noexcept = default;
  /// `kind` is that of a put whose value is not external.
  ValueSize(std::size_t bytes, Kind kind) noexcept
      : packed_(static_cast<std::uint32_t>(bytes) << 1 | (kind == Kind::kPutExpiring ? 1U : 0U)) {
    assert(bytes <= kBytesMax);
    assert(kind == Kind::kPut || kind == Kind::kPutExpiring);
  }
  std::uint32_t bytes() const noexcept { return packed_ >> 1; }
  Kind kind() const noexcept { return (packed_ & 1U) != 0 ? Kind::kPutExpiring : Kind::kPut; }

 private:
  std::uint32_t packed_ = 0;
};

}  // namespace varve::engine
