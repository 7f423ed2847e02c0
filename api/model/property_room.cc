// Owns: the memory of properties, either of one list or shared by several, and a thread's wide lists of entities that ended
// (types.h, property_room.h).
// Must never: free shared memory before its last list is destroyed, leave a property in it undestroyed, or run a destructor
// that a later one depends on. An entity may outlive the thread-local objects of its thread.
#include "api/model/property_room.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "api/model/spare_pieces.h"

namespace varve {
namespace {

/// Capacities of wide lists are multiples of this number.
constexpr std::uint32_t kWideStep = 16;

std::atomic<std::size_t> kept_by_all{0};

std::size_t allocated_bytes(const std::string& text) noexcept {
  return text.capacity() <= spare_texts::kInsideMax ? 0 : text.capacity() + 1;
}

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

/// The first list of each capacity. It has no destructor, so it can be used until the thread has ended.
struct PropertyList::Shared::Lists {
  std::array<Shared*, kWideMost / kWideStep + 1> of_steps{};
  bool is_open = false;
  bool is_over = false;
};

PropertyList::Shared::Lists& PropertyList::Shared::lists() noexcept {
  static thread_local constinit Lists mine;
  return mine;
}

/// Frees the kept lists when the thread ends, and prevents that more are kept.
void PropertyList::Shared::open_lists() {
  struct Closing {
    ~Closing() {
      Lists& mine = lists();
      mine.is_over = true;
      for (Shared*& first : mine.of_steps) {
        while (first != nullptr) destroy_wide(std::exchange(first, first->next));
      }
    }
  };
  static thread_local Closing closing;
  static_cast<void>(closing);
  lists().is_open = true;
}

void PropertyList::Shared::destroy_wide(Shared* wide) noexcept {
  kept_by_all.fetch_sub(wide->kept_bytes, std::memory_order_relaxed);
  std::destroy_n(wide->room(), wide->used);
  release(wide);
}

std::size_t PropertyList::Shared::wide_bytes(Shared* wide, std::uint32_t size) noexcept {
  std::size_t bytes = sizeof(Shared) + wide->capacity * sizeof(Property);
  for (Property* property = wide->room(); property != wide->room() + size; ++property) {
    bytes += allocated_bytes(property->name);
    if (const std::string* const text = text_in(*property)) bytes += allocated_bytes(*text);
  }
  return bytes;
}

PropertyList::Shared* PropertyList::Shared::take_wide(std::uint32_t count) {
  const std::uint32_t steps = (count + kWideStep - 1) / kWideStep;
  Shared*& first = lists().of_steps[steps];
  if (first == nullptr) return make(steps * kWideStep);
  Shared* const wide = std::exchange(first, first->next);
  kept_by_all.fetch_sub(wide->kept_bytes, std::memory_order_relaxed);
  return wide;
}

bool PropertyList::Shared::keep_wide(Shared* wide, std::uint32_t size) noexcept {
  Lists& mine = lists();
  if (mine.is_over) return false;
  const std::size_t bytes = wide_bytes(wide, size);
  if (bytes > kWideBytesMax) return false;
  if (kept_by_all.fetch_add(bytes, std::memory_order_relaxed) + bytes > kWideKeptMax) {
    kept_by_all.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  if (!mine.is_open) open_lists();
  wide->used = size;
  wide->kept_bytes = static_cast<std::uint32_t>(bytes);
  wide->next = std::exchange(mine.of_steps[wide->capacity / kWideStep], wide);
  return true;
}

std::size_t PropertyList::Shared::wide_bytes_kept() noexcept {
  return kept_by_all.load(std::memory_order_relaxed);
}

PropertyList PropertyRoom::take(std::size_t count) {
  PropertyList list;
  if (count == 0) return list;
  if (count > PropertyList::Shared::kMost) {
    give_alone(list, count);
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

void PropertyRoom::give_wide(PropertyList& list, std::size_t count) {
  list.shared_ = PropertyList::Shared::take_wide(static_cast<std::uint32_t>(count));
  list.first_ = list.shared_->room();
  list.size_ = std::exchange(list.shared_->used, 0);
  list.capacity_ = list.shared_->capacity;
}

void PropertyRoom::cut(PropertyList& list, std::size_t count) noexcept {
  std::destroy(list.first_ + count, list.first_ + list.size_);
  list.size_ = static_cast<std::uint32_t>(count);
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
    if (std::string* const text = Shared::text_in(property)) spare_texts::give_back(*text);
  }
}

void PropertyList::free_all() noexcept {
  if (shared_ != nullptr && shared_->is_wide() && Shared::keep_wide(shared_, size_)) return;
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
