// Owns: the append blobs that readers follow, and the rows in which those readers wait (BX-25).
// Must never: cost the append to a blob without followers more than one look.
//
// A reader enters the blob, and then looks for bytes. An append is published, and then wakes the blob's row. So an append
// whose bytes the look misses finds the row.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "api/commit/waiting_row.h"
#include "format/keys/sort_key.h"
#include "io/scheduler.h"

namespace varve {

/// Any thread.
class BlobFollowers {
 public:
  /// The scheduler outlives it.
  explicit BlobFollowers(io::Scheduler& scheduler) : scheduler_(scheduler), mutex_(scheduler) {}
  BlobFollowers(const BlobFollowers&) = delete;
  BlobFollowers& operator=(const BlobFollowers&) = delete;

 private:
  struct Followed {
    explicit Followed(io::Scheduler& scheduler) : row(scheduler, WaitingRow::Wakes::kAll) {}
    WaitingRow row;
    std::size_t readers = 0;
  };
  using Blobs = std::map<std::string, Followed, std::less<>>;  // by the key of the blob's row

 public:
  /// A reader follows the blob as long as this object exists.
  class Following {
   public:
    /// `key` is that of the blob's row. The board outlives the object.
    Following(BlobFollowers& board, std::string_view key) : board_(board), blob_(board.enter(key)) {}
    ~Following() { board_.leave(blob_); }
    Following(const Following&) = delete;
    Following& operator=(const Following&) = delete;

    std::string_view key() const noexcept { return blob_->first; }
    WaitingRow& row() noexcept { return blob_->second.row; }

   private:
    BlobFollowers& board_;
    const Blobs::iterator blob_;
  };

  /// Wakes all who follow the blob. Called after a commit of its row is published.
  void wake(std::string_view key) noexcept;
  /// Wakes all who follow a blob of the container, or of any container of the account, because it is gone.
  void wake_all_in(format::TableId container) noexcept;
  void wake_all_of(std::uint32_t account) noexcept;
  /// Ends all waits, and prevents new ones: the store is closed.
  void end_waits() noexcept;

 private:
  Blobs::iterator enter(std::string_view key);
  void leave(Blobs::iterator blob) noexcept;

  io::Scheduler& scheduler_;
  io::Mutex mutex_;  // before the mutex of a row
  bool has_ended_ VARVE_GUARDED_BY(mutex_) = false;
  Blobs blobs_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
