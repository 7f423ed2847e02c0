// Owns: what the stores of one process share: the door, the lease, and which roots the process owns.
// Must never: call the door for a store. Changes of a store go through rados_root.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "io/clock.h"
#include "io/posix/posix_process.h"
#include "io/rados/object_door.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

/// Settings of a file system of objects. Times are those of the owner's lease.
struct RadosOptions {
  /// T: an owner may answer from memory for this long after it sent its last renewal that succeeded.
  std::chrono::milliseconds lease_time{2000};
  std::chrono::milliseconds renewal_time{500};
  /// False: a new owner takes a root from a dead or living owner at once. For programs that never read through the
  /// handles of a former owner.
  bool takeover_wait = true;
  /// A lock waits so long for the end of an owner that lives: a standby. It then takes the store over within T and a tenth.
  /// With zero, it is refused as it is for a directory.
  std::chrono::milliseconds owner_wait{0};
};

/// Any thread may use it.
class RadosProcess {
 public:
  /// The referenced objects must outlive this one.
  RadosProcess(ObjectDoor& door, Clock& clock, RandomSource& random, Scheduler& scheduler, RadosOptions options);
  ~RadosProcess();
  RadosProcess(const RadosProcess&) = delete;
  RadosProcess& operator=(const RadosProcess&) = delete;

  ObjectDoor& door() noexcept { return door_; }
  Clock& clock() noexcept { return clock_; }
  Scheduler& scheduler() noexcept { return scheduler_; }
  const RadosOptions& options() const noexcept { return options_; }
  /// Returns 32 hexadecimal digits that identify this process.
  const std::string& id() const noexcept { return id_; }
  OwnerProcess owner() const noexcept { return owner_; }
  /// Returns 32 random hexadecimal digits.
  std::string draw_id();

  /// Makes the lease, once, and renews it from then on in the background. Errors: kIoError, kOutOfMemory.
  Status start_lease();
  /// Renews the lease now. The background does it every RadosOptions::renewal_time.
  void renew();
  /// Returns whether a new owner of one of this process's roots has ended the lease. It never begins again.
  bool is_fenced() const noexcept { return is_fenced_.load(std::memory_order_acquire); }
  /// Returns whether this process may answer from memory.
  bool is_fresh() noexcept;

  /// Waits, while another handle of this process owns the root, up to `wait_max`. Returns false after that.
  bool begin_owning(const std::string& name, std::chrono::milliseconds wait_max);
  void end_owning(const std::string& name) noexcept;
  /// Waits for this time.
  void rest(std::chrono::milliseconds time) noexcept;

 private:
  void run() noexcept;

  ObjectDoor& door_;
  Clock& clock_;
  RandomSource& random_;
  Scheduler& scheduler_;
  const RadosOptions options_;
  const OwnerProcess owner_ = OwnerProcess::current();
  const std::string id_;
  std::atomic<bool> is_fenced_{false};
  /// The time at which the last successful renewal was sent, in nanoseconds.
  std::atomic<std::int64_t> renewed_at_{INT64_MIN};

  Mutex mutex_;
  Condition changed_;
  std::set<std::string> owned_ VARVE_GUARDED_BY(mutex_);
  bool has_lease_ VARVE_GUARDED_BY(mutex_) = false;
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  Mutex renewing_;  // one renewal at a time
  std::uint64_t renewals_ VARVE_GUARDED_BY(renewing_) = 0;
  std::unique_ptr<Thread> thread_;
};

}  // namespace varve::io
