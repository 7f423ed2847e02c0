// SPDX-License-Identifier: Apache-2.0
// Owns: a point in time, as properties, Timestamps and commit versions have it. A leaf header: every layer may include
// it.
// Must never: include a header that is no leaf header.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "result.h"
#include "version.h"

namespace varve {

/// A point in time in UTC, with a resolution of 100 ns. It uses the proleptic Gregorian calendar without leap seconds.
struct VARVE_EXPORT DateTime {
  /// Ticks of 100 ns since 0001-01-01T00:00:00Z. A property or Timestamp is between limits::kDateTimeTicksMin and
  /// kDateTimeTicksMax.
  std::uint64_t ticks = 0;

  /// Parses `YYYY-MM-DDThh:mm:ss`, an optional fraction, and an optional zone: `Z`, `+hh:mm` or `-hh:mm`, at most 14
  /// hours from UTC. For example, "2026-03-03T10:20:30.5+01:00". Without a zone the time is UTC. Digits of the fraction
  /// after the seventh are cut off. The seconds with their fraction, or the whole time with its zone, may be missing;
  /// they are then zero.
  /// Errors:
  ///   kInvalidArgument (InvalidInput)          the text has another form, or no such day or time exists
  ///   kInvalidArgument (OutOfRangeInput)       before the year 1601 or after 9999
  /// Source: D-34, X-02, X-16.
  static Result<DateTime> parse(std::string_view text);
  /// Returns the present time of the system's clock, in ticks of 100 ns; finer parts are cut off. The clock may be set
  /// back, so two calls may return the same time, or a smaller one later. Timestamps of a store never do.
  static DateTime now() noexcept;
  /// Returns `YYYY-MM-DDThh:mm:ss[.f]Z`. A fraction of zero is left out, and a fraction never ends in zeros. Source:
  /// D-35.
  std::string to_string() const;

  /// Compares in the order of time.
  auto operator<=>(const DateTime&) const = default;
};

}  // namespace varve
