// Owns: the kernel's figures about this process and its device.
// Must never: fail. If a figure is not available here, it is missing, and the report says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace varve::bench {

/// Counters since the process began. The difference of two values is a measurement.
struct Usage {
  double cpu_seconds = 0;
  /// Bytes that this process sent to the device, including the page cache.
  std::uint64_t written_bytes = 0;
  /// Bytes that were read from the device for this process.
  std::uint64_t read_bytes = 0;
  /// Reads of all processes that the device of `directory` completed.
  std::optional<std::uint64_t> device_reads{};
  /// Bytes of all processes and of the file system that this device completed writing.
  std::optional<std::uint64_t> device_written_bytes{};
};
Usage usage(const std::string& directory);

/// Returns the processor time of the calling thread in seconds.
double thread_cpu_seconds();
std::uint64_t resident_bytes();
/// Returns the anonymous memory of this process: memory that it allocated and wrote to.
std::uint64_t anonymous_bytes() noexcept;
double load_average();
/// Returns the disk space of the files under `directory`. If `suffix` is given, only files with this suffix count.
std::uint64_t occupied_bytes(const std::string& directory, const std::string& suffix = "");

}  // namespace varve::bench
