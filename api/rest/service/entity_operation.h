// Owns: writes of one entity: converting a request or a part of a batch into the store's operation, and the outcome
// into an answer. Single writes and batches share this code, so that they cannot differ.
// Must never: touch a store.
#pragma once

#include <cstddef>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/call.h"
#include "varve/limits.h"
#include "varve/result.h"
#include "varve/transaction.h"

namespace varve::serve {

/// The parts of a request that describe a write. Holds views.
struct OperationSource {
  std::string_view verb;
  const Target& target;
  const Headers& headers;
  std::string_view body;
  std::string_view version;
  /// The store's limit of custom properties.
  std::size_t properties_max = limits::kCustomPropertiesMax;
};

/// Returns the operation of a request. Errors: kInvalidArgument (InvalidInput: a bad condition; MissingRequiredHeader:
/// a delete without If-Match; MethodNotAllowed: the verb cannot write this resource), and those of read_entity() and
/// check_json_type(). Source: section "Entity operations", O-01 to O-05, O-10 to O-14, X-07.
Result<WriteOperation> read_operation(const OperationSource& source);

/// The values that determine the answer to a write.
struct WriteAnswer {
  WritingPlace place;
  Preference preference = Preference::kNone;
};

/// Returns 201 or 204. Stores the new ETag in `operation`, because the answer to an insert contains the entity. Source:
/// H-22, H-30, O-10.
HttpResponse written_response(const WriteAnswer& answer, WriteOperation& operation, ETag etag);

}  // namespace varve::serve
