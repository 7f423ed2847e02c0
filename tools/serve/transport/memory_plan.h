// Owns: how much memory each part of a server may take.
// Must never: allot more than the process may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

/// A quarter each; the last quarter is for everything else: connections, compaction, the program itself.
struct MemoryPlan {
  std::uint64_t block_cache = std::uint64_t{256} << 20;
  std::uint64_t write_buffer = std::uint64_t{256} << 20;
  /// Bodies and unread answers of all connections.
  std::uint64_t bodies = std::uint64_t{256} << 20;
  /// Connections that have room in the rest.
  std::uint64_t connections = 4096;
};

inline constexpr std::uint64_t kMemoryMin = std::uint64_t{48} << 20;

/// `512MiB`, `2G`, `1000000`: bytes, or with K, M, G or T their 1,024-folds; `B` or `iB` may follow.
/// Errors: kInvalidArgument.
Result<std::uint64_t> parse_size(std::string_view text);

/// Of `asked` bytes; without that, of `limit`, but of each part at most what MemoryPlan has by default; without either
/// as by default. Errors: kInvalidArgument: less than kMemoryMin; the message names it.
Result<MemoryPlan> plan_memory(std::optional<std::uint64_t> asked, std::optional<std::uint64_t> limit);

/// The least of the limits of the control groups that this process is in, of both versions, and of what the machine and
/// the process's own limits have. `root` stands before the paths of /proc and /sys.
std::optional<std::uint64_t> memory_limit(const std::string& root = "");

}  // namespace varve::serve
