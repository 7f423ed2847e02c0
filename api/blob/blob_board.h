// Owns: the contents that this process is writing, and the wake-up of the one who collects others (blob_keeper.h). It
// outlives both: a writer may end while the store is being closed.
// Must never: let a content that may still get an owner be collected.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "api/blob/content_rows.h"
#include "engine/base/background_pool.h"
#include "io/scheduler.h"

namespace varve {

class ContentWriter;

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
    /// Leaves the content on the board, without the lock. For a forked process, whose parent may have held it.
    void abandon() noexcept { board_ = nullptr; }

   private:
    BlobBoard* board_;
    ContentId content_;
  };

  /// Lets writes of entities name a content that is filling and that was added whole. Does nothing for any other.
  void offer(ContentId content, const std::shared_ptr<const ContentWriter>& writer) {
    const io::MutexGuard guard(mutex_);
    if (const auto found = filling_.find(content); found != filling_.end()) found->second = writer;
  }
  /// Returns the writer that offers the content, or null. It stays filling as long as the pointer exists.
  std::shared_ptr<const ContentWriter> find_offered(ContentId content) const {
    const io::MutexGuard guard(mutex_);
    const auto found = filling_.find(content);
    return found == filling_.end() ? nullptr : found->second.lock();
  }

  /// Sets the seat of the keeper, or null. After that, the former seat is not used.
  void set_keeper(engine::BackgroundPool::Seat* keeper) noexcept {
    const io::MutexGuard guard(mutex_);
    keeper_ = keeper;
  }
  /// Says that there is new work.
  void wake_keeper() noexcept {
    const io::MutexGuard guard(mutex_);
    if (keeper_ != nullptr) keeper_->wake();
  }

  bool is_filling(ContentId content) const {
    const io::MutexGuard guard(mutex_);
    return filling_.count(content) != 0;
  }

 private:
  void enter(ContentId content) {
    const io::MutexGuard guard(mutex_);
    filling_.try_emplace(content);
  }
  void leave(ContentId content) noexcept {
    const io::MutexGuard guard(mutex_);
    filling_.erase(content);
  }

  mutable io::Mutex mutex_;
  std::unordered_map<ContentId, std::weak_ptr<const ContentWriter>> filling_ VARVE_GUARDED_BY(mutex_);
  engine::BackgroundPool::Seat* keeper_ VARVE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace varve
