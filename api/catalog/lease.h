// Owns: the rules of leases (BE-01 to BE-05): states, changes, and what a write needs.
// Must never: read a clock. Callers give the present time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/model/stored_row.h"
#include "format/keys/entity.h"
#include "varve/blob.h"
#include "varve/status.h"

namespace varve {

/// A lease as a row has it: Lease (Guid), LeaseSeconds (Int32, -1 for no end), LeaseEnds (DateTime), LeaseBreaks
/// (Boolean, if true). All are absent without a lease.
struct Lease {
  Guid id;
  /// 0: there is none.
  std::int32_t seconds = 0;
  /// From when it is no longer held. The end of the year 9999 for an infinite one.
  Ticks ends = 0;
  bool breaks = false;

  LeaseState state(Ticks now) const noexcept;
  LeaseInfo info(Ticks now) const noexcept;
  bool is_held(Ticks now) const noexcept {
    const LeaseState present = state(now);
    return present == LeaseState::kLeased || present == LeaseState::kBreaking;
  }
};

/// What a lease guards, as errors name it.
enum class Leased : std::uint8_t { kBlob, kContainer };

/// Changes the lease. `random` becomes the id of a new lease if the request proposes none. Errors: kInvalidArgument
/// (InvalidHeaderValue: a time), kConflict (by the table of BE-02).
Result<LeaseAnswer> change_lease(Lease& lease, const LeaseRequest& request, Ticks now, const Guid& random);

/// Judges a write by the id that the caller gives. Ends a lease that has expired if the write may happen without it.
/// Errors: kPreconditionFailed (LeaseIdMissing, LeaseIdMismatchWith.., LeaseNotPresentWith.., LeaseLost). Source: BE-03,
/// BE-04.
Status admit_write(Lease& lease, const std::optional<Guid>& given, Ticks now, Leased what);
/// Judges a read by the id that the caller gives. Errors: as admit_write().
Status admit_read(const Lease& lease, const std::optional<Guid>& given, Ticks now, Leased what);

void add_lease(format::EntityBuilder& builder, const Lease& lease);
/// All names of a lease's properties begin with this.
inline constexpr std::string_view kLeasePrefix = "Lease";
/// Returns nothing if a property is missing or invalid.
std::optional<Lease> find_lease(const format::EncodedEntity& row);

}  // namespace varve
