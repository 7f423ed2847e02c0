// SPDX-License-Identifier: Apache-2.0
// Owns: the source of content keys and initialization vectors.
// Must never: be predictable, except for a test that brings its own source.
#pragma once

#include <cstdint>
#include <span>

#include <varve/status.h>

namespace varve {

/// A source of random bytes. It gives content keys and initialization vectors.
class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  /// Fills all of `out`. Any thread. Errors: those of the source; then nothing is encrypted.
  virtual Status fill(std::span<std::uint8_t> out) = 0;
};

/// Returns the operating system's random source, through OpenSSL. Errors of fill(): kIoError.
RandomBytes& system_random_bytes() noexcept;

}  // namespace varve
