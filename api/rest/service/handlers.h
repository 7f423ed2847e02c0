// Owns: the list of what routes do. Each handler is given what its permission opens, and nothing else.
// Must never: be called by anybody who has not asked for the permission; the dispatcher and batches do.
#pragma once

#include "api/rest/protocol/message.h"
#include "api/rest/service/call.h"
#include "varve/async.h"
#include "varve/result.h"
#include "varve/security/async_session.h"

namespace varve::serve {

/// What a route answers, or why not. The Call outlives the task.
using Answer = Task<Result<HttpResponse>>;

// -- Entities: the table is fenced by what the caller may do; or it is the reason that it is not there, which is told
// after the faults of the request (O-07).
Answer query_entities(const Call& call, Result<AsyncTable> table);
Answer get_entity(const Call& call, Result<AsyncTable> table);
Answer write_one(const Call& call, Result<AsyncTable> table);

// -- The account: whoever calls has been asked for the operation.
Answer list_tables(const Call& call, Store& store);
Answer create_table(const Call& call, Store& store);
Answer get_table(const Call& call, Store& store);
Answer delete_table(const Call& call, Store& store);
Answer get_policies(const Call& call, Store& store);
Answer set_policies(const Call& call, Store& store);
Answer get_properties(const Call& call, Store& store);
Answer set_properties(const Call& call, Store& store);
Answer get_statistics(const Call& call, Store& store);

// -- A batch opens each table by the session itself.
Answer run_batch(const Call& call, const security::AsyncSession& session);

}  // namespace varve::serve
