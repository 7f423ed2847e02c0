// Owns: the server's lines for whoever runs it, on standard error.
// Must never: write a key, a signature, a query or a body, or wait for whoever reads the lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "varve/status.h"

namespace varve::serve {

/// A request that failed by no fault of the client; the id is the one that the client was told. Any thread.
void log_failure(std::string_view request_id, const Status& status);
void log_line(std::string_view line);
/// Lines that were lost, since they came faster than they were taken, or could not be written.
std::uint64_t lost_log_lines() noexcept;
/// At the end of the process: waits a moment until the lines are written. Lines after that are lost.
void finish_log() noexcept;

}  // namespace varve::serve
