// Owns: what the stores of one process share: the door, the lease, and which roots the process owns.
// Must never: call the door for a store. Changes of a store go through rados_root.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/clock.h"
#include "io/posix/posix_process.h"
#include "io/rados/bytes_in_flight.h"
#include "io/rados/object_door.h"
#include "io/rados/read_cache.h"
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
  /// True: a read of a store also asks its root, after the read came, whether this process still owns it. So no answer is
  /// stale because a clock was paused, as that of a virtual machine may be.
  bool verified_reads = false;
  /// A lock waits so long for the end of an owner that lives: a standby. It then takes the store over within T and a tenth.
  /// With zero, it is refused as it is for a directory.
  std::chrono::milliseconds owner_wait{0};

  /// T and a tenth: the clocks of two machines may differ in rate by that much.
  std::chrono::nanoseconds lapse_time() const noexcept { return std::chrono::nanoseconds(lease_time) * 11 / 10; }
};

/// The epochs of a lease object: its process renews it, and a new owner of one of its stores ends or removes it.
inline constexpr std::uint64_t kLeaseRenewalEpoch = 1;
inline constexpr std::uint64_t kLeaseEndEpoch = 2;

/// What became of the lease and of the roots of one process.
struct OwnershipFigures {
  std::map<std::string, std::uint64_t> owned;  // the names of the roots that it owns, with their epochs
  std::uint64_t ownerships = 0;                // roots that were taken
  std::uint64_t takeovers = 0;                 // of these, from an owner that had not let go
  std::uint64_t fences = 0;                    // handles that noticed a later owner
  std::uint64_t lease_lapses = 0;              // times without a fresh lease that have ended
  bool is_fenced = false;
  std::optional<std::chrono::nanoseconds> lease_age;  // none before the first root is taken
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
  /// How long a read of a file waits for its answer; zero: without end. Reads that wait keep theirs.
  std::chrono::milliseconds read_patience() const noexcept {
    return std::chrono::milliseconds(read_patience_.load(std::memory_order_relaxed));
  }
  void set_read_patience(std::chrono::milliseconds patience) noexcept {
    read_patience_.store(patience.count(), std::memory_order_relaxed);
  }
  /// Returns the local cache of read objects, or null.
  ReadCache* read_cache() const noexcept { return read_cache_.get(); }
  /// Returns the local cache of new files, or null. It is apart, so that written bytes replace none that are read.
  ReadCache* fresh_cache() const noexcept { return fresh_cache_.get(); }
  /// Sets them, before the first file is opened.
  void set_read_cache(std::unique_ptr<ReadCache> cache, std::unique_ptr<ReadCache> fresh = nullptr) noexcept {
    read_cache_ = std::move(cache);
    fresh_cache_ = std::move(fresh);
  }
  /// The objects of unsynced files that are on their way, of all stores.
  BytesInFlight& stripes_in_flight() noexcept { return stripes_in_flight_; }
  /// The large reads that are on their way, of all stores. They have an account of their own, so that none waits for what
  /// compactions write.
  BytesInFlight& reads_in_flight() noexcept { return reads_in_flight_; }
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
  /// Lets the background remove the lease of another process, which this one ended now. It waits until that has lapsed.
  void remove_lapsed(const std::string& object);
  /// Returns the number of renewals that succeeded.
  std::uint64_t renewal_count() const noexcept { return renewal_count_.load(std::memory_order_relaxed); }

  /// Waits, while another handle of this process owns the root, up to `wait_max`. Returns false after that.
  bool begin_owning(const std::string& name, std::chrono::milliseconds wait_max);
  void end_owning(const std::string& name) noexcept;
  /// Notes that an owned root was taken.
  void note_taken(const std::string& name, std::uint64_t epoch, bool is_takeover) noexcept;
  /// Notes that a handle has noticed a later owner.
  void note_fence() noexcept { fences_.fetch_add(1, std::memory_order_relaxed); }
  OwnershipFigures figures();
  /// Waits for this time.
  void rest(std::chrono::milliseconds time) noexcept;

 private:
  struct EndedLease {
    std::string object;
    std::chrono::nanoseconds ended{0};
  };
  void run() noexcept;
  void remove_ended();
  bool has_lease();
  void note_renewal(std::int64_t sent) noexcept;

  ObjectDoor& door_;
  Clock& clock_;
  RandomSource& random_;
  Scheduler& scheduler_;
  const RadosOptions options_;
  const OwnerProcess owner_ = OwnerProcess::current();
  const std::string id_;
  std::atomic<bool> is_fenced_{false};
  std::atomic<std::uint64_t> fences_{0};
  std::atomic<std::uint64_t> lease_lapses_{0};
  std::atomic<std::uint64_t> renewal_count_{0};
  std::atomic<std::int64_t> read_patience_{0};  // in milliseconds
  BytesInFlight stripes_in_flight_;
  BytesInFlight reads_in_flight_;
  std::unique_ptr<ReadCache> read_cache_;
  std::unique_ptr<ReadCache> fresh_cache_;
  /// The time at which the last successful renewal was sent, in nanoseconds.
  std::atomic<std::int64_t> renewed_at_{INT64_MIN};

  Mutex mutex_;  // held briefly
  Condition changed_;
  std::map<std::string, std::uint64_t> owned_ VARVE_GUARDED_BY(mutex_);  // zero: it is being taken
  std::uint64_t ownerships_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t takeovers_ VARVE_GUARDED_BY(mutex_) = 0;
  bool has_lease_ VARVE_GUARDED_BY(mutex_) = false;
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::vector<EndedLease> ended_ VARVE_GUARDED_BY(mutex_);  // the oldest first
  Mutex renewing_;  // one renewal at a time, or the making of the lease; held while the cluster is asked, before mutex_
  std::uint64_t renewals_ VARVE_GUARDED_BY(renewing_) = 0;
  std::unique_ptr<SentChange> removal_;  // of an ended lease; used by thread_ alone
  std::unique_ptr<Thread> thread_;
};

}  // namespace varve::io
