// Owns: the contents that this process is writing, and the wake-up of the one who collects others (blob_keeper.h).
// Must never: let a content that may still get an owner be collected.
#pragma once

#include <unordered_set>
#include <utility>

#include "api/blob/content_rows.h"
#include "io/scheduler.h"

namespace varve {

/// Any thread.
class BlobBoard {
 public:
  explicit BlobBoard(io::Scheduler& scheduler) : mutex_(scheduler) {}

  /// A content from its first row to the commit that gives it an owner, or to its end without one.
  class Filling {
   public:
    Filling(BlobBoard& board, ContentId content) : board_(&board), content_(content) { board.enter(content); }
    Filling(Filling&& other) noexcept : board_(std::exchange(other.board_, nullptr)), content_(other.content_) {}
    Filling& operator=(Filling&&) = delete;
    ~Filling() {
      if (board_ != nullptr) board_->leave(content_);
    }
    /// In a forked process: leaves the board to the parent.
    void forget() noexcept { board_ = nullptr; }

   private:
    BlobBoard* board_;
    ContentId content_;
  };

  bool is_filling(ContentId content) const {
    const io::MutexGuard guard(mutex_);
    return filling_.count(content) != 0;
  }

 private:
  void enter(ContentId content) {
    const io::MutexGuard guard(mutex_);
    filling_.insert(content);
  }
  void leave(ContentId content) noexcept {
    const io::MutexGuard guard(mutex_);
    filling_.erase(content);
  }

  mutable io::Mutex mutex_;
  std::unordered_set<ContentId> filling_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
