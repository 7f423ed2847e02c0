// Owns: parsing the address of a request to the queue service.
// Must never: decode anything twice, or check whether the named queue exists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::serve {

enum class QueueResource : std::uint8_t {
  kService,   // the account itself
  kQueue,     // orders
  kMessages,  // orders/messages
  kMessage,   // orders/messages/0f1e2d3c-0000-4000-8000-00000000abcd
};

struct QueueTarget {
  QueueResource resource = QueueResource::kService;
  std::string queue{};
  /// The message's id as the address spells it. It may be no id at all.
  std::string message{};
};

/// Parses the resource part of a decoded path. Errors: those of check_queue_name(); kInvalidArgument (InvalidUri: the
/// path has other segments). Source: QN-02, QN-04, QN-06.
Result<QueueTarget> parse_queue_target(std::string_view decoded);

}  // namespace varve::serve
