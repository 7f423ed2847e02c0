// Owns: the lease's life: made before the first root is taken, renewed, removed at the end.
// Must never: count a renewal whose answer did not come as one.
#include "io/rados/rados_process.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "io/os_error.h"
#include "io/parents_object.h"
#include "io/rados/rados_names.h"

namespace varve::io {

RadosProcess::RadosProcess(ObjectDoor& door, Clock& clock, RandomSource& random, Scheduler& scheduler,
                           RadosOptions options)
    : door_(door),
      clock_(clock),
      random_(random),
      scheduler_(scheduler),
      options_(options),
      id_(draw_id()),
      stripes_in_flight_(scheduler, clock, kStripeBytesOfProcess),
      reads_in_flight_(scheduler, clock, kReadBytesOfProcess),
      mutex_(scheduler),
      changed_(scheduler),
      renewing_(scheduler) {}

RadosProcess::~RadosProcess() {
  if (!owner_.is_this_process()) {
    leave_to_parent(thread_);
    leave_to_parent(removal_);
    leave_to_parent(read_cache_);
    leave_to_parent(fresh_cache_);
    return;
  }
  bool had_lease = false;
  {
    const MutexGuard guard(mutex_);
    is_ending_ = true;
    had_lease = has_lease_;
    changed_.notify_all();
  }
  thread_.reset();
  if (!had_lease) return;
  try {
    ObjectChange removal;
    removal.object = lease_object(id_);
    removal.epoch = kLeaseRenewalEpoch;
    removal.removes = true;
    (void)door_.change(removal);
  } catch (const std::bad_alloc&) {
    // A lease that stays lapses.
  }
}

std::string RadosProcess::draw_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t number = random_.next();
    for (int digit = 0; digit < 16; ++digit, number >>= 4) id.push_back(kDigits[number & 15]);
  }
  return id;
}

bool RadosProcess::has_lease() {
  const MutexGuard guard(mutex_);
  return has_lease_;
}

Status RadosProcess::start_lease() {
  if (has_lease()) return Status();
  const MutexGuard renewing(renewing_);
  if (has_lease()) return Status();
  ObjectChange making;
  making.object = lease_object(id_);
  making.epoch = kLeaseRenewalEpoch;
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.attributes["renewal"] = "0";
  const std::int64_t sent = clock_.since_boot().count();
  // Without an owner, nothing in a full pool could be removed.
  const ObjectAnswer made = make_in_reserve(door_, making);
  // The name was drawn here, so an object that exists is the one that a repeated change made.
  if (made != 0 && made != EEXIST) return os_error(made, {"make the lease", making.object});
  renewed_at_.store(sent, std::memory_order_release);
  auto kept = std::make_unique<Thread>();  // Nothing may fail once the thread runs.
  Result<Thread> thread = scheduler_.start("varve-lease", [this] { run(); });
  if (!thread.ok()) return thread.status();
  *kept = *std::move(thread);
  thread_ = std::move(kept);
  const MutexGuard guard(mutex_);
  has_lease_ = true;
  return Status();
}

void RadosProcess::run() noexcept {
  for (;;) {
    {
      const MutexGuard guard(mutex_);
      if (!is_ending_) (void)changed_.wait_for(mutex_, options_.renewal_time);
      if (is_ending_) return;
    }
    try {
      renew();
      remove_ended();
    } catch (const std::bad_alloc&) {
      // The lease lapses, unless a later renewal has memory in time.
    }
  }
}

void RadosProcess::renew() {
  const MutexGuard guard(renewing_);
  if (is_fenced()) return;
  ObjectChange renewal;
  renewal.object = lease_object(id_);
  renewal.epoch = kLeaseRenewalEpoch;
  renewal.attributes["renewal"] = std::to_string(++renewals_);
  const std::int64_t sent = clock_.since_boot().count();
  const ObjectAnswer answer = door_.change(renewal);
  if (answer == 0) note_renewal(sent);
  if (answer == kStaleEpoch || answer == ENOENT || answer == ESHUTDOWN) {
    is_fenced_.store(true, std::memory_order_release);
  }
}

void RadosProcess::remove_lapsed(const std::string& object) {
  const MutexGuard guard(mutex_);
  ended_.push_back({object, clock_.since_boot()});
}

/// Removes the oldest of the ended leases, if its process can be fresh no more. No renewal of it is accepted. Does not wait,
/// so that no renewal of this process does.
void RadosProcess::remove_ended() {
  if (removal_ != nullptr && !removal_->is_answered()) return;
  removal_.reset();
  ObjectChange removal;
  removal.epoch = kLeaseEndEpoch;
  removal.removes = true;
  {
    const MutexGuard guard(mutex_);
    if (ended_.empty() || clock_.since_boot() - ended_.front().ended < options_.lapse_time()) return;
    removal.object = std::move(ended_.front().object);
    ended_.erase(ended_.begin());
  }
  removal_ = door_.send(removal);  // A failure costs a small object.
}

void RadosProcess::note_renewal(std::int64_t sent) noexcept {
  renewal_count_.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t former = renewed_at_.exchange(sent, std::memory_order_acq_rel);
  if (former == INT64_MIN) return;
  // A renewal whose own answer came late does not end the lapse.
  const std::chrono::nanoseconds now = clock_.since_boot();
  const bool was_late = now - std::chrono::nanoseconds(former) >= options_.lease_time;
  const bool is_late = now - std::chrono::nanoseconds(sent) >= options_.lease_time;
  if (was_late && !is_late) lease_lapses_.fetch_add(1, std::memory_order_relaxed);
}

bool RadosProcess::is_fresh() noexcept {
  const std::int64_t renewed = renewed_at_.load(std::memory_order_acquire);
  if (is_fenced() || renewed == INT64_MIN) return false;
  return clock_.since_boot() - std::chrono::nanoseconds(renewed) < options_.lease_time;
}

bool RadosProcess::begin_owning(const std::string& name, std::chrono::milliseconds wait_max) {
  constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24);
  const std::chrono::nanoseconds wait = std::min(wait_max, kWaitMax);
  const std::chrono::nanoseconds begin = clock_.monotonic();
  const MutexGuard guard(mutex_);
  // The end of another root wakes this thread, too.
  for (std::chrono::nanoseconds left = wait; owned_.contains(name); left = wait - (clock_.monotonic() - begin)) {
    const bool is_over = left.count() <= 0 || !changed_.wait_for(mutex_, left);
    if (is_over && owned_.contains(name)) return false;
  }
  owned_.emplace(name, 0);
  return true;
}

void RadosProcess::note_taken(const std::string& name, std::uint64_t epoch, bool is_takeover) noexcept {
  const MutexGuard guard(mutex_);
  if (const auto found = owned_.find(name); found != owned_.end()) found->second = epoch;
  ++ownerships_;
  if (is_takeover) ++takeovers_;
}

OwnershipFigures RadosProcess::figures() {
  OwnershipFigures figures;
  const std::int64_t renewed = renewed_at_.load(std::memory_order_acquire);
  if (renewed != INT64_MIN) figures.lease_age = clock_.since_boot() - std::chrono::nanoseconds(renewed);
  figures.is_fenced = is_fenced();
  figures.fences = fences_.load(std::memory_order_relaxed);
  figures.lease_lapses = lease_lapses_.load(std::memory_order_relaxed);
  const MutexGuard guard(mutex_);
  for (const auto& [name, epoch] : owned_) {
    if (epoch != 0) figures.owned.emplace(name, epoch);
  }
  figures.ownerships = ownerships_;
  figures.takeovers = takeovers_;
  return figures;
}

void RadosProcess::end_owning(const std::string& name) noexcept {
  const MutexGuard guard(mutex_);
  owned_.erase(name);
  changed_.notify_all();
}

void RadosProcess::rest(std::chrono::milliseconds time) noexcept {
  Mutex mutex(scheduler_);
  Condition never(scheduler_);
  const MutexGuard guard(mutex);
  (void)never.wait_for(mutex, time);
}

}  // namespace varve::io
