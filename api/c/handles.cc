// Owns: the slots of the handles (handles.h).
#include "api/c/handles.h"

#include <array>
#include <bit>
#include <new>

namespace varve::c {
namespace {

constexpr std::uint32_t kFirstBlockSlots = 1024;
constexpr std::uint32_t kBlocks = 14;
constexpr std::uint32_t kSlotsMax = ((1u << kBlocks) - 1) * kFirstBlockSlots;  // below 2^24
static_assert(sizeof(void*) == 8, "a handle has 32 bits of generation, 24 of slot and 8 of kind");

// The state of a slot: the generation, whether the handle is open, and the number of calls that use the object.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
constexpr std::uint64_t kPins = kOpen - 1;

struct Slot {
  std::atomic<std::uint64_t> state{0};
  std::atomic<Object*> object{nullptr};
  std::atomic<std::uint32_t> next_free{0};  // the number of the next free slot, plus one
};

struct Parts {
  std::uint32_t generation;
  std::uint32_t index;
  Kind kind;
};

Parts parts_of(const void* handle) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits >> 8) & 0xffffffu,
          static_cast<Kind>(bits & 0xff)};
}

void* handle_of(const Parts& parts) noexcept {
  const std::uintptr_t bits = (std::uintptr_t{parts.generation} << 32) | (std::uintptr_t{parts.index} << 8) |
                              static_cast<std::uintptr_t>(parts.kind);
  return reinterpret_cast<void*>(bits);  // NOLINT(performance-no-int-to-ptr): never followed
}

std::uint32_t generation_of(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>(state >> 32);
}

/// All slots. Blocks of them double in size, and never move or go.
class Slots {
 public:
  /// Returns null if there was no such slot yet.
  Slot* find(std::uint32_t index) noexcept {
    const Place place = place_of(index);
    if (place.block >= kBlocks) return nullptr;
    Slot* const block = blocks_[place.block].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : block + place.offset;
  }

  /// Returns the number of a slot that nothing uses, or kSlotsMax if there is no memory.
  std::uint32_t take() noexcept {
    for (std::uint64_t head = free_.load(std::memory_order_acquire); (head & 0xffffffffu) != 0;) {
      const std::uint32_t index = static_cast<std::uint32_t>(head) - 1;
      const std::uint64_t after = tagged(head, find(index)->next_free.load(std::memory_order_relaxed));
      if (free_.compare_exchange_weak(head, after, std::memory_order_acq_rel, std::memory_order_acquire)) return index;
    }
    const std::uint32_t fresh =
        used_.load(std::memory_order_relaxed) >= kSlotsMax ? kSlotsMax : used_.fetch_add(1, std::memory_order_relaxed);
    if (fresh >= kSlotsMax || !make_block(place_of(fresh).block)) return kSlotsMax;
    return fresh;
  }

  void give_back(std::uint32_t index) noexcept {
    std::uint64_t head = free_.load(std::memory_order_acquire);
    do {
      find(index)->next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    } while (!free_.compare_exchange_weak(head, tagged(head, index + 1), std::memory_order_acq_rel,
                                          std::memory_order_acquire));
  }

  std::atomic<std::size_t> open{0};

 private:
  struct Place {
    std::uint32_t block;
    std::uint32_t offset;
  };

  static Place place_of(std::uint32_t index) noexcept {
    const std::uint32_t scaled = index / kFirstBlockSlots + 1;
    const auto block = static_cast<std::uint32_t>(std::bit_width(scaled)) - 1;
    return {block, index - ((1u << block) - 1) * kFirstBlockSlots};
  }

  /// A changing tag in the upper half keeps a thread from believing a list that was emptied and filled meanwhile.
  static std::uint64_t tagged(std::uint64_t head, std::uint32_t first) noexcept {
    return (((head >> 32) + 1) << 32) | first;
  }

  bool make_block(std::uint32_t number) noexcept {
    std::atomic<Slot*>& block = blocks_[number];
    if (block.load(std::memory_order_acquire) != nullptr) return true;
    Slot* const made = new (std::nothrow) Slot[std::size_t{kFirstBlockSlots} << number];
    if (made == nullptr) return false;
    Slot* none = nullptr;
    if (!block.compare_exchange_strong(none, made, std::memory_order_acq_rel)) delete[] made;
    return true;
  }

  std::array<std::atomic<Slot*>, kBlocks> blocks_{};
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::uint64_t> free_{0};
};

constinit Slots slots;

void destroy(Slot& slot, std::uint32_t index, std::uint64_t state) noexcept {
  delete slot.object.exchange(nullptr, std::memory_order_acq_rel);
  std::uint32_t next = generation_of(state) + 1;
  if (next == 0) next = 1;
  slot.state.store(std::uint64_t{next} << 32, std::memory_order_release);
  slots.give_back(index);
}

}  // namespace

void* add_handle(std::unique_ptr<Object> object) noexcept {
  if (object == nullptr) return nullptr;
  const std::uint32_t index = slots.take();
  if (index >= kSlotsMax) return nullptr;
  Slot& slot = *slots.find(index);
  std::uint32_t generation = generation_of(slot.state.load(std::memory_order_acquire));
  if (generation == 0) generation = 1;
  const Kind kind = object->kind();
  slot.object.store(object.release(), std::memory_order_release);
  slot.state.store((std::uint64_t{generation} << 32) | kOpen, std::memory_order_release);
  slots.open.fetch_add(1, std::memory_order_relaxed);
  return handle_of({generation, index, kind});
}

Result<Object*> pin(const void* handle, Kind kind) noexcept {
  if (handle == nullptr) return Status::invalid_argument("the handle is NULL; pass one that the library returned");
  const Parts parts = parts_of(handle);
  Slot* const slot = parts.kind == kind ? slots.find(parts.index) : nullptr;
  if (slot == nullptr || parts.generation == 0) {
    return Status::invalid_argument("the handle is of another kind, or no handle of this library");
  }
  std::uint64_t state = slot->state.load(std::memory_order_acquire);
  do {
    if (generation_of(state) != parts.generation || (state & kOpen) == 0) {
      return Status(Code::kClosed, "the handle was closed or freed");
    }
  } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  Object* const object = slot->object.load(std::memory_order_acquire);
  if (object->kind() == kind) return object;
  unpin(handle);
  return Status::invalid_argument("the handle is of another kind");
}

void unpin(const void* handle) noexcept {
  const std::uint32_t index = parts_of(handle).index;
  Slot& slot = *slots.find(index);
  const std::uint64_t left = slot.state.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if ((left & (kOpen | kPins)) == 0) destroy(slot, index, left);
}

bool free_handle(const void* handle, Kind kind) noexcept {
  if (!pin(handle, kind).ok()) return false;
  Slot& slot = *slots.find(parts_of(handle).index);
  const bool was_open = (slot.state.fetch_and(~kOpen, std::memory_order_acq_rel) & kOpen) != 0;
  if (was_open) slots.open.fetch_sub(1, std::memory_order_relaxed);
  unpin(handle);
  return was_open;
}

std::size_t open_handles() noexcept {
  return slots.open.load(std::memory_order_relaxed);
}

}  // namespace varve::c
