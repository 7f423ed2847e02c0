// Owns: parsing the address and the query of a request to the queue service.
// Must never: decode anything twice, or check whether the named queue exists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The parameters of a query, percent-decoded once. A `+` stays one. Names ignore case (QN-05).
class QueueParameters {
 public:
  /// Errors: kInvalidArgument (InvalidQueryParameterValue: a parameter is given twice or is badly encoded).
  static Result<QueueParameters> parse(std::string_view query);

  /// Returns null if the parameter is missing. `name` is in lower case.
  const std::string* find(std::string_view name) const noexcept;

 private:
  std::vector<std::pair<std::string, std::string>> values_;  // names in lower case
};

}  // namespace varve::serve
