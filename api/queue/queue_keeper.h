// Owns: the removal of expired messages and of forgotten deduplication keys, in the background.
// Must never: be needed for a right answer. Readers leave out expired messages.
//
// A sweep visits all queues of the store, in the order of their names, a few at a time. After a sweep, and between its
// parts, the keeper rests. It begins with the first use of a queue after the open.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/commit/backend.h"
#include "api/queue/live_queue.h"
#include "engine/base/background_pool.h"
#include "varve/result.h"

namespace varve {

class QueueKeeper final : private engine::BackgroundPool::Source {
 public:
  static constexpr std::uint32_t kQueuesAtOnce = 64;
  static constexpr std::uint32_t kMessagesAtOnce = 256;
  static constexpr std::chrono::nanoseconds kRestBetweenSweeps = std::chrono::seconds(60);
  static constexpr std::chrono::nanoseconds kRestInSweep = std::chrono::seconds(1);

  /// The backend and the board outlive it.
  QueueKeeper(std::shared_ptr<engine::PoolThreads> threads, Backend& backend, QueueBoard& board) noexcept
      : threads_(std::move(threads)),
        backend_(backend),
        board_(board),
        seat_(*threads_->pool(), *this, engine::BackgroundPool::Kind::kSpare) {}
  /// Waits for the end of what it is doing.
  ~QueueKeeper() override { seat_.leave(); }

  /// Begins the first sweep. Later calls do nothing.
  void begin() noexcept;

 private:
  engine::BackgroundPool::Pause work(bool is_due) noexcept override;
  struct Visit {
    std::string key;  // of the queue's row
    std::shared_ptr<LiveQueue> queue;
  };
  /// The next queues of a sweep, and the key after them; empty at the end.
  struct Part {
    std::vector<Visit> visits;
    std::string next_key;
  };
  /// Finds the next queues in a view that ends before they are cleaned.
  Result<Part> gather();
  /// Visits the next queues. Returns the rest until the next part.
  Result<std::chrono::nanoseconds> sweep();
  /// Returns whether the queue may have more that has expired.
  Result<bool> clean(const std::shared_ptr<LiveQueue>& queue);

  const std::shared_ptr<engine::PoolThreads> threads_;
  Backend& backend_;
  QueueBoard& board_;
  std::atomic<bool> has_begun_{false};
  std::string next_key_;  // of the queue's row; empty: a sweep begins
  engine::BackgroundPool::Seat seat_;
};

}  // namespace varve
