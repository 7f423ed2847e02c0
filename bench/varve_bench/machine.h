// Owns: what the kernel says of this process and its device.
// Must never: fail: a figure that cannot be had here is missing, and the report says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace varve::bench {

/// Counters since the process began; two of them make a difference.
struct Usage {
  double cpu_seconds = 0;
  /// Bytes that this process sent towards the device, page cache included.
  std::uint64_t written_bytes = 0;
  /// Bytes that this process had brought from the device.
  std::uint64_t read_bytes = 0;
  /// Reads that the device of `directory` completed, for anybody.
  std::optional<std::uint64_t> device_reads{};
};
Usage usage(const std::string& directory);

/// Processor time of the calling thread.
double thread_cpu_seconds();
std::uint64_t resident_bytes();
/// Of the memory of this process that is no file's: what it allocated and wrote to.
std::uint64_t anonymous_bytes() noexcept;
double load_average();
/// What the files under `directory` occupy; `suffix` counts only files whose name ends in it.
std::uint64_t occupied_bytes(const std::string& directory, const std::string& suffix = "");

}  // namespace varve::bench
