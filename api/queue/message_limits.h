// Owns: the checks of what a caller asks of a queue.
// Must never: read a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "api/queue/message_rows.h"
#include "varve/queue.h"
#include "varve/status.h"

namespace varve {

// Errors: as the verbs of Queue.
Status check_message_text(std::string_view text, std::uint32_t bytes_max);
Status check_put_options(const PutOptions& options);
Status check_get_options(const GetOptions& options);
Status check_message_count(std::uint32_t count);
/// Checks a hold of `least` to 7 days.
Status check_hold(std::chrono::milliseconds hold, std::chrono::milliseconds least);

/// Returns the time after `by`, at most the end of the year 9999.
Ticks after(Ticks now, std::chrono::milliseconds by) noexcept;

}  // namespace varve
