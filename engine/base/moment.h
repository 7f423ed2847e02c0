// Owns: the moment at which a reader sees the store: a version, and a time for the ends of entities.
// Must never: read a clock.
#pragma once

#include "format/bytes/commit_version.h"

namespace varve::engine {

/// An entity is visible if its commit is at or below the version, and its end, if it has one, is above the time.
struct Moment {
  // NOLINTNEXTLINE(google-explicit-constructor): where no entity has an end, a moment is a version.
  constexpr Moment(format::CommitVersion at_version, format::CommitVersion at_time = 0) noexcept
      : version{at_version}, time{at_time} {}
  /// Returns whether this moment is not before the other one in either respect.
  constexpr bool is_at_or_after(const Moment& other) const noexcept {
    return version >= other.version && time >= other.time;
  }

  format::CommitVersion version;
  /// Zero if no entity of the store could have an end when the reader began.
  format::CommitVersion time;
};

}  // namespace varve::engine
