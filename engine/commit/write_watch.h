// Owns: noticing that a table was written since a watch began.
// Must never: miss a write that is assigned its version after the watch began, or cost anything while there is no
// watch.
//
// W1  If a write was assigned its version before the watch began, its version is below that of the watcher's next
//     commit. So it is in every view that contains this commit. A write assigned later is noticed. Leaders' turns
//     follow each other through the queue's mutex, and the watcher's commit takes that mutex too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "format/keys/sort_key.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Thread-safe.
class WriteWatches {
 public:
  explicit WriteWatches(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  WriteWatches(const WriteWatches&) = delete;
  WriteWatches& operator=(const WriteWatches&) = delete;

  /// A watch of one table, from its creation to its destruction. The WriteWatches outlive it.
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

  /// Notes a write to the table. The holder of the lead calls it for every batch that gets a version.
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
