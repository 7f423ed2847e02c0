// Owns: the requests of operators on tables that the table service lacks, or answers with less: one route, whose parameters
// name the verb and the table.
// Must never: go on with a change by filter after the answer. Each request changes one batch.
#pragma once

#include <stop_token>

#include "api/rest/protocol/message.h"
#include "varve/async.h"
#include "varve/home_thread.h"

namespace varve::serve {

/// Carries out `POST /_varve/tables?verb=VERB&account=ACCOUNT&table=TABLE&...`. The fields of the body are those of
/// table_fields.h. VERB is one of:
///
///   create    creates the table with the options of the body.
///   expiry    returns the rule by which entities of the table end, as options.
///   expire    sets the rule that the options of the body have, or none.
///   get       returns the entity with the keys `partition` and `row` of the body, or nothing. Fields `select` name its
///             properties. Unlike the table service, it returns large values as such.
///   write     carries out the write of the body. Returns the field `etag`, unless it was a delete. durability.
///   patch     carries out the patch of the body. Returns the entity. durability.
///   delete    deletes the first batch of the entities that the body chooses. The field `continuation` of the body is the
///             token of the batch before. Returns the progress of this batch. batch, dry_run=1, durability.
///   update    does the same, but changes the entities as the body says.
///
/// Errors: those of the verbs of varve/table.h and varve/store.h; kInvalidArgument (InvalidQueryParameterValue: a
/// parameter is malformed, or there is no such verb; InvalidInput: the fields are malformed).
Task<Result<HttpResponse>> answer_table_request(Store& store, const HttpRequest& request, HomeThread* home,
                                                std::stop_token stop);

}  // namespace varve::serve
