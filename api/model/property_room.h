// Owns: memory for the properties of many entities that are made together, a few entities' at a time.
// Must never: be asked for more while entities that it gave memory to are changed elsewhere; or hold a piece
// whose last entity is gone.
//
// A page of a thousand entities would take and give back as many pieces of memory for their properties alone. Here some
// dozens of properties share one, which goes when the last of their entities does: an entity that is kept long keeps
// one such piece, never the whole page. A thread keeps pieces for its next page (spare_pieces.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/types.h"

namespace varve {

/// A head, and room for properties behind it.
struct alignas(Property) PropertyList::Shared {
  /// The largest; pieces of this capacity come from the thread's spare ones, and go back to them.
  static constexpr std::uint32_t kMost = 32;

  std::atomic<std::uint32_t> holders{1};
  std::uint32_t used = 0;
  std::uint32_t capacity = 0;

  Property* room() noexcept;
  /// Errors: throws std::bad_alloc.
  static Shared* make(std::uint32_t capacity);
  static void release(Shared* shared) noexcept;
};

/// One thread.
class PropertyRoom {
 public:
  /// An empty list with room for so many properties. Throws std::bad_alloc.
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
