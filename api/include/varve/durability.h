// SPDX-License-Identifier: Apache-2.0
// Owns: what an acknowledged write survives, and whether a store accepts writes. A leaf header: every layer may include
// it.
// Must never: include another header of Varve.
#pragma once

#include <cstdint>

namespace varve {

/// What an acknowledged write survives.
enum class Durability : std::uint8_t {
  /// The write is on stable storage before the call returns. It survives a crash of the process or the machine.
  kSync = 1,
  /// The write survives the death of the process. A power cut can lose the newest writes, those of about the last 10
  /// ms. If it loses a write, it loses all later writes too.
  kBuffered = 2,
};

/// Whether a store accepts writes.
enum class Health : std::uint8_t {
  /// The store accepts writes.
  kHealthy,
  /// The store refused a write because the log or the write buffer has no room, most often because the disk is full.
  /// The cause is the error that the write returned. The state ends by itself when there is room, without another
  /// write.
  kWritePaused,
  /// The log failed. The store writes nothing more until it is reopened. Reads continue.
  kPoisoned,
};

}  // namespace varve
