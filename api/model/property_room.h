// Owns: memory for the properties of many entities that are made together. A few entities share one piece of memory.
// Must never: be used while another thread changes entities that it gave memory to, or keep a piece after its last
// entity was destroyed.
//
// A page of a thousand entities would allocate and free a thousand pieces of memory for properties. Here about 30
// properties share one piece, which is freed with the last of their entities. So an entity that is kept for long keeps
// one piece alive, never the whole page. A thread keeps pieces for its next page (spare_pieces.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/types.h"
#include "varve/version.h"

namespace varve {

/// A header, followed by memory for properties.
struct alignas(Property) PropertyList::Shared {
  /// The largest capacity. Pieces of this capacity come from the thread's spare pieces, and return to them.
  static constexpr std::uint32_t kMost = 32;

  std::atomic<std::uint32_t> holders{1};
  std::uint32_t used = 0;
  std::uint32_t capacity = 0;

  VARVE_LOCAL Property* room() noexcept;
  /// Throws std::bad_alloc.
  VARVE_LOCAL static Shared* make(std::uint32_t capacity);
  VARVE_LOCAL static void release(Shared* shared) noexcept;
};

/// Use it from one thread.
class PropertyRoom {
 public:
  /// Returns an empty list with room for `count` properties. Throws std::bad_alloc.
  PropertyList take(std::size_t count);

 private:
  struct Release {
    void operator()(PropertyList::Shared* shared) const noexcept { PropertyList::Shared::release(shared); }
  };
  static constexpr std::uint32_t kFirst = 4;

  std::uint32_t next_capacity_ = kFirst;
  std::unique_ptr<PropertyList::Shared, Release> shared_;
};

}  // namespace varve
