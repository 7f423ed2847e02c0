// Owns: removing the names of files that left the store. Removals are deferred while files are copied or linked.
// Must never: remove a name during a hold that began before the file left the store.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Removes names. Any thread may use it.
class NameRemoval {
 public:
  /// Keeps every name that exists when it begins. Any thread may release it, and then performs the deferred removals.
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

  /// `directory` must outlive this object.
  NameRemoval(io::Scheduler& scheduler, io::Directory& directory) noexcept : directory_(directory), mutex_(scheduler) {}
  /// No hold may be left.
  ~NameRemoval();

  Hold hold() noexcept;
  bool is_held() noexcept;
  /// Removes the name now, or when no hold is left. If the name remains, the next open removes the stray file.
  void remove(std::string name) noexcept;

 private:
  void remove_now(const std::string& name) noexcept;
  void end_hold() noexcept;

  io::Directory& directory_;
  io::Mutex mutex_;
  std::size_t holds_ VARVE_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> put_off_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
