// Owns: the slots of the log buffer: the slot that takes records now, and the slots that wait for their write.
// Must never: reuse a slot before its write is durable. Until then, it is the only copy that survives a kill of the
// process.
//
// Source of the layout: format/log/log_buffer.h.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/log/log_files.h"
#include "format/log/log_buffer.h"
#include "varve/result.h"

namespace varve::engine {

/// The leader opens, fills and closes slots. The thread that completed a slot's write gives the slot back.
class LogSlots {
 public:
  explicit LogSlots(BufferFile buffer) noexcept;

  struct Slot {
    std::size_t index = 0;
    /// Memory for records. It starts at the log offset for which the slot was opened.
    std::span<std::byte> bytes;
  };

  /// Returns a free slot, with its header kept for this place in the log. Returns nothing if every slot waits for its
  /// write. Errors: those of io::SharedMemory::keep().
  Result<std::optional<Slot>> open(std::uint64_t segment_number, std::uint64_t segment_seed,
                                   std::uint64_t log_offset) noexcept;
  void give_back(std::size_t index) noexcept;

  /// Makes records in a slot survive the death of the process from now on. Errors: those of io::SharedMemory::keep().
  Status keep(std::size_t index, std::size_t offset, std::size_t size_bytes) noexcept;
  /// Any thread may call it. Errors: those of io::SharedMemory::check().
  Status check() noexcept { return buffer_.memory->check(); }
  /// See io::SharedMemory::restore(). No thread may fill a slot meanwhile.
  void restore() noexcept { buffer_.memory->restore(); }

 private:
  static constexpr std::size_t start_of(std::size_t index) noexcept {
    return format::kLogBufferSectorBytes + index * (format::kLogBufferSectorBytes + kLogBufferSlotBytes);
  }

  BufferFile buffer_;
  std::uint64_t serial_ = 0;
  std::array<std::atomic<bool>, kLogBufferSlots> taken_{};
};

}  // namespace varve::engine
