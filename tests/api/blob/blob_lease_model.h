// Owns: leases and conditions by the words of the rules, for models of blobs.
// Must never: use the code that it is compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tests/api/store_bench.h"
#include "varve/blob.h"

namespace varve::test {

inline constexpr std::uint64_t kSecond = 10'000'000;  // ticks

/// A lease after the table of BE-02.
struct ModelLease {
  Guid id{};
  std::int64_t seconds = 0;  // 0: there is none; -1: without an end
  std::uint64_t ends = 0;
  bool is_broken = false;

  LeaseState state(std::uint64_t now) const {
    if (seconds == 0) return LeaseState::kAvailable;
    if (is_broken) return now < ends ? LeaseState::kBreaking : LeaseState::kBroken;
    return now < ends ? LeaseState::kLeased : LeaseState::kExpired;
  }
  bool is_held(std::uint64_t now) const {
    return state(now) == LeaseState::kLeased || state(now) == LeaseState::kBreaking;
  }
  void begin(std::int64_t time, std::uint64_t now) {
    seconds = time;
    is_broken = false;
    ends = time < 0 ? UINT64_MAX : now + static_cast<std::uint64_t>(time) * kSecond;
  }
  /// Nothing is wrong if the result is empty.
  std::string_view refuses_write(const std::optional<Guid>& given, std::uint64_t now) const {
    if (!given) return is_held(now) ? "LeaseIdMissing" : "";
    if (is_held(now)) return *given == id ? "" : "LeaseIdMismatchWithBlobOperation";
    return seconds != 0 && *given == id ? "LeaseLost" : "LeaseNotPresentWithBlobOperation";
  }
  /// A write without an id ends a lease that expired (BE-04).
  void written(const std::optional<Guid>& given, std::uint64_t now) {
    if (!given && state(now) == LeaseState::kExpired) *this = ModelLease();
  }
  /// Changes the lease, unless it returns an error.
  std::string_view change(const LeaseRequest& request, std::uint64_t now) {
    switch (request.action) {
      case LeaseRequest::Action::kAcquire: return acquire(request, now);
      case LeaseRequest::Action::kRenew: return renew(request, now);
      case LeaseRequest::Action::kChange: return exchange(request, now);
      case LeaseRequest::Action::kRelease: return release(request, now);
      case LeaseRequest::Action::kBreak: return end(request, now);
    }
    return "";
  }

 private:
  static constexpr std::string_view kMismatch = "LeaseIdMismatchWithLeaseOperation";
  static constexpr std::string_view kNotPresent = "LeaseNotPresentWithLeaseOperation";

  std::string_view acquire(const LeaseRequest& request, std::uint64_t now) {
    const bool is_own = request.proposed == id;
    if (state(now) == LeaseState::kBreaking && is_own) return "LeaseIsBreakingAndCannotBeAcquired";
    if (is_held(now) && !is_own) return "LeaseAlreadyPresent";
    id = *request.proposed;
    begin(request.duration.count(), now);
    return "";
  }
  std::string_view renew(const LeaseRequest& request, std::uint64_t now) {
    if (state(now) == LeaseState::kAvailable || request.id != id) return kMismatch;
    if (is_broken) return "LeaseIsBrokenAndCannotBeRenewed";
    begin(seconds, now);
    return "";
  }
  std::string_view exchange(const LeaseRequest& request, std::uint64_t now) {
    switch (state(now)) {
      case LeaseState::kBreaking: return request.id == id ? "LeaseIsBreakingAndCannotBeChanged" : kMismatch;
      case LeaseState::kLeased: break;
      default: return kNotPresent;
    }
    if (request.id != id && *request.proposed != id) return kMismatch;
    id = *request.proposed;
    return "";
  }
  std::string_view release(const LeaseRequest& request, std::uint64_t now) {
    if (state(now) == LeaseState::kAvailable || request.id != id) return kMismatch;
    *this = ModelLease();
    return "";
  }
  std::string_view end(const LeaseRequest& request, std::uint64_t now) {
    const LeaseState before = state(now);
    if (before == LeaseState::kAvailable) return kNotPresent;
    if (is_held(now)) {
      if (request.break_period) {
        ends = std::min(ends, now + static_cast<std::uint64_t>(request.break_period->count()) * kSecond);
      } else if (before == LeaseState::kLeased && seconds < 0) {
        ends = now;
      }
    }
    is_broken = true;
    return "";
  }
};

/// Judges conditions on a blob, or on none if `etag` is absent. Returns the error, or nothing.
inline std::string_view refuses_write(const BlobConditions& conditions, const std::optional<ETag>& etag, bool creates) {
  if (!etag) return conditions.if_match ? "ConditionNotMet" : "";
  const auto matches = [&](const ETag& wanted) { return wanted.is_any() || wanted == *etag; };
  if (conditions.if_none_match && matches(*conditions.if_none_match)) {
    return creates && conditions.if_none_match->is_any() ? "BlobAlreadyExists" : "ConditionNotMet";
  }
  if (conditions.if_match && !matches(*conditions.if_match)) return "ConditionNotMet";
  if (conditions.if_match || conditions.if_none_match) return "";
  const std::uint64_t changed = etag->timestamp().ticks / kSecond;
  if (conditions.if_modified_since && changed <= conditions.if_modified_since->ticks / kSecond) {
    return "ConditionNotMet";
  }
  if (conditions.if_unmodified_since && changed > conditions.if_unmodified_since->ticks / kSecond) {
    return "ConditionNotMet";
  }
  return "";
}

inline std::string_view refuses_read(const BlobConditions& conditions, const ETag& etag) {
  const std::uint64_t changed = etag.timestamp().ticks / kSecond;
  const auto matches = [&](const ETag& wanted) { return wanted.is_any() || wanted == etag; };
  if (conditions.if_none_match && conditions.if_none_match->is_any()) return "UnsatisfiableCondition";
  if (conditions.if_match && !matches(*conditions.if_match)) return "ConditionNotMet";
  if (conditions.if_unmodified_since && changed > conditions.if_unmodified_since->ticks / kSecond) {
    return "ConditionNotMet";
  }
  if (!conditions.if_none_match && !conditions.if_modified_since) return "";
  const bool is_other = conditions.if_none_match && !matches(*conditions.if_none_match);
  const bool is_newer = conditions.if_modified_since && changed > conditions.if_modified_since->ticks / kSecond;
  return is_other || is_newer ? "" : "NotModified";
}

}  // namespace varve::test
