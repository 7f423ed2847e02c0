// Owns: the contents that this process is writing, and the wake-up of the one who collects others (blob_keeper.h). It
// outlives both: a writer may end while the store is being closed.
// Must never: let a content that may still get an owner be collected.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
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

  /// Takes a place among the parts that threads of the store write. Returns false if all are taken. They are few,
  /// because each part needs memory, and many streams keep the device busy without them.
  bool take_flight() noexcept {
    const io::MutexGuard guard(mutex_);
    if (flights_ == kFlightsMax) return false;
    ++flights_;
    return true;
  }
  void give_flight() noexcept {
    const io::MutexGuard guard(mutex_);
    --flights_;
  }

  /// Takes the memory of a part that was written, or an empty text. New memory costs more than a copy of the part.
  std::string take_memory() noexcept {
    const io::MutexGuard guard(mutex_);
    return spare_count_ == 0 ? std::string() : std::move(spare_[--spare_count_]);
  }
  /// Gives memory back. It is kept while contents are being written, if a part has room in it.
  void give_memory(std::string memory) noexcept {
    if (memory.capacity() < kPartBytes) return;
    const io::MutexGuard guard(mutex_);
    if (spare_count_ < kSpareMax && !filling_.empty()) spare_[spare_count_++] = std::move(memory);
  }

  bool is_filling(ContentId content) const {
    const io::MutexGuard guard(mutex_);
    return filling_.count(content) != 0;
  }

 private:
  static constexpr std::size_t kFlightsMax = 8;
  static constexpr std::size_t kSpareMax = 8;

  void enter(ContentId content) {
    const io::MutexGuard guard(mutex_);
    filling_.try_emplace(content);
  }
  void leave(ContentId content) noexcept {
    std::array<std::string, kSpareMax> unused;  // freed after the mutex
    const io::MutexGuard guard(mutex_);
    filling_.erase(content);
    if (!filling_.empty()) return;
    unused.swap(spare_);
    spare_count_ = 0;
  }

  mutable io::Mutex mutex_;
  std::unordered_map<ContentId, std::weak_ptr<const ContentWriter>> filling_ VARVE_GUARDED_BY(mutex_);
  std::size_t flights_ VARVE_GUARDED_BY(mutex_) = 0;
  std::array<std::string, kSpareMax> spare_ VARVE_GUARDED_BY(mutex_);
  std::size_t spare_count_ VARVE_GUARDED_BY(mutex_) = 0;
  engine::BackgroundPool::Seat* keeper_ VARVE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace varve
