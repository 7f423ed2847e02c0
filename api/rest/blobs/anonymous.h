// Owns: what callers without a key and without a signature may read.
// Must never: show such a caller whether a container or a blob exists that it may not read.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "api/rest/blobs/blob_routes.h"
#include "api/rest/blobs/blob_target.h"
#include "api/rest/protocol/message.h"
#include "varve/blob.h"
#include "varve/home_thread.h"
#include "varve/store.h"
#include "varve/task.h"

namespace varve::serve {

/// Returns the public access that a container must have for a request, or nothing if no container gives it. Source:
/// BB-15.
std::optional<PublicAccess> needed_access(Operation operation, const QueryParameters& parameters);

/// What an account and a container say about callers without a key.
struct AnonymousRules {
  PublicAccess access = PublicAccess::kNone;
  /// The version of requests that name none, or empty. Source: BQ-01.
  std::string default_version{};
};
/// Reads the rules. A missing container gives no access. Errors: those of reads of the store.
Task<Result<AnonymousRules>> read_anonymous_rules(Store& store, std::string account, std::string container,
                                                  HomeThread* home, std::stop_token stop);

/// Returns whether the request names a protocol version.
bool names_version(const HttpRequest& request);

}  // namespace varve::serve
