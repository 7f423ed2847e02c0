// Owns: the slots of the log buffer: which one takes records now, which wait for their write.
// Must never: reuse a slot before its write is durable: until then it is the only copy a killed process leaves behind.
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

/// Taken, filled and closed by the holder of the lead; given back by whoever completed the write.
class LogSlots {
 public:
  explicit LogSlots(BufferFile buffer) noexcept;

  struct Slot {
    std::size_t index = 0;
    /// Where records go; its start is the log offset the slot was opened for.
    std::span<std::byte> bytes;
  };

  /// A free slot, its header kept for this place in the log. Empty when every slot waits for its write.
  /// Errors: those of io::SharedMemory::keep.
  Result<std::optional<Slot>> open(std::uint64_t segment_number, std::uint64_t segment_seed,
                                   std::uint64_t log_offset) noexcept;
  void give_back(std::size_t index) noexcept;

  /// Records that stand in a slot survive the death of the process from now on. Errors: those of
  /// io::SharedMemory::keep.
  Status keep(std::size_t index, std::size_t offset, std::size_t size_bytes) noexcept;
  /// Any thread. Errors: those of io::SharedMemory::check.
  Status check() noexcept { return buffer_.memory->check(); }
  /// As io::SharedMemory::restore: nobody fills a slot meanwhile.
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
