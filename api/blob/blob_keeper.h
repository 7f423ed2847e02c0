// Owns: the work that is left to do for blobs, in the background (work_rows.h).
// Must never: be needed for a right answer, or touch what a user can see.
//
// G1  A filling content is removed if no writer of this process has it. Its work row is read again under its lock, so a
//     commit that gave the content an owner comes before, and keeps it.
// G2  Each commit is small. It removes what it names, or counts on, so that a crash between two commits loses nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "api/blob/blob_board.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "engine/base/background_pool.h"
#include "varve/result.h"

namespace varve {

class BlobKeeper final : private engine::BackgroundPool::Source {
 public:
  static constexpr std::chrono::nanoseconds kRest = std::chrono::seconds(30);

  /// The backend and the board outlive it.
  BlobKeeper(std::shared_ptr<engine::PoolThreads> threads, Backend& backend, const BlobBoard& board) noexcept
      : threads_(std::move(threads)),
        backend_(backend),
        board_(board),
        seat_(*threads_->pool(), *this, engine::BackgroundPool::Kind::kSpare) {}
  /// Waits for the end of what it is doing.
  ~BlobKeeper() override { seat_.leave(); }

  /// Begins the first walk. Later calls do nothing.
  void begin() noexcept;
  /// Begins the first walk if the store has work rows. It looks for the first one (BX-31).
  void begin_if_work_was_left() noexcept;
  /// Says that there is new work.
  void wake() noexcept { seat_.wake(); }

 private:
  engine::BackgroundPool::Pause work(bool is_due) noexcept override;
  /// Does a part of the first piece of work that can be done. Returns whether it found one. An error of one piece does
  /// not keep it from others. Errors: those of the first piece that failed, if nothing was done.
  Result<bool> walk();
  bool may_have_work() const noexcept;

  const std::shared_ptr<engine::PoolThreads> threads_;
  Backend& backend_;
  const BlobBoard& board_;
  std::atomic<bool> has_begun_{false};
  engine::BackgroundPool::Seat seat_;
};

}  // namespace varve
