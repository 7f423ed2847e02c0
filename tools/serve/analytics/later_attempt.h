// Owns: what metrics and logs share about failed writes and about retention.
// Must never: repeat a write that may have been carried out.
#pragma once

#include <cstdint>

#include "varve/status.h"

namespace varve::serve {

inline constexpr std::uint64_t kTicksOfDay = 864'000'000'000;
/// Old rows and logs are deleted twice an hour.
inline constexpr std::uint64_t kTicksBetweenDeletions = 18'000'000'000;

/// Returns whether a later attempt of the write can succeed. After an unknown end its rows may be there already.
inline bool has_later_attempt(Code code) noexcept {
  return code == Code::kBusy || code == Code::kNoSpace || code == Code::kConflict || code == Code::kOutOfMemory ||
         code == Code::kTooManyFiles || code == Code::kIoError;
}

}  // namespace varve::serve
