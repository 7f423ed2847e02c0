// Owns: dividing the memory between the parts of a server.
// Must never: allot more than the process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// Each of the three parts gets a quarter. The last quarter is for everything else: connections, compaction, the
/// program itself.
struct MemoryPlan {
  std::uint64_t block_cache = std::uint64_t{256} << 20;
  std::uint64_t write_buffer = std::uint64_t{256} << 20;
  /// Bytes of bodies and unread answers of all connections.
  std::uint64_t bodies = std::uint64_t{256} << 20;
  /// The number of connections that have room in the last quarter.
  std::uint64_t connections = 4096;
};

inline constexpr std::uint64_t kMemoryMin = std::uint64_t{48} << 20;

/// Parses a size such as `512MiB`, `2G` or `1000000`. The suffixes K, M, G and T mean powers of 1,024. `B` or `iB` may
/// follow them.
/// Errors: kInvalidArgument.
Result<std::uint64_t> parse_size(std::string_view text);

/// Divides memory. If `asked` is given, it divides those bytes. Otherwise it divides `limit`, and each part gets at
/// most its default in MemoryPlan. If neither is given, it returns the defaults. Errors: kInvalidArgument: less than
/// kMemoryMin. The message names the minimum.
Result<MemoryPlan> plan_memory(std::optional<std::uint64_t> asked, std::optional<std::uint64_t> limit);

/// Returns the smallest memory limit of this process: of its control groups of both versions, of the machine, and of
/// its own resource limits. `root` is a prefix for the paths of /proc and /sys.
std::optional<std::uint64_t> memory_limit(const std::string& root = "");

}  // namespace varve::serve
