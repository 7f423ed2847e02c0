// Owns: the list of the routes' handlers. Each handler receives only what its permission allows.
// Must never: be called before the permission was checked. The dispatcher and the batch handler check it.
#pragma once

#include "api/rest/protocol/message.h"
#include "api/rest/service/call.h"
#include "varve/async.h"
#include "varve/result.h"
#include "varve/security/async_session.h"

namespace varve::serve {

/// The answer of a route, or its error. The Call must outlive the task.
using Answer = Task<Result<HttpResponse>>;

// Entities: the table handle is restricted to the caller's permissions. If the table could not be opened, `table` is
// the error, which is returned after errors of the request itself (O-07).
Answer query_entities(const Call& call, Result<AsyncTable> table);
Answer get_entity(const Call& call, Result<AsyncTable> table);
Answer write_one(const Call& call, Result<AsyncTable> table);

// The account: the caller's permission for the operation was checked.
Answer list_tables(const Call& call, Store& store);
Answer create_table(const Call& call, Store& store);
Answer get_table(const Call& call, Store& store);
Answer delete_table(const Call& call, Store& store);
Answer get_policies(const Call& call, Store& store);
Answer set_policies(const Call& call, Store& store);
Answer get_properties(const Call& call, Store& store);
Answer set_properties(const Call& call, Store& store);
Answer get_statistics(const Call& call, Store& store);
Answer list_indexes(const Call& call, Store& store);
Answer create_index(const Call& call, Store& store);
Answer drop_index(const Call& call, Store& store);

// A batch: the handler opens each table through the session.
Answer run_batch(const Call& call, const security::AsyncSession& session);

}  // namespace varve::serve
