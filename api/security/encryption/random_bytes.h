// SPDX-License-Identifier: Apache-2.0
// Owns: where content keys and initialisation vectors come from.
// Must never: be predictable, save where a test brings its own source.
#pragma once

#include <cstdint>
#include <span>

#include <varve/status.h>

namespace varve {

class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  /// Fills all of `out`. Called from any thread. Errors: what the source says; nothing is encrypted then.
  virtual Status fill(std::span<std::uint8_t> out) = 0;
};

/// The operating system's randomness by way of OpenSSL. Errors of fill(): kIoError.
RandomBytes& system_random_bytes() noexcept;

}  // namespace varve
