// Owns: the figures of this process that Prometheus names `process_*`.
// Must never: fail because one figure cannot be read.
#pragma once

#include <cstdint>
#include <optional>

namespace varve::serve {

/// A figure that the system does not give is absent.
struct ProcessFigures {
  std::optional<double> cpu_seconds{};
  std::optional<double> start_time_seconds{};
  std::optional<std::uint64_t> resident_bytes{};
  std::optional<std::uint64_t> virtual_bytes{};
  std::optional<std::uint64_t> open_descriptors{};
  std::optional<std::uint64_t> descriptors_max{};
  std::optional<std::uint64_t> threads{};
};

/// Reads the figures from /proc, which is not on a disk.
ProcessFigures process_figures();

}  // namespace varve::serve
