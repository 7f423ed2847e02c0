// Owns: the entries of the log of one service of one account that wait to be written.
// Must never: make a request wait for the store, or hold more bytes than its room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/analytics/operation_type.h"
#include "varve/types.h"

namespace varve::serve {

/// The memory for the waiting entries of all accounts. Any thread may use it.
class LogRoom {
 public:
  explicit LogRoom(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  /// Returns whether the bytes fit. If so, they are taken.
  bool take(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_{0};
};

/// The entries of one hour, in the order of their arrival.
struct LogBatch {
  /// The beginning of the hour.
  DateTime hour{};
  /// Whole lines.
  std::string lines{};
  std::uint64_t entries = 0;
  /// The start of the earliest and of the latest request.
  DateTime first{};
  DateTime last{};
  /// A bit for each RequestClass of the entries.
  std::uint8_t classes = 0;
};

/// The bit of a class in LogBatch::classes.
constexpr std::uint8_t class_bit(RequestClass of) noexcept {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(of));
}

/// Any thread may use it.
class LogQueue {
 public:
  /// The most bytes that wait for one service of one account.
  static constexpr std::size_t kBytesMax = std::size_t{4} << 20;
  /// The most bytes of a batch with several entries.
  static constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;

  enum class Pushed : std::uint8_t {
    kKept,
    /// The entry is kept, and the queue has become half full: the writer should run.
    kHalfFull,
    /// There is no room.
    kDropped,
  };

  /// `room` must outlive this object.
  explicit LogQueue(LogRoom& room) noexcept : room_(room) {}
  ~LogQueue();
  LogQueue(const LogQueue&) = delete;
  LogQueue& operator=(const LogQueue&) = delete;

  /// Adds an entry, a line with its end.
  Pushed push(std::string_view line, DateTime start, RequestClass of) noexcept;
  /// Returns the number of batches.
  std::size_t size();
  /// Removes the oldest batch, and returns it. Its bytes count until done(). There must be a batch, and no other thread
  /// may take one.
  LogBatch take();
  /// Releases the bytes of a batch that was written or given up.
  void done(const LogBatch& batch) noexcept;

 private:
  LogBatch& batch_for(DateTime hour, std::size_t bytes);

  LogRoom& room_;
  std::mutex mutex_;  // guards the members below
  std::vector<LogBatch> batches_;
  std::size_t bytes_ = 0;
};

}  // namespace varve::serve
