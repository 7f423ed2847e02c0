// Owns: the memory of properties, either of one list or shared by several (types.h, property_room.h).
// Must never: free shared memory before its last list is destroyed, or leave a property in it undestroyed.
#include "api/model/property_room.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "api/model/spare_pieces.h"

namespace varve {
namespace {

Property* own_memory(std::size_t count) {
  return std::allocator<Property>().allocate(count);
}

}  // namespace

Property* PropertyList::Shared::room() noexcept {
  static_assert(sizeof(Shared) % alignof(Property) == 0);
  return reinterpret_cast<Property*>(this + 1);
}

PropertyList::Shared* PropertyList::Shared::make(std::uint32_t capacity) {
  static_assert(alignof(Shared) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static_assert(sizeof(Shared) + kMost * sizeof(Property) <= spare_pieces::kPieceBytes);
  const std::size_t bytes = sizeof(Shared) + capacity * sizeof(Property);
  void* const memory = capacity == kMost ? spare_pieces::take() : ::operator new(bytes);
  auto* const shared = ::new (memory) Shared;
  shared->capacity = capacity;
  return shared;
}

void PropertyList::Shared::release(Shared* shared) noexcept {
  if (shared->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const bool is_piece = shared->capacity == kMost;
  shared->~Shared();
  if (is_piece) return spare_pieces::give_back(shared);
  ::operator delete(shared);
}

PropertyList PropertyRoom::take(std::size_t count) {
  PropertyList list;
  if (count == 0) return list;
  if (count > PropertyList::Shared::kMost) {
    list.reserve(count);
    return list;
  }
  const auto wanted = static_cast<std::uint32_t>(count);
  if (shared_ == nullptr || shared_->capacity - shared_->used < wanted) {
    shared_.reset(PropertyList::Shared::make(std::max(next_capacity_, wanted)));
    next_capacity_ = std::min(2 * next_capacity_, PropertyList::Shared::kMost);
  }
  list.first_ = shared_->room() + shared_->used;
  list.capacity_ = wanted;
  list.shared_ = shared_.get();
  shared_->used += wanted;
  shared_->holders.fetch_add(1, std::memory_order_relaxed);
  return list;
}

PropertyList::PropertyList(const PropertyList& other) : PropertyList() {
  reserve(other.size_);
  for (const Property& property : other.all()) add([&] { return property; });
}

void PropertyList::reserve(std::size_t count) {
  if (count <= capacity_) return;
  Property* const moved = own_memory(count);
  std::uninitialized_move(first_, first_ + size_, moved);
  std::destroy_n(first_, size_);
  free_memory();
  first_ = moved;
  capacity_ = static_cast<std::uint32_t>(count);
  shared_ = nullptr;
}

void PropertyList::grow() {
  reserve(std::max<std::size_t>(2 * std::size_t{capacity_}, 1));
}

void PropertyList::remove(std::size_t place) noexcept {
  std::move(first_ + place + 1, first_ + size_, first_ + place);
  std::destroy_at(first_ + --size_);
}

bool PropertyList::operator==(const PropertyList& other) const noexcept {
  return std::equal(first_, first_ + size_, other.first_, other.first_ + other.size_);
}

void PropertyList::give_back_texts() noexcept {
  for (Property& property : all()) {
    spare_texts::give_back(property.name);
    if (auto* const text = std::get_if<std::string>(&property.value.variant_)) {
      spare_texts::give_back(*text);
    } else if (auto* const binary = std::get_if<Binary>(&property.value.variant_)) {
      spare_texts::give_back(binary->bytes);
    }
  }
}

void PropertyList::free_all() noexcept {
  give_back_texts();
  std::destroy_n(first_, size_);
  free_memory();
}

void PropertyList::free_memory() noexcept {
  if (first_ == nullptr) return;
  if (shared_ != nullptr) {
    Shared::release(shared_);
  } else {
    std::allocator<Property>().deallocate(first_, capacity_);
  }
}

}  // namespace varve
