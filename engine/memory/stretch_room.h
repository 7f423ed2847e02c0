// Owns: one bound on the memory of dead stretches, for all stores that share a write buffer.
// Must never: let one store take the room that another store's first stretches need.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace varve::engine {

/// Thread-safe.
class StretchRoom {
 public:
  explicit StretchRoom(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  StretchRoom(const StretchRoom&) = delete;
  StretchRoom& operator=(const StretchRoom&) = delete;

  /// Returns the bound beside a write buffer of that many bytes. It is added to them.
  static constexpr std::uint64_t bytes_beside(std::uint64_t write_buffer_bytes) noexcept {
    return std::max(write_buffer_bytes / kPart, kBytesMin);
  }

  /// Takes bytes for a store that has `own` bytes already. Returns false, with nothing changed, if the store would then
  /// have more than remains free. So one store gets half of the bound at most, and a store that comes later finds room.
  bool take(std::uint64_t bytes, std::uint64_t own) noexcept {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > bytes_max_ || own + bytes > bytes_max_ - used - bytes) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::uint64_t bytes) noexcept {
    const std::uint64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    assert(before >= bytes);
    static_cast<void>(before);
  }

  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const noexcept { return bytes_max_; }

 private:
  static constexpr std::uint64_t kPart = 32;
  /// Room for some hundred stretches, beside the smallest write buffer.
  static constexpr std::uint64_t kBytesMin = 64 << 10;

  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

}  // namespace varve::engine
