// Owns: the table of BE-02 (lease.h).
// Must never: give one lease to two holders.
#include "api/catalog/lease.h"

#include <algorithm>
#include <string>

#include "api/model/service_error.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kLeaseIdName = "Lease";
constexpr std::string_view kLeaseSeconds = "LeaseSeconds";
constexpr std::string_view kLeaseEnds = "LeaseEnds";
constexpr std::string_view kLeaseBreaks = "LeaseBreaks";
constexpr std::int32_t kNoEnd = -1;
constexpr Ticks kLeaseTicksPerSecond = 10'000'000;

Status lease_conflict(ErrorName error, std::string_view message) {
  return Status(Code::kConflict, message).with_service_error(error);
}
Status id_mismatch() {
  return lease_conflict("LeaseIdMismatchWithLeaseOperation", "the lease has another id, or there is none");
}
Status not_present() {
  return lease_conflict("LeaseNotPresentWithLeaseOperation", "there is no lease");
}

Status check_seconds(std::chrono::seconds time, std::int64_t least) {
  if (time.count() >= least && time.count() <= 60) return Status();
  return Status::invalid_argument("the time of a lease is " + std::to_string(time.count()) + " s; " +
                                  std::to_string(least) + " to 60 s are allowed")
      .with_service_error("InvalidHeaderValue");
}

void begin(Lease& lease, std::int32_t seconds, Ticks now) {
  lease.seconds = seconds;
  lease.breaks = false;
  lease.ends = seconds == kNoEnd ? limits::kDateTimeTicksMax : now + static_cast<Ticks>(seconds) * kLeaseTicksPerSecond;
}

Result<LeaseAnswer> acquire(Lease& lease, const LeaseRequest& request, Ticks now, const Guid& random) {
  if (request.duration != kInfiniteLease) {
    if (Status checked = check_seconds(request.duration, 15); !checked.ok()) return checked;
  }
  const bool is_own = request.proposed && *request.proposed == lease.id;
  const LeaseState state = lease.state(now);
  if (state == LeaseState::kBreaking && is_own) {
    return lease_conflict("LeaseIsBreakingAndCannotBeAcquired", "the lease is being broken");
  }
  if (lease.is_held(now) && !is_own) {
    return lease_conflict("LeaseAlreadyPresent", "another holder has a lease");
  }
  lease.id = request.proposed.value_or(random);
  begin(lease, static_cast<std::int32_t>(request.duration.count()), now);
  return LeaseAnswer{lease.id};
}

Result<LeaseAnswer> renew(Lease& lease, const LeaseRequest& request, Ticks now) {
  const LeaseState state = lease.state(now);
  if (state == LeaseState::kAvailable || request.id != lease.id) return id_mismatch();
  if (lease.breaks) return lease_conflict("LeaseIsBrokenAndCannotBeRenewed", "the lease was broken");
  begin(lease, lease.seconds, now);
  return LeaseAnswer{lease.id};
}

Result<LeaseAnswer> change(Lease& lease, const LeaseRequest& request, Ticks now) {
  if (!request.proposed) {
    return Status::invalid_argument("a change of a lease needs the new id").with_service_error("MissingRequiredHeader");
  }
  const LeaseState state = lease.state(now);
  if (state == LeaseState::kBreaking) {
    if (request.id != lease.id) return id_mismatch();
    return lease_conflict("LeaseIsBreakingAndCannotBeChanged", "the lease is being broken");
  }
  if (state != LeaseState::kLeased) return not_present();
  const bool is_repeated = *request.proposed == lease.id;
  if (request.id != lease.id && !is_repeated) return id_mismatch();
  lease.id = *request.proposed;
  return LeaseAnswer{lease.id};
}

Result<LeaseAnswer> release(Lease& lease, const LeaseRequest& request, Ticks now) {
  if (lease.state(now) == LeaseState::kAvailable || request.id != lease.id) return id_mismatch();
  lease = Lease();
  return LeaseAnswer{};
}

/// Returns the whole seconds until the time, rounded up.
std::chrono::seconds seconds_until(Ticks time, Ticks now) {
  if (time <= now) return std::chrono::seconds(0);
  return std::chrono::seconds((time - now + kLeaseTicksPerSecond - 1) / kLeaseTicksPerSecond);
}

Result<LeaseAnswer> break_lease(Lease& lease, const LeaseRequest& request, Ticks now) {
  if (request.break_period) {
    if (Status checked = check_seconds(*request.break_period, 0); !checked.ok()) return checked;
  }
  if (lease.state(now) == LeaseState::kAvailable) return not_present();
  if (lease.is_held(now)) {
    // An infinite lease without a period is broken at once; a breaking one has no infinite rest.
    const bool at_once = lease.seconds == kNoEnd && !lease.breaks;
    if (request.break_period) {
      const Ticks asked = now + static_cast<Ticks>(request.break_period->count()) * kLeaseTicksPerSecond;
      lease.ends = std::min(lease.ends, asked);
    } else if (at_once) {
      lease.ends = now;
    }
  }
  lease.breaks = true;
  return LeaseAnswer{lease.id, seconds_until(lease.ends, now)};
}

constexpr ErrorName not_present_error(Leased what) noexcept {
  if (what == Leased::kBlob) return "LeaseNotPresentWithBlobOperation";
  return "LeaseNotPresentWithContainerOperation";
}
constexpr ErrorName mismatch_error(Leased what) noexcept {
  if (what == Leased::kBlob) return "LeaseIdMismatchWithBlobOperation";
  return "LeaseIdMismatchWithContainerOperation";
}

Status refused(ErrorName error, std::string_view message) {
  return Status(Code::kPreconditionFailed, message).with_service_error(error);
}

}  // namespace

LeaseState Lease::state(Ticks now) const noexcept {
  if (seconds == 0) return LeaseState::kAvailable;
  if (breaks) return now < ends ? LeaseState::kBreaking : LeaseState::kBroken;
  return now < ends ? LeaseState::kLeased : LeaseState::kExpired;
}

LeaseInfo Lease::info(Ticks now) const noexcept {
  const LeaseState present = state(now);
  return {present, present == LeaseState::kLeased && seconds == kNoEnd};
}

Result<LeaseAnswer> change_lease(Lease& lease, const LeaseRequest& request, Ticks now, const Guid& random) {
  switch (request.action) {
    case LeaseRequest::Action::kAcquire: return acquire(lease, request, now, random);
    case LeaseRequest::Action::kRenew: return renew(lease, request, now);
    case LeaseRequest::Action::kChange: return change(lease, request, now);
    case LeaseRequest::Action::kRelease: return release(lease, request, now);
    case LeaseRequest::Action::kBreak: return break_lease(lease, request, now);
  }
  return Status::invalid_argument("this is no change of a lease").with_service_error("InvalidHeaderValue");
}

Status admit_read(const Lease& lease, const std::optional<Guid>& given, Ticks now, Leased what) {
  if (!given) return Status();
  if (!lease.is_held(now)) {
    if (lease.seconds != 0 && *given == lease.id) return refused("LeaseLost", "the lease has ended");
    return refused(not_present_error(what), "there is no lease, but the caller gives the id of one");
  }
  if (*given == lease.id) return Status();
  return refused(mismatch_error(what), "the lease has another id");
}

Status admit_write(Lease& lease, const std::optional<Guid>& given, Ticks now, Leased what) {
  if (given) return admit_read(lease, given, now, what);
  if (lease.is_held(now)) return refused("LeaseIdMissing", "there is a lease; only its holder may write");
  if (lease.state(now) == LeaseState::kExpired) lease = Lease();
  return Status();
}

void add_lease(format::EntityBuilder& builder, const Lease& lease) {
  if (lease.seconds == 0) return;
  builder.add_guid(kLeaseIdName, lease.id.bytes);
  builder.add_int32(kLeaseSeconds, lease.seconds);
  builder.add_date_time(kLeaseEnds, lease.ends);
  if (lease.breaks) builder.add_boolean(kLeaseBreaks, true);
}

std::optional<Lease> find_lease(const format::EncodedEntity& row) {
  Lease lease;
  RowReader reader(row);
  if (!reader.has(kLeaseIdName)) return lease;
  lease.id = reader.guid(kLeaseIdName);
  lease.ends = reader.time(kLeaseEnds);
  if (reader.has(kLeaseBreaks)) lease.breaks = reader.boolean(kLeaseBreaks);
  const std::optional<format::PropertyView> seconds = row.find(kLeaseSeconds);
  if (!seconds || seconds->type != format::PropertyType::kInt32 || seconds->as_int32() == 0) return std::nullopt;
  lease.seconds = seconds->as_int32();
  if (!reader.status("lease").ok()) return std::nullopt;
  return lease;
}

}  // namespace varve
