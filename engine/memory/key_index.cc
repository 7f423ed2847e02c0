// Owns: the slots: their content, and how a slot is found, taken and replaced.
// Must never: free a slot, or replace an entry by an older one.

#include "engine/memory/key_index.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

#include "engine/memory/memtable_node.h"
#include "format/bytes/checksum.h"
#include "format/bytes/prefetch.h"
#include "io/posix/page_memory.h"

namespace varve::engine {

namespace {

/// An entry's address without its three lowest bits, which alignment makes zero. The bits above the address hold the
/// uppermost bits of the key's hash. Zero means that the slot is free.
using Slot = std::uint64_t;
constexpr int kAlignmentBits = 3;
constexpr int kAddressBits = 48;
constexpr int kTagShift = kAddressBits - kAlignmentBits;
constexpr Slot kSlotAddressMask = (Slot{1} << kTagShift) - 1;
static_assert(Arena::kAlignment == 1 << kAlignmentBits);

Slot slot_of(const MemtableNode& node, std::uint64_t hash) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&node);
  assert(address >> kAddressBits == 0);  // Today's processors give programs 48-bit addresses.
  return (hash & ~kSlotAddressMask) | (address >> kAlignmentBits);
}

const MemtableNode& node_of(Slot slot) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a slot is an address beside some bits of the hash; that is its point
  return *reinterpret_cast<const MemtableNode*>((slot & kSlotAddressMask) << kAlignmentBits);
}

constexpr std::uint64_t kFirstSlots = 512;  // one page: 4 KiB
/// Slot count from which tables grow twofold, so that little memory is unused. Smaller tables grow fourfold, so that
/// there are few.
constexpr std::uint64_t kLargeSlots = 128 << 10;

constexpr std::uint64_t slots_after(std::uint64_t slots) noexcept {
  return slots < kLargeSlots ? 4 * slots : 2 * slots;
}
constexpr std::uint64_t room_in(std::uint64_t slots) noexcept {
  return slots / 8 * 5;  // X2
}

}  // namespace

class KeyIndex::Table {
 public:
  /// Makes a table. The system hands out zeroed pages, so no thread stops to clear all of them. Large pages keep the
  /// number of pages low: with small pages, each key would be on a page of its own.
  static OwnedTable make(std::uint64_t slot_count) noexcept {
    Result<io::PageMemory> memory = io::PageMemory::map(slot_count * sizeof(Slot));
    if (!memory.ok()) return nullptr;
    return OwnedTable(new (std::nothrow) Table(*std::move(memory), slot_count));
  }

  std::uint64_t slot_count() const noexcept { return mask_ + 1; }

  void prefetch(std::uint64_t hash) const noexcept { format::prefetch(&slots_[hash & mask_]); }

  /// Returns the key's slot, or null if this table does not have the key.
  Slot* find(std::string_view sort_key, std::uint64_t hash) const noexcept {
    for (std::uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      const Slot value = load(slot);
      if (value == 0) return nullptr;
      if (is_of(value, sort_key, hash)) return &slot;
    }
  }

  /// Takes a free slot and returns null. If another writer has taken a slot for this key meanwhile, returns that slot.
  Slot* take(const MemtableNode& node, std::uint64_t hash) noexcept {
    const Slot mine = slot_of(node, hash);
    for (std::uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      Slot value = load(slot);
      if (value == 0 && std::atomic_ref<Slot>(slot).compare_exchange_strong(value, mine, std::memory_order_release,
                                                                            std::memory_order_acquire)) {
        return nullptr;
      }
      if (is_of(value, node.sort_key(), hash)) return &slot;
    }
  }

  /// Replaces the slot's entry by `node`, unless the slot's entry is newer (X1).
  static void replace(Slot& slot, const MemtableNode& node, std::uint64_t hash) noexcept {
    const Slot mine = slot_of(node, hash);
    Slot value = load(slot);
    while (node_of(value).version() < node.version()) {
      if (std::atomic_ref<Slot>(slot).compare_exchange_weak(value, mine, std::memory_order_release,
                                                            std::memory_order_acquire)) {
        return;
      }
    }
  }

  static Slot load(Slot& slot) noexcept { return std::atomic_ref<Slot>(slot).load(std::memory_order_acquire); }

  /// Counts a reservation that its key did not need, because the key had a slot.
  void give_back() noexcept { given_back_.fetch_add(1, std::memory_order_relaxed); }

  // Called only by the thread that reserves.
  std::uint64_t room() const noexcept {
    return room_in(slot_count()) + given_back_.load(std::memory_order_relaxed) - reserved_;
  }
  void reserve(std::uint64_t count) noexcept { reserved_ += count; }

  OwnedTable older;

 private:
  Table(io::PageMemory memory, std::uint64_t slot_count) noexcept
      : memory_(std::move(memory)),
        slots_(reinterpret_cast<Slot*>(memory_.bytes().data())),  // mapped pages are zeros
        mask_(slot_count - 1) {}

  static bool is_of(Slot value, std::string_view sort_key, std::uint64_t hash) noexcept {
    return ((value ^ hash) & ~kSlotAddressMask) == 0 && node_of(value).sort_key() == sort_key;
  }

  const io::PageMemory memory_;
  Slot* const slots_;
  const std::uint64_t mask_;
  std::uint64_t reserved_ = 0;
  std::atomic<std::uint64_t> given_back_{0};
};

void KeyIndex::FreeTable::operator()(Table* table) const noexcept {
  delete table;
}

KeyIndex::KeyIndex() noexcept = default;
KeyIndex::~KeyIndex() = default;

std::uint64_t KeyIndex::hash_of(std::string_view sort_key) noexcept {
  return format::content_hash(sort_key);
}

std::uint64_t KeyIndex::missing_bytes(std::uint64_t count) const noexcept {
  if (newest_owner_ != nullptr && newest_owner_->room() >= count) return 0;
  std::uint64_t slots = newest_owner_ == nullptr ? kFirstSlots : slots_after(newest_owner_->slot_count());
  while (room_in(slots) < count) slots = slots_after(slots);
  return slots * sizeof(Slot);
}

KeyIndex::OwnedTable KeyIndex::make_table(std::uint64_t bytes) noexcept {
  return Table::make(bytes / sizeof(Slot));
}

KeyIndex::Table& KeyIndex::reserve(std::uint64_t count, OwnedTable added) noexcept {
  if (added != nullptr) {
    bytes_.store(bytes() + added->slot_count() * sizeof(Slot), std::memory_order_relaxed);
    added->older = std::move(newest_owner_);
    newest_owner_ = std::move(added);
    newest_.store(newest_owner_.get(), std::memory_order_release);
  }
  assert(newest_owner_->room() >= count);  // X2
  newest_owner_->reserve(count);
  return *newest_owner_;
}

void KeyIndex::prefetch(const Table& reserved, std::uint64_t hash) noexcept {
  reserved.prefetch(hash);
}

void KeyIndex::insert(Table& reserved, const MemtableNode& node, std::uint64_t hash, bool has_older) noexcept {
  Slot* slot = nullptr;
  if (has_older) {
    for (Table* table = newest_.load(std::memory_order_acquire); table != nullptr && slot == nullptr;
         table = table->older.get()) {
      slot = table->find(node.sort_key(), hash);
    }
  }
  if (slot == nullptr) slot = reserved.take(node, hash);
  if (slot == nullptr) return;
  Table::replace(*slot, node, hash);
  reserved.give_back();
}

void KeyIndex::prefetch(std::uint64_t hash) const noexcept {
  const Table* const tables = newest_.load(std::memory_order_acquire);
  for (const Table* table = tables; table != nullptr; table = table->older.get()) table->prefetch(hash);
}

const MemtableNode* KeyIndex::find(std::string_view sort_key, std::uint64_t hash) const noexcept {
  const Table* const tables = newest_.load(std::memory_order_acquire);
  for (const Table* table = tables; table != nullptr; table = table->older.get()) table->prefetch(hash);
  const MemtableNode* newest = nullptr;
  for (const Table* table = tables; table != nullptr; table = table->older.get()) {
    Slot* const slot = table->find(sort_key, hash);
    if (slot == nullptr) continue;
    const MemtableNode& node = node_of(Table::load(*slot));
    if (newest == nullptr || node.version() > newest->version()) newest = &node;
  }
  return newest;
}

}  // namespace varve::engine
