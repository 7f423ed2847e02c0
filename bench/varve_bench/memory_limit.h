// Owns: limiting the memory of a contender, including its page cache, and emptying the page cache at the beginning.
// Must never: leave a control group, or limit other processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Limits this process to `bytes` for allocations and for the page cache of its reads. Returns false if the system does
/// not allow it. The parent process calls remove_memory_limit() after this process has ended.
bool limit_memory(std::uint64_t bytes);
void remove_memory_limit();
/// Returns whether the system has ended a child of this process because of its limit. Called before
/// remove_memory_limit().
bool has_limit_ended_child();

/// Closes the session, forgets its files and limits this process. Sets `limit` to `bytes`, or to zero if the system
/// does not allow a limit.
void begin_under_limit(Session& session, std::uint64_t bytes, std::uint64_t& limit);

/// Adds the memory limit to the figures of a row. Zero means that the page cache was emptied, but no limit was set.
WorkloadRow telling_memory(WorkloadRow row, const std::shared_ptr<std::uint64_t>& limit);

}  // namespace varve::bench
