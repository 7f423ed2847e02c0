// Owns: memory for the properties of many entities that are made together. A few entities share one piece of memory.
// Must never: be used while another thread changes entities that it gave memory to, or keep a piece after its last
// entity was destroyed.
//
// A page of a thousand entities would allocate and free a thousand pieces of memory for properties. Here about 30
// properties share one piece, which is freed with the last of their entities. So an entity that is kept for long keeps
// one piece alive, never the whole page. A thread keeps pieces for its next page (spare_pieces.h).
//
// A wide list, of more than 32 properties, has memory of its own. It outlives its entity whole: names, values and texts stay
// made, and the next wide entity overwrites them. So an entity of 200 texts neither frees nor allocates 200
// times, and compares names that it mostly finds in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "varve/types.h"
#include "varve/version.h"

namespace varve {

/// A header, followed by memory for properties.
struct alignas(Property) PropertyList::Shared {
  /// The largest capacity that lists share. Pieces of this capacity come from the thread's spare pieces, and return to them.
  static constexpr std::uint32_t kMost = 32;
  /// The largest capacity of a wide list. Its memory has one holder.
  static constexpr std::uint32_t kWideMost = 256;
  /// Wide lists of more bytes than this, texts included, are not kept.
  static constexpr std::size_t kWideBytesMax = std::size_t{64} << 10;
  /// The most that all threads of the process keep of wide lists together, in bytes: a page of 1,000 entities of 200 short
  /// texts.
  static constexpr std::size_t kWideKeptMax = std::size_t{32} << 20;

  std::atomic<std::uint32_t> holders{1};
  std::uint32_t used = 0;  // of a wide list that is kept: its properties
  std::uint32_t capacity = 0;
  std::uint32_t kept_bytes = 0;  // of a wide list that is kept
  Shared* next = nullptr;        // the next wide list that the thread keeps

  VARVE_LOCAL Property* room() noexcept;
  VARVE_LOCAL bool is_wide() const noexcept { return capacity > kMost; }
  /// Throws std::bad_alloc.
  VARVE_LOCAL static Shared* make(std::uint32_t capacity);
  VARVE_LOCAL static void release(Shared* shared) noexcept;

  /// Returns a wide list with room for `count` properties, kMost + 1 to kWideMost. It has `used` properties of an entity that
  /// ended. Throws std::bad_alloc.
  VARVE_LOCAL static Shared* take_wide(std::uint32_t count);
  /// Keeps a wide list with its `size` properties for the thread's next wide entity. Returns false if it does nothing.
  VARVE_LOCAL static bool keep_wide(Shared* wide, std::uint32_t size) noexcept;
  /// Returns the bytes that all threads keep.
  VARVE_LOCAL static std::size_t wide_bytes_kept() noexcept;
  /// As PropertyRoom::text_in().
  VARVE_LOCAL static std::string* text_in(Property& property) noexcept;

 private:
  struct Lists;
  VARVE_LOCAL static Lists& lists() noexcept;
  VARVE_LOCAL static void open_lists();
  VARVE_LOCAL static void destroy_wide(Shared* wide) noexcept;
  VARVE_LOCAL static std::size_t wide_bytes(Shared* wide, std::uint32_t size) noexcept;
};

inline std::string* PropertyList::Shared::text_in(Property& property) noexcept {
  if (auto* const text = std::get_if<std::string>(&property.value.variant_)) return text;
  auto* const binary = std::get_if<Binary>(&property.value.variant_);
  return binary == nullptr ? nullptr : &binary->bytes;
}

/// Use it from one thread.
class PropertyRoom {
 public:
  /// Returns a list with room for `count` properties. It is empty, or is a wide one and has the properties of an entity that
  /// ended: the caller overwrites these, and cuts the rest. Throws std::bad_alloc.
  PropertyList take(std::size_t count);
  /// Does the same for a list that shares with no other. `list` is empty.
  static void give_alone(PropertyList& list, std::size_t count) {
    is_wide(count) ? give_wide(list, count) : list.reserve(count);
  }
  /// Destroys all properties of the list after its first `count`.
  static void cut(PropertyList& list, std::size_t count) noexcept;
  /// Returns the text or the bytes that a property has as its value, or null.
  static std::string* text_in(Property& property) noexcept { return PropertyList::Shared::text_in(property); }
  /// Returns the bytes of wide lists that all threads keep, and the most that they keep.
  static std::size_t wide_bytes_kept() noexcept { return PropertyList::Shared::wide_bytes_kept(); }
  static constexpr std::size_t wide_kept_max() noexcept { return PropertyList::Shared::kWideKeptMax; }

 private:
  struct Release {
    void operator()(PropertyList::Shared* shared) const noexcept { PropertyList::Shared::release(shared); }
  };
  static constexpr std::uint32_t kFirst = 4;
  static constexpr bool is_wide(std::size_t count) noexcept {
    return count > PropertyList::Shared::kMost && count <= PropertyList::Shared::kWideMost;
  }
  static void give_wide(PropertyList& list, std::size_t count);

  std::uint32_t next_capacity_ = kFirst;
  std::unique_ptr<PropertyList::Shared, Release> shared_;
};

}  // namespace varve
