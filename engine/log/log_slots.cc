// Owns: opening and giving back slots of the log buffer (log_slots.h).
// Must never: interpret the records in them.
#include "engine/log/log_slots.h"

#include <cassert>
#include <utility>

namespace varve::engine {

LogSlots::LogSlots(BufferFile buffer) noexcept : buffer_(std::move(buffer)) {}

Result<std::optional<LogSlots::Slot>> LogSlots::open(std::uint64_t segment_number, std::uint64_t segment_seed,
                                                     std::uint64_t log_offset) noexcept {
  for (std::size_t index = 0; index < kLogBufferSlots; ++index) {
    if (taken_[index].load(std::memory_order_acquire)) continue;
    const std::size_t start = start_of(index);
    char* header = reinterpret_cast<char*>(buffer_.memory->bytes().data()) + start;
    format::store_slot_header(header, {segment_number, segment_seed, log_offset, ++serial_}, {buffer_.seed, start});
    if (Status kept = buffer_.memory->keep(start, format::kSlotHeaderBytes); !kept.ok()) return kept;
    taken_[index].store(true, std::memory_order_relaxed);
    return std::optional(
        Slot{index, buffer_.memory->bytes().subspan(start + format::kLogBufferSectorBytes, kLogBufferSlotBytes)});
  }
  return std::optional<Slot>();
}

Status LogSlots::keep(std::size_t index, std::size_t offset, std::size_t size_bytes) noexcept {
  return buffer_.memory->keep(start_of(index) + format::kLogBufferSectorBytes + offset, size_bytes);
}

void LogSlots::give_back(std::size_t index) noexcept {
  assert(index < kLogBufferSlots);
  assert(taken_[index].load(std::memory_order_relaxed));
  taken_[index].store(false, std::memory_order_release);
}

}  // namespace varve::engine
