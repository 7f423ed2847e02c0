// Owns: noticing that a table was written since somebody asked.
// Must never: miss a write that the asker's next commit does not come after, or cost anything while nobody asks.
//
// W1  a write that was assigned its version before the watch began is below the asker's next commit, and so in every
//     view that this commit is in; one assigned after it is noticed. The turns of leaders follow each other through the
//     queue's mutex, and the asker's commit passes it too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "format/keys/sort_key.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Any thread.
class WriteWatches {
 public:
  explicit WriteWatches(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  WriteWatches(const WriteWatches&) = delete;
  WriteWatches& operator=(const WriteWatches&) = delete;

  /// One table, from its making to its end. Outlived by the watches.
  class Watch {
   public:
    Watch(WriteWatches& watches, format::TableId table) : watches_(watches), table_(table) {
      const io::MutexGuard guard(watches_.mutex_);
      watches_.watches_.push_back(this);
      watches_.count_.store(watches_.watches_.size(), std::memory_order_release);
    }
    ~Watch() {
      const io::MutexGuard guard(watches_.mutex_);
      std::erase(watches_.watches_, this);
      watches_.count_.store(watches_.watches_.size(), std::memory_order_release);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    format::TableId table() const noexcept { return table_; }
    bool was_written() const noexcept { return written_.load(std::memory_order_acquire); }

   private:
    friend class WriteWatches;
    WriteWatches& watches_;
    const format::TableId table_;
    std::atomic<bool> written_{false};
  };

  /// By the holder of the lead, for every batch that is given a version.
  void note(format::TableId table) noexcept {
    if (count_.load(std::memory_order_acquire) == 0) return;
    const io::MutexGuard guard(mutex_);
    for (Watch* const watch : watches_) {
      if (watch->table_ == table) watch->written_.store(true, std::memory_order_release);
    }
  }

 private:
  io::Mutex mutex_;
  std::vector<Watch*> watches_ VARVE_GUARDED_BY(mutex_);
  std::atomic<std::size_t> count_{0};
};

}  // namespace varve::engine
