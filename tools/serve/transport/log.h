// Owns: the server's log lines for its operator, on standard error.
// Must never: write a key, a signature, a query or a body, or wait for the reader of the lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/serve/watch/log_text.h"
#include "varve/status.h"

namespace varve::serve {

/// Logs a request that failed without a fault of the client. The client received the same id. Any thread may call it.
void log_failure(std::string_view request_id, const Status& status);
void log_line(std::string_view line);
/// Logs a problem that an operator must mend.
void log_problem(std::string_view line);
/// Sets the form of later lines.
void set_log_format(LogFormat format) noexcept;
LogFormat log_format() noexcept;
/// Returns the number of lost lines. Lines are lost if they arrive faster than they are written, or cannot be written.
std::uint64_t lost_log_lines() noexcept;
/// Waits a moment at the end of the process until the lines are written. Later lines are lost.
void finish_log() noexcept;

}  // namespace varve::serve
