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
  static constexpr std::size_t kRowsAtOnce = 256;
  static constexpr std::chrono::nanoseconds kRest = std::chrono::seconds(30);
  /// Time after which blocks that were staged and not used are discarded (BX-30).
  static constexpr Ticks kStagedTime = Ticks{7} * 24 * 3600 * 10'000'000;

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
  /// Says that there is new work.
  void wake() noexcept { seat_.wake(); }

 private:
  engine::BackgroundPool::Pause work(bool is_due) noexcept override;
  /// Does a part of the first piece of work that can be done. Returns whether it found one.
  Result<bool> walk();
  /// Returns whether anything was done. Errors: those of reading and commits.
  Result<bool> do_part(const Work& work, std::string_view value);
  Result<bool> remove_filling(const Work& work);
  Result<bool> remove_leaving(const Work& work, std::uint64_t done);
  Result<bool> release_entries(const Work& work, std::uint64_t done);
  Result<bool> remove_staged(const Work& work);
  Result<bool> remove_container(const Work& work);
  /// Removes up to kRowsAtOnce rows of a content, and after the last one the work row. The work row must still be there.
  Result<bool> remove_rows(const Work& work);
  Result<bool> finish(const Work& work);
  /// Discards staged blocks whose time is over. Returns whether it found any.
  Result<bool> expire_staged();
  Result<bool> expire_in(format::TableId container);

  const std::shared_ptr<engine::PoolThreads> threads_;
  Backend& backend_;
  const BlobBoard& board_;
  std::atomic<bool> has_begun_{false};
  engine::BackgroundPool::Seat seat_;
};

}  // namespace varve
