// Owns: writes of one entity: from a request, or a part of a batch, to the store's operation, and from its outcome to
// an answer. Single writes and batches share it, so that they cannot differ.
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

/// Views.
struct OperationSource {
  std::string_view verb;
  const Target& target;
  const Headers& headers;
  std::string_view body;
  std::string_view version;
  /// The store's limit of custom properties.
  std::size_t properties_max = limits::kCustomPropertiesMax;
};

/// Source: section "Entity operations", O-01 to O-05, O-10 to O-14, X-07. Errors: kInvalidArgument (InvalidInput: a bad
/// condition; MissingRequiredHeader: a delete without If-Match; MethodNotAllowed: the verb writes no such resource;
/// those of read_entity() and check_json_type()).
Result<TransactionOperation> read_operation(const OperationSource& source);

/// What the answer to a write is made of.
struct WriteAnswer {
  WritingPlace place;
  Preference preference = Preference::kNone;
};

/// 201 or 204. `operation` is given back its ETag, for the entity that an insert answers with. Source: H-22, H-30,
/// O-10.
HttpResponse written_response(const WriteAnswer& answer, TransactionOperation& operation, ETag etag);

}  // namespace varve::serve
