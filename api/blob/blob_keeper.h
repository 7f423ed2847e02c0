// Owns: the work that is left to do for blobs, in the background (work_rows.h).
// Must never: be needed for a right answer, or touch what a user can see.
//
// G1  A filling content is removed if no writer of this process has it. Its work row is read again under its lock, so a
//     commit that gave the content an owner comes before, and keeps it. No work row removes a content that has an owner.
// G2  Rows of work take turns, so that a large container or table does not keep the rest. An error of one row keeps no
//     other. The first error of a round is logged, once for as long as it stays.
// G3  Each commit is small. It removes what it names, or counts on, so that a crash between two commits loses nothing.
// G4  While writers are paced, a walk is made once a second, so that their debt can be paid, and space is still freed.
// G5  On a full disk the work waits. Only the end of a dropped container or table uses space that is kept for drops.
// G6  Each time of work begins with the readers that were not used for long, which lose their snapshots (BX-11).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/blob/blob_board.h"
#include "api/blob/left_work.h"
#include "api/blob/reader_pins.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "engine/base/background_pool.h"
#include "engine/engine.h"
#include "varve/result.h"

namespace varve {

class BlobKeeper final : private engine::BackgroundPool::Source {
 public:
  static constexpr std::chrono::nanoseconds kRest = std::chrono::seconds(30);
  static constexpr std::chrono::nanoseconds kRestWhilePaced = std::chrono::seconds(1);

  /// The backend, the board, the pins and the sink outlive it. `staged_time` is StoreOptions::staged_blocks_age_max.
  BlobKeeper(std::shared_ptr<engine::PoolThreads> threads, Backend& backend, BlobBoard& board, ReaderPins& pins,
             engine::EventSink& events, Ticks staged_time = kStagedTime) noexcept
      : threads_(std::move(threads)),
        backend_(backend),
        board_(board),
        pins_(pins),
        events_(events),
        staged_time_(staged_time),
        left_(backend, board, staged_time),
        seat_(*threads_->pool(), *this, engine::BackgroundPool::Kind::kSpare) {
    board.set_keeper(&seat_);
  }
  /// Waits for the end of what it is doing.
  ~BlobKeeper() override {
    board_.set_keeper(nullptr);
    seat_.leave();
  }

  /// Begins the first walk. Later calls do nothing.
  void begin() noexcept;
  /// Begins the first walk if the store has work rows. It looks for the first one (BX-31).
  void begin_if_work_was_left() noexcept;

 private:
  using Pause = engine::BackgroundPool::Pause;
  Pause work(bool is_due) noexcept override;
  /// A row of work that can be done now.
  struct Due {
    std::string key;
    Work work;
    std::string value;
    bool is_live = true;  // its account exists
  };

  Pause rest_while_paced() noexcept;
  /// Does a part of each of the next rows. Returns whether the next walk may find something to do.
  bool walk();
  /// Returns the next rows. After the last rows of a round, next_ is empty.
  std::vector<Due> gather();
  /// Adds a row. Errors: kCorruption, those of reading.
  Status add_due(const engine::ReadView& view, Due row, std::vector<Due>& due);
  /// Returns whether an account with this number exists. Errors: kCorruption, those of reading.
  Result<bool> is_live(const engine::ReadView& view, std::uint32_t account);
  void read_accounts_again() noexcept;
  void note(const Status& failure);
  void end_round();
  bool may_have_work() const noexcept;

  const std::shared_ptr<engine::PoolThreads> threads_;
  Backend& backend_;
  BlobBoard& board_;
  ReaderPins& pins_;
  engine::EventSink& events_;
  const Ticks staged_time_;
  std::atomic<bool> has_begun_{false};

  // Used by one thread at a time. A round visits each row once.
  LeftWork left_;
  std::string next_;
  bool has_done_ = false;  // in this round
  bool rests_while_paced_ = false;
  Status failure_;  // the first one of this round
  std::string logged_;
  /// The numbers of accounts, as they were once in this time of work. An account may have been dropped since.
  std::unordered_set<std::uint32_t> accounts_;
  std::unordered_set<std::uint32_t> gone_;  // numbers of dropped accounts
  Status accounts_failure_;                 // of an account's row, which hides a number
  engine::BackgroundPool::Seat seat_;
};

}  // namespace varve
