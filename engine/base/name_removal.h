// Owns: taking away the names of files that left the store, put off while somebody copies or links them.
// Must never: take a name away while a hold that began before the file left lasts.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Any thread.
class NameRemoval {
 public:
  /// Keeps every name that stands when it begins. Let go on any thread, which then removes what was put off.
  class Hold {
   public:
    Hold() noexcept = default;
    Hold(Hold&& other) noexcept : removal_(std::exchange(other.removal_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { release(); }

   private:
    friend class NameRemoval;
    explicit Hold(NameRemoval& removal) noexcept : removal_(&removal) {}
    void release() noexcept;

    NameRemoval* removal_ = nullptr;
  };

  /// `directory` outlives it.
  NameRemoval(io::Scheduler& scheduler, io::Directory& directory) noexcept : directory_(directory), mutex_(scheduler) {}
  /// No hold is left.
  ~NameRemoval();

  Hold hold() noexcept;
  /// Removes the name now, or when no hold is left. A name that stays is a stray, which the next open removes.
  void remove(std::string name) noexcept;

 private:
  void end_hold() noexcept;

  io::Directory& directory_;
  io::Mutex mutex_;
  std::size_t holds_ VARVE_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> put_off_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
