// Owns: what clients may do with the container of logs, which the server writes.
// Must never: let a client change a log.
#pragma once

#include "api/rest/blobs/blob_call.h"
#include "api/rest/service/operation.h"
#include "varve/status.h"

namespace varve::serve {

/// Checks that clients may do this in `$logs`: they read and list logs, and delete single ones. Errors: kForbidden
/// (AuthorizationFailure). Source: AL-02.
Status check_log_operation(Operation operation);
/// Returns whether a listing of containers asks for that of logs, by the word `system` of `include`. Source: BB-17.
bool includes_system(const QueryParameters& parameters);
/// Creates the container of logs if the account has none yet, because it exists always. Errors: those of
/// Store::create_container(). Source: AL-02.
Task<Status> provide_log_container(Store& store, std::string account, HomeThread* home, std::stop_token stop);

}  // namespace varve::serve
